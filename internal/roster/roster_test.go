package roster

import (
	"bytes"
	"log/slog"
	"net/netip"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/levee-project/levee/internal/topology"
)

func member(id string, state topology.State, incarnation int64) topology.Member {
	return topology.Member{
		ID: id, Role: topology.Limiter, State: state, Incarnation: incarnation,
		Service: netip.MustParseAddrPort("10.0.0.1:5454"),
	}
}

// A cluster's life, and what people are told of it: each step is the members,
// the largest factor, what is missing, and what the log says, all of it.
func TestRoster(t *testing.T) {
	log := new(bytes.Buffer)
	plain := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.MessageKey, "id", slog.LevelKey:
			return a
		}
		return slog.Attr{}
	}}
	r := New(prometheus.NewRegistry(), slog.New(slog.NewTextHandler(log, plain)))
	a, b := member("a", topology.Serving, 1), member("b", topology.Serving, 1)
	steps := []struct {
		what    string
		members []topology.Member
		factor  int
		short   float64
		says    []string
	}{
		{"nobody yet", nil, 2, 2, []string{`INFO "groups are short`}},
		{"one comes", []topology.Member{a}, 2, 1, []string{"INFO member id=a", `INFO "groups are short`}},
		{"another comes", []topology.Member{a, b}, 2, 0, []string{"INFO member id=b", `INFO "groups are complete"`}},
		{"nothing new", []topology.Member{a, b}, 2, 0, nil},
		{
			"one falls silent",
			[]topology.Member{a, member("b", topology.Silent, 1)},
			2, 1,
			[]string{`WARN "a member fell silent`, `WARN "groups are short`},
		},
		{
			"it is back in a new life",
			[]topology.Member{a, member("b", topology.Serving, 2)},
			2, 0,
			[]string{`INFO "a member was started again" id=b`, `INFO "groups are complete"`},
		},
		{
			"the other drains",
			[]topology.Member{member("a", topology.Draining, 1), member("b", topology.Serving, 2)},
			1, 0,
			[]string{"INFO member id=a"},
		},
		{"and leaves", []topology.Member{member("b", topology.Silent, 2)}, 1, 1, []string{
			`WARN "a member fell silent`, `INFO "a member left" id=a`, `WARN "groups are short`,
		}},
		{"the silent one is forgotten", nil, 1, 1, []string{`INFO "a silent member is forgotten" id=b`}},
	}
	for i, s := range steps {
		log.Reset()
		r.Want(s.factor)
		r.View(topology.NewView(int64(i+1), s.members))
		said := strings.Split(strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(log.String(), "level=", ""), "msg=", "")), "\n")
		if log.Len() == 0 {
			said = nil
		}
		if len(said) != len(s.says) {
			t.Errorf("%s: the log says %q, want %q", s.what, said, s.says)
			continue
		}
		for j := range said {
			if !strings.HasPrefix(said[j], s.says[j]) {
				t.Errorf("%s: the log says %q, want %q", s.what, said[j], s.says[j])
			}
		}
		if got := testutil.ToFloat64(r.short); got != s.short {
			t.Errorf("%s: %v are missing, want %v", s.what, got, s.short)
		}
	}
	r.View(topology.NewView(99, []topology.Member{a, member("b", topology.Silent, 1), member("c", topology.Serving, 1)}))
	for state, want := range map[topology.State]float64{topology.Serving: 2, topology.Silent: 1, topology.Starting: 0} {
		if got := testutil.ToFloat64(r.members.WithLabelValues("limiter", string(state))); got != want {
			t.Errorf("%v limiters are %s, want %v", got, state, want)
		}
	}
}
