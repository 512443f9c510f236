package topology

import (
	"fmt"
	"maps"
	"net/netip"
	"strings"
	"testing"

	"github.com/levee-project/levee/internal/tree"
)

func TestParseObserver(t *testing.T) {
	for _, c := range []struct{ value, gossip, service string }{
		{`{"gossip": "10.0.0.1:7373", "service": "10.0.0.1:5454"}`, "10.0.0.1:7373", "10.0.0.1:5454"},
		{` {"service":"[fd00::1]:1","gossip":"[::1]:65535"} `, "[::1]:65535", "[fd00::1]:1"},
		{`{"gossip": "10.0.0.1:7373", "service": "10.0.0.1:7373"}`, "10.0.0.1:7373", "10.0.0.1:7373"},
	} {
		want := Addresses{Gossip: netip.MustParseAddrPort(c.gossip), Service: netip.MustParseAddrPort(c.service)}
		if got, err := ParseObserver(c.value); err != nil || got != want {
			t.Errorf("%s is %v, %v, want %v", c.value, got, err, want)
		}
	}
}

func TestParseObserverRefuses(t *testing.T) {
	const good = `"10.0.0.1:1"`
	for _, c := range []struct{ value, says string }{
		{``, "expected {"},
		{`null`, "gossip is missing"},
		{`[]`, "expected {"},
		{`"10.0.0.1:7373"`, "expected {"},
		{`{}`, "gossip is missing"},
		{`{"gossip": ` + good + `}`, "service is missing; expected an address such as"},
		{`{"service": ` + good + `}`, "gossip is missing"},
		{`{"gossip": 5, "service": ` + good + `}`, "expected {"},
		{`{"gossip": "h:1", "service": ` + good + `}`, `gossip is "h:1"`},
		{`{"gossip": "10.0.0.1", "service": ` + good + `}`, `gossip is "10.0.0.1"`},
		{`{"gossip": "", "service": ` + good + `}`, `gossip is ""`},
		{`{"gossip": ` + good + `, "service": "10.0.0.1:0"}`, `service is "10.0.0.1:0", expected an address and port at which`},
		{`{"gossip": ` + good + `, "service": "0.0.0.0:1"}`, `service is "0.0.0.0:1"`},
		{`{"gossip": "[::]:1", "service": ` + good + `}`, `gossip is "[::]:1"`},
		{`{"gossip": ` + good + `, "service": "10.0.0.1:65536"}`, `service is "10.0.0.1:65536"`},
		{`{"gossip": ` + good + `, "service": ` + good + `, "weight": 1}`, `unknown field "weight"`},
		{`{"gossip": ` + good + `, "service": ` + good + `} {}`, "something follows"},
		{`{"gossip": ` + good + `, "service": ` + good, "expected {"},
	} {
		if got, err := ParseObserver(c.value); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s is %v, %v, want an error with %q", c.value, got, err, c.says)
		}
	}
}

// What is parsed can be written, and is parsed the same again.
func FuzzParseObserver(f *testing.F) {
	f.Add(`{"gossip": "10.0.0.1:7373", "service": "10.0.0.1:5454"}`)
	f.Add(`{"gossip": "[fe80::1%eth0]:7373", "service": "[::ffff:1.2.3.4]:5454"}`)
	f.Add(`{"gossip": "10.0.0.1:7373"}`)
	f.Add(`{} {}`)
	f.Fuzz(func(t *testing.T, value string) {
		a, err := ParseObserver(value)
		if err != nil {
			if a != (Addresses{}) {
				t.Errorf("%q has an error and is %v", value, a)
			}
			return
		}
		for _, ap := range []netip.AddrPort{a.Gossip, a.Service} {
			if !ap.IsValid() || ap.Port() == 0 || ap.Addr().IsUnspecified() {
				t.Errorf("%q has the address %v", value, ap)
			}
		}
		again, err := ParseObserver(fmt.Sprintf(`{"gossip": %q, "service": %q}`, a.Gossip, a.Service))
		if err != nil || again != a {
			t.Errorf("%v is read back as %v, %v", a, again, err)
		}
	})
}

func value(host string) string {
	return fmt.Sprintf(`{"gossip": "%s:7373", "service": "%s:5454"}`, host, host)
}

