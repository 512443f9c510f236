package vrrp

import (
	"fmt"
	"os/exec"
	"slices"
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
	// hanging is the bound where a process neither works nor ends.
	hanging = 3 * time.Second
	// silence is how long after a move a client may be left without an answer, or the
	// news that there is none.
	silence = time.Second
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
	{"limiter hangs", systemctl("kill", "-s", "STOP", limiterUnit), systemctl("kill", "-s", "CONT", limiterUnit), hanging, false},
	{"power cut", cutPower, restorePower, 600 * time.Millisecond, false},
	{"cable out", unplug, plug, 600 * time.Millisecond, false},
	{"silent cut", mute, speak, 600 * time.Millisecond, true},
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

// mute drops all that the machine sends and receives, without its knowledge.
func mute(t *testing.T, m *lab.Machine) {
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
			for run := range runs {
				p.suffer(t, f, run+1)
			}
		})
	}
}

// suffer is one run of a fault, from one settled state to the next.
func (p *pair) suffer(t *testing.T, f fault, run int) {
	t.Helper()
	from, to := p.settled(t)
	c := startClient(t, service)
	c.answered(t, 20)
	struck := time.Now()
	f.strike(t, from)
	var moved time.Time
	harness.Eventually(t, 10*time.Second, to.Name+" takes the address", func() bool {
		got := slices.IndexFunc(p.watch.since(struck), func(c change) bool { return c.has && c.machine == to.Name })
		if got >= 0 {
			moved = p.watch.since(struck)[got].when
		}
		return got >= 0
	})
	c.answered(t, 20)
	f.heal(t, from)
	p.settled(t)
	c.end()

	t.Logf("run %d, %s to %s: moved after %v", run, from.Name, to.Name, moved.Sub(struck).Round(time.Millisecond))
	for _, r := range c.records {
		sum := r.tally(c.began)
		t.Logf("  %v", sum)
		f.judge(t, sum, r.unanswered(moved))
	}
	p.judgeMove(t, f, to, struck)
}

// judge fails the test if a way has lost more than it may.
func (f fault) judge(t *testing.T, sum tally, unanswered time.Duration) {
	t.Helper()
	switch {
	case f.outage == planned && sum.failed > 0:
		t.Errorf("%s: %d attempts failed over %v", f.name, sum.failed, sum.way)
	case f.outage != planned && !sum.way.kept && sum.outage > f.outage:
		t.Errorf("%s: no attempt over %v was answered for %v, want at most %v", f.name, sum.way, sum.outage, f.outage)
	}
	// A process that hangs has received what was sent; only the client's own deadline
	// ends the wait for it.
	if sum.way.kept && f.outage != hanging && unanswered > silence {
		t.Errorf("%s: a client over %v heard nothing for %v after the move", f.name, sum.way, unanswered)
	}
}

// judgeMove fails the test unless the address has moved once, and stayed.
func (p *pair) judgeMove(t *testing.T, f fault, to *lab.Machine, struck time.Time) {
	t.Helper()
	changes := p.watch.since(struck)
	if len(changes) != 2 {
		t.Errorf("%s: the address has moved more than once: %v", f.name, changes)
	}
	if !f.back && !slices.Equal(p.watch.holders(), []string{to.Name}) {
		t.Errorf("%s: the address has not stayed on %s: %v", f.name, to.Name, changes)
	}
	if shared := p.watch.shared(struck); !f.back && shared > time.Second {
		t.Errorf("%s: both had the address for %v", f.name, shared)
	}
}
