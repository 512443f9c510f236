package keepalived

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// cases are the options in testdata/*.yaml, each beside what it is rendered to. The
// same files go through keepalived's own check in test/vrrp.
func cases(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	return files
}

func load(t *testing.T, path string) Options {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o := Defaults()
	dec := yaml.NewDecoder(strings.NewReader(string(text)))
	dec.KnownFields(true)
	if err := dec.Decode(&o); err != nil {
		t.Fatal(path, err)
	}
	return o
}

func TestRender(t *testing.T) {
	for _, path := range cases(t) {
		got, err := Render(load(t, path))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		golden := strings.TrimSuffix(path, ".yaml") + ".conf"
		if os.Getenv("LEVEE_TEST_UPDATE") != "" {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s: LEVEE_TEST_UPDATE=1 writes it anew; got\n%s", golden, got)
		}
		if !Ours(got) {
			t.Errorf("%s: what is rendered is not known as ours", golden)
		}
	}
}

// pair is options without a fault.
func pair() Options {
	o := Defaults()
	o.Interface, o.Address, o.Peers, o.Rank = "eth0", "10.0.0.1", []string{"10.0.0.2"}, 1
	o.VIPs = []string{"10.0.0.10/24"}
	return o
}

func TestFaults(t *testing.T) {
	groups := func(g ...Group) func(*Options) { return func(o *Options) { o.VIPs, o.Groups = nil, g } }
	vips := func(v ...string) func(*Options) { return func(o *Options) { o.VIPs = v } }
	a, b := []string{"10.0.0.10/24"}, []string{"10.0.0.11/24"}
	tests := []struct {
		name string
		edit func(*Options)
		want string
	}{
		{"no prefix", vips("10.0.0.10"), `vips: levee: found "10.0.0.10", expected an address with its prefix`},
		{"no address", vips("here/24"), `found "here/24"`},
		{"mapped", vips("::ffff:10.0.0.10/120"), `expected an address with its prefix`},
		{"network", vips("10.0.0.0/24"), "10.0.0.0/24 is the network itself"},
		{"network6", vips("10.0.0.10/24", "fd00::/64"), "fd00::/64 is the network itself"},
		{"loopback", vips("127.0.0.1/8"), "127.0.0.1/8 cannot be the address of a host"},
		{"multicast", vips("224.0.0.1/24"), "cannot be the address of a host"},
		{"everything", vips("10.0.0.1/0"), "cannot be the address of a host"},
		{"own", vips("10.0.0.1/24"), "10.0.0.1 is this host's own address"},
		{"peer's", vips("10.0.0.2/24"), "10.0.0.2 is a peer's own address"},
		{"twice", vips("10.0.0.10/24", "10.0.0.10/32"), "10.0.0.10 is in the group levee already"},
		{"only IPv6", vips("fd00::10/64"), "levee has none of the family (IPv4, IPv6) of 10.0.0.1"},
		{"none", vips(), "vips: missing"},
		{"too many", vips(strings.Fields(strings.Repeat("10.0.1.1/24 ", 65))...), "levee has 65, expected 64 at most"},
		{"both", func(o *Options) { o.Groups = []Group{{Name: "a", VIPs: b}} }, "not both"},
		{"name", groups(Group{Name: "a b", VIPs: a}), `found the name "a b"`},
		{"long name", groups(Group{Name: strings.Repeat("a", 33), VIPs: a}), "expected 1 to 32"},
		{"path", groups(Group{Name: "../a", VIPs: a}), `found the name "../a"`},
		{"no group address", groups(Group{Name: "a"}), "a has no virtual address"},
		{"same name", groups(Group{Name: "a", VIPs: a}, Group{Name: "A", VIPs: b}), "A is there twice"},
		{"across groups", groups(Group{Name: "a", VIPs: a}, Group{Name: "b", VIPs: a}), "10.0.0.10 is in the group a already"},
		{"ids", groups(Group{Name: "a", VIPs: a, RouterID: 52}, Group{Name: "b", VIPs: b}), "router-id: a and b both have 52"},
		{"last id", func(o *Options) {
			o.RouterID = 255
			groups(Group{Name: "a", VIPs: a}, Group{Name: "b", VIPs: b})(o)
		}, "b would have 256"},
		{"rank of group", groups(Group{Name: "a", VIPs: a, Rank: 3}), "a: found rank 3, expected 1 to 2"},
		{"turns with priority", func(o *Options) {
			o.Rank, o.Priority = 0, 254
			groups(Group{Name: "a", VIPs: a}, Group{Name: "b", VIPs: b})(o)
		}, "give it a rank"},
		{"interface", func(o *Options) { o.Interface = "" }, `interface: found ""`},
		{"long interface", func(o *Options) { o.Interface = "eth0123456789012" }, "interface: found"},
		{"syntax in interface", func(o *Options) { o.Interface = "eth0 }" }, "interface: found"},
		{"address", func(o *Options) { o.Address = "10.0.0.1/24" }, `address: found "10.0.0.1/24", expected a host's address without a prefix`},
		{"no address", func(o *Options) { o.Address = "" }, "address: found"},
		{"no peer", func(o *Options) { o.Peers = nil }, "peers: missing"},
		{"peer is self", func(o *Options) { o.Peers = []string{"10.0.0.1"} }, "peers: 10.0.0.1 is this host's own address"},
		{"peer twice", func(o *Options) { o.Peers = []string{"10.0.0.2", "10.0.0.2"} }, "peers: 10.0.0.2 is named twice"},
		{"peer's family", func(o *Options) { o.Peers = []string{"fd00::2"} }, "of different families"},
		{"peers of multicast", func(o *Options) { o.Multicast = true }, "with multicast nobody is named"},
		{"no rank", func(o *Options) { o.Rank = 0 }, "rank: missing"},
		{"rank", func(o *Options) { o.Rank = 3 }, "rank: found 3, expected 1 to 2"},
		{"rank and priority", func(o *Options) { o.Priority = 254 }, "give rank or priority"},
		{"priority", func(o *Options) { o.Rank, o.Priority = 0, 255 }, "priority: found 255"},
		{"router-id", func(o *Options) { o.RouterID = 256 }, "router-id: found 256"},
		{"advert", func(o *Options) { o.Advert = 15 * time.Millisecond }, "advert: found 15ms"},
		{"port", func(o *Options) { o.Port = 0 }, "port: found 0"},
		{"track file", func(o *Options) { o.TrackFile = "track" }, `track-file: found "track"`},
		{"syntax in program", func(o *Options) { o.Program = `/bin/a"` }, "program: found"},
		{"dots in program", func(o *Options) { o.Program = `/bin/../a` }, "program: found"},
	}
	for _, tt := range tests {
		o := pair()
		tt.edit(&o)
		text, err := Render(o)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
		if text != nil {
			t.Errorf("%s: rendered all the same", tt.name)
		}
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	_, err := Render(Options{})
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) || len(joined.Unwrap()) < 8 {
		t.Errorf("got %v", err)
	}
	for line := range strings.Lines(err.Error()) {
		if key, _, ok := strings.Cut(line, ": "); !ok || strings.Contains(key, " ") {
			t.Errorf("names no option: %s", line)
		}
	}
}

func TestOurs(t *testing.T) {
	for text, want := range map[string]bool{"": false, "global_defs {\n": false, "\n" + Marker: false, Marker + ": x\n": true} {
		if got := Ours([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