// A tree's life: each step is the entries, the observers in force by name and
// host, what is wrong with others, and what a cache holds.
func TestTake(t *testing.T) {
	type entries map[string]string
	steps := []struct {
		what    string
		entries entries
		want    string
		faults  []string
		cached  entries
	}{
		{"nobody", entries{"limit/key_default": "x"}, "", nil, entries{"limit/key_default": "x"}},
		{
			"one of two is wrong from the start",
			entries{"observer/b": value("10.0.0.2"), "observer/a": "{}"},
			"b=10.0.0.2",
			[]string{"observer/a: gossip is missing"},
			entries{"observer/b": value("10.0.0.2")},
		},
		{
			"it is mended",
			entries{"observer/b": value("10.0.0.2"), "observer/a": value("10.0.0.1")},
			"a=10.0.0.1 b=10.0.0.2", nil,
			entries{"observer/b": value("10.0.0.2"), "observer/a": value("10.0.0.1")},
		},
		{
			"a change that is wrong leaves the last good value",
			entries{"observer/b": "{", "observer/a": value("10.0.0.1")},
			"a=10.0.0.1 b=10.0.0.2",
			[]string{"observer/b: unexpected EOF"},
			entries{"observer/b": value("10.0.0.2"), "observer/a": value("10.0.0.1")},
		},
		{
			"still, and another moves",
			entries{"observer/b": "[", "observer/a": value("10.0.0.9")},
			"a=10.0.0.9 b=10.0.0.2",
			[]string{"observer/b: unexpected EOF"},
			entries{"observer/b": value("10.0.0.2"), "observer/a": value("10.0.0.9")},
		},
		{
			"what is deleted is gone",
			entries{"observer/a": value("10.0.0.9")},
			"a=10.0.0.9", nil,
			entries{"observer/a": value("10.0.0.9")},
		},
		{
			"and has no last good value when it comes back",
			entries{"observer/b": "{}", "observer/a": value("10.0.0.9")},
			"a=10.0.0.9",
			[]string{"observer/b: gossip is missing"},
			entries{"observer/a": value("10.0.0.9")},
		},
		{
			"of two spellings the first counts",
			entries{"observer/%61": value("10.0.0.3"), "observer/a": value("10.0.0.9")},
			"a=10.0.0.3",
			[]string{"observer/a: means the same observer as observer/%61"},
			entries{"observer/%61": value("10.0.0.3"), "observer/a": value("10.0.0.9")},
		},
		{
			"also with its last good value",
			entries{"observer/%61": "", "observer/a": value("10.0.0.9")},
			"a=10.0.0.3",
			[]string{"observer/%61: EOF", "observer/a: means the same observer as observer/%61"},
			entries{"observer/%61": value("10.0.0.3"), "observer/a": value("10.0.0.9")},
		},
		{
			"names that are none",
			entries{"observer/%zz": value("10.0.0.3"), "observer/": value("10.0.0.9"), "observer": "", "observers/a": ""},
			"",
			[]string{"observer/: the observer has no name", "observer/%zz: "},
			entries{"observer": "", "observers/a": ""},
		},
		{
			"any name",
			entries{ObserverKey("a/b ?"): value("10.0.0.1"), "observer/c d": value("10.0.0.2")},
			"a/b ?=10.0.0.1 c d=10.0.0.2", nil,
			entries{"observer/a%2Fb%20%3F": value("10.0.0.1"), "observer/c d": value("10.0.0.2")},
		},
	}
	var o Observers
	for _, s := range steps {
		list, faults := o.Take(&tree.Tree{Entries: s.entries})
		var got []string
		for _, a := range list {
			if a.Gossip.Addr() != a.Service.Addr() || a.Gossip.Port() != 7373 || a.Service.Port() != 5454 {
				t.Errorf("%s: addresses %v", s.what, a)
			}
			got = append(got, a.Name+"="+a.Gossip.Addr().String())
		}
		if strings.Join(got, " ") != s.want {
			t.Errorf("%s: observers %q, want %q", s.what, got, s.want)
		}
		if len(faults) != len(s.faults) {
			t.Errorf("%s: faults %v, want %q", s.what, faults, s.faults)
		} else {
			for i, f := range faults {
				if !strings.HasPrefix(f.Error(), s.faults[i]) {
					t.Errorf("%s: fault %q, want %q", s.what, f.Error(), s.faults[i])
				}
			}
		}
		cached := maps.Clone(s.entries)
		o.InForce(cached)
		if !maps.Equal(cached, s.cached) {
			t.Errorf("%s: the cache holds %q, want %q", s.what, cached, s.cached)
		}
		var again Observers
		if fromCache, _ := again.Take(&tree.Tree{Entries: cached}); fmt.Sprint(fromCache) != fmt.Sprint(list) {
			t.Errorf("%s: from the cache %v, want %v", s.what, fromCache, list)
		}
	}
}
