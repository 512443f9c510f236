package ansible

import (
	"slices"
	"strings"
	"testing"
)

// without takes the hosts out of a group.
func without(group string, names ...string) func([]host) []host {
	return func(hosts []host) []host {
		for i, h := range hosts {
			if len(names) == 0 || slices.Contains(names, h.name) {
				hosts[i].groups = slices.DeleteFunc(slices.Clone(h.groups), func(g string) bool { return g == group })
			}
		}
		return hosts
	}
}

// What cannot go well is refused before anything is touched, by a sentence that
// says what to change.
func wrongInventories(t *testing.T, s *site) {
	tooMany := limits(scarce())
	tooMany["factor"] = vars{"default": 2, "key": vars{"hot": 4}}
	tests := []struct {
		name   string
		wrong  *site
		before string // what is done on proxy1 first, to be undone by after
		after  string
		want   []string
	}{
		{
			name: "NoObserver", wrong: s.with(nil, without("levee_observers")),
			want: []string{"no observer", "put at least one host", "levee_observers"},
		},
		{
			name: "FactorAboveLimiters", wrong: s.with(vars{"levee_limits": tooMany}, nil),
			want: []string{"factor of 4", "3 hosts", "add limiters, or lower the factor"},
		},
		{
			name: "DuplicateIDs", wrong: s.with(nil, func(hosts []host) []host {
				hosts[1].vars = vars{"levee_limiter_instance_id": "node1"}
				return hosts
			}),
			want: []string{"instance-id node1", "give each one of its own", "levee_limiter_instance_id"},
		},
		{
			name: "EvenEtcd", wrong: s.with(nil, without("levee_etcd", "node3")),
			want: []string{"levee_etcd has 2 hosts", "make it 3 or 5"},
		},
		{
			name: "Unreachable", wrong: s.with(nil, func(hosts []host) []host {
				return append(hosts, host{name: "ghost", addr: address(99), groups: []string{"levee_limiters"}})
			}),
			want: []string{"ghost cannot be reached", "take it out of"},
		},
		{
			name: "PortTaken", wrong: s,
			before: "systemd-run --quiet --unit=squatter python3 -m http.server 5454; until ss -Hlnt sport = :5454 | grep -q .; do sleep 0.05; done",
			after:  "systemctl stop squatter",
			want:   []string{"proxy1", "port 5454", "python3", "levee_client_proxy_port"},
		},
	}
	untouched := s.print(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.before != "" {
				s.machines["proxy1"].Shell(t, test.before)
				defer s.machines["proxy1"].Shell(t, test.after)
			}
			r := test.wrong.try(t, "site.yml")
			if r.ok {
				t.Fatalf("it is accepted:\n%s", r.output)
			}
			said := strings.Join(strings.Fields(r.output), " ")
			for _, text := range test.want {
				if !strings.Contains(said, text) {
					t.Errorf("the refusal does not say %q:\n%s", text, r.output)
				}
			}
			for host, c := range r.hosts {
				if c["changed"] > 0 {
					t.Errorf("%s: %v\n%s", host, c, changes(r.output))
				}
			}
			s.wantPrint(t, untouched)
		})
	}
}
