package vrrp

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
	"github.com/levee-project/levee/test/lab"
)

// Machines that do not hear of each other both take the address. Metrics and the
// journals of both say so, and when they hear of each other again, one gives way.
func TestSplitBrain(t *testing.T) {
	p := newPair(t)
	began := time.Now()
	nft(t, "table bridge cut { chain forward { type filter hook forward priority 0; meta protocol ip ip protocol vrrp drop; }; }")
	harness.Eventually(t, 5*time.Second, "both have the address", func() bool { return len(p.watch.holders()) == 2 })
	for _, m := range p.both() {
		waitMaster(t, m, true)
		if said := toldStates(t, m); !strings.HasPrefix(said[len(said)-1], "virtual addresses of "+instance+": MASTER") {
			t.Errorf("the journal of %s says %q", m.Name, said)
		}
	}
	c := startClient(t, service) // it is served by one of them
	c.answered(t, 20)

	nft(t, "delete table bridge cut")
	master, backup := p.settled(t)
	waitMaster(t, master, true)
	waitMaster(t, backup, false)
	if said := toldStates(t, backup); !strings.HasPrefix(said[len(said)-1], "virtual addresses of "+instance+": BACKUP") {
		t.Errorf("the journal of %s says %q", backup.Name, said)
	}
	c.answered(t, 20)
	c.end()
	for _, r := range c.records {
		t.Logf("%v", r.tally(c.began))
	}
	if changes := p.watch.since(began); len(changes) != 2 || !slices.Equal(p.watch.holders(), []string{master.Name}) {
		t.Errorf("one was to take the address, and one to give it up: %v", changes)
	}
}

// waitMaster waits until the metric of a machine says whether it has the address.
func waitMaster(t *testing.T, m *lab.Machine, master bool) {
	t.Helper()
	want := `levee_vrrp_master{instance="` + instance + `"} 0`
	if master {
		want = `levee_vrrp_master{instance="` + instance + `"} 1`
	}
	harness.Eventually(t, 5*time.Second, m.Name+" shows "+want, func() bool {
		return strings.Contains(m.Run(t, "curl", "-fsS", "http://127.0.0.1:9454/metrics"), want+"\n")
	})
}

// toldStates is what the journal of a machine says about its part, the oldest first.
func toldStates(t *testing.T, m *lab.Machine) []string {
	t.Helper()
	return strings.Split(m.Run(t, "journalctl", "--no-pager", "-o", "cat", "-t", "levee-vrrp"), "\n")
}
