package vrrp

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
	"github.com/levee-project/levee/test/lab"
)

const (
	// runs is how often each fault happens, to one machine and the other in turn.
	runs = 5
	// planned is the bound of moves without a failed attempt.
	planned = 0
)

// fault is something that happens to the machine that has the address.
type fault struct {
	name string
	// strike makes it happen, heal mends it.
	strike, heal func(*testing.T, *lab.Machine)
	// outage is the most that a client may notice; planned means not a single
	// failed attempt.
	outage time.Duration
	// back is true when the address may move back with the healing.
	back bool
}

var faults = []fault{
	{"stop of the limiter", systemctl("stop", limiterUnit), systemctl("start", limiterUnit), planned, false},
	{"stop of keepalived", systemctl("stop", keepalivedUnit), systemctl("start", keepalivedUnit), planned, false},
	{"kill of the limiter", systemctl("kill", "-s", "KILL", limiterUnit), itself, 300 * time.Millisecond, false},
	{"limiter hangs", systemctl("kill", "-s", "STOP", limiterUnit), systemctl("kill", "-s", "CONT", limiterUnit), 3 * time.Second, false},
	{"power cut", cutPower, restorePower, 600 * time.Millisecond, false},
	{"cable out", unplug, plug, 600 * time.Millisecond, false},
	{"silent cut", silence, speak, 600 * time.Millisecond, true},
}

func systemctl(args ...string) func(*testing.T, *lab.Machine) {
	return func(t *testing.T, m *lab.Machine) {
		t.Helper()
		m.Run(t, append([]string{"systemctl"}, args...)...)
	}
}

// itself is the healing of what systemd mends.
func itself(*testing.T, *lab.Machine) {}

func cutPower(t *testing.T, m *lab.Machine)     { m.Kill(t) }
func restorePower(t *testing.T, m *lab.Machine) { m.Start(t) }
func unplug(t *testing.T, m *lab.Machine)       { m.Unplug(t) }
func plug(t *testing.T, m *lab.Machine)         { m.Plug(t) }

// silence drops all that the machine sends and receives, without its knowledge.
func silence(t *testing.T, m *lab.Machine) {
	t.Helper()
	nft(t, fmt.Sprintf(`table bridge cut {
	chain forward { type filter hook forward priority 0; iifname %[1]q drop; oifname %[1]q drop; }
	chain input { type filter hook input priority 0; iifname %[1]q drop; }
	chain output { type filter hook output priority 0; oifname %[1]q drop; }
}`, m.Port()))
}

func speak(t *testing.T, _ *lab.Machine) {
	t.Helper()
	nft(t, "delete table bridge cut")
}

// nft runs commands of nft(8) in the network of the test.
func nft(t *testing.T, commands string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "nft", "-f", "-")
	cmd.Stdin = strings.NewReader(commands)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("nft: %v: %s", err, out)
	}
}

// What a client notices when something happens to the machine that has the
// address, which the other takes.
func TestOutage(t *testing.T) {
	p := newPair(t)
	for _, f := range faults {
		t.Run(strings.ReplaceAll(f.name, " ", "-"), func(t *testing.T) {
			for range runs {
				p.suffer(t, f)
			}
		})
	}
}

// suffer is one run of a fault.
func (p *pair) suffer(t *testing.T, f fault) {
	t.Helper()
	from, to := p.settled(t)
	c := startClient(t, service)
	t.Cleanup(func() {
		if t.Failed() {
			c.end()
			for _, r := range c.records {
				t.Logf("%v", r.tally(c.began))
			}
			for _, ch := range p.watch.since(c.began) {
				t.Logf("%v after %v", ch, ch.when.Sub(c.began).Round(time.Millisecond))
			}
			out, _ := exec.Command("ss", "-tnoi", "dst", virtual).CombinedOutput()
			t.Logf("%s", out)
			out, _ = exec.Command("ip", "neigh").CombinedOutput()
			t.Logf("%s", out)
		}
	})
	c.answered(t, 50)
	struck := time.Now()
	f.strike(t, from)
	p.moved2(t, f, to)
	c.answered(t, 100)
	recovered := time.Now()
	f.heal(t, from)
	c.answered(t, 50)
	p.settled(t)
	c.end()
	for _, ch := range p.watch.since(struck) {
		t.Logf("%v after %v", ch, ch.when.Sub(struck).Round(time.Millisecond))
	}
	t.Logf("recovered after %v", recovered.Sub(struck).Round(time.Millisecond))
	for _, r := range c.records {
		t.Logf("%v", r.tally(c.began))
	}
}

// moved2 waits for the move.
func (p *pair) moved2(t *testing.T, f fault, to *lab.Machine) {
	t.Helper()
	harness.Eventually(t, 10*time.Second, f.name+": "+to.Name+" has the address", func() bool {
		for _, h := range p.watch.holders() {
			if h == to.Name {
				return true
			}
		}
		return false
	})
}
