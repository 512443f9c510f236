package observer

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/topology"
)

// addresses returns an observer's entry, on the host 10.0.0.n.
func addresses(name string, n byte) topology.Addresses {
	host := netip.AddrFrom4([4]byte{10, 0, 0, n})
	return topology.Addresses{Name: name, Gossip: netip.AddrPortFrom(host, 7373), Service: netip.AddrPortFrom(host, 5454)}
}

// testEntry is that of the observer "rack 1".
type testEntry struct {
	*entry
	t   *testing.T
	log bytes.Buffer
}

func newTestEntry(t *testing.T) *testEntry {
	e := &testEntry{t: t}
	e.entry = newEntry("/levee", "rack 1", new(daemon.Health), slog.New(slog.NewTextHandler(&e.log, nil)))
	return e
}

// takeAnd takes observers and checks what the log says; nothing if want is empty.
func (e *testEntry) takeAnd(want string, list ...topology.Addresses) {
	e.t.Helper()
	e.log.Reset()
	e.take(list)
	switch got := e.log.String(); {
	case want == "" && got != "":
		e.t.Errorf("the log says %s", got)
	case !strings.Contains(got, want):
		e.t.Errorf("the log says %q, want %q", got, want)
	case want != "" && !strings.Contains(got, "key=/levee/observer/rack%201"):
		e.t.Errorf("the log does not name the key: %s", got)
	}
}

func TestWaitingForTheEntry(t *testing.T) {
	e := newTestEntry(t)
	e.takeAnd("waits for one")
	e.takeAnd("", addresses("other", 2)) // said already
	waited := make(chan error, 1)
	var own topology.Addresses
	go func() {
		var err error
		own, err = e.wait(t.Context())
		waited <- err
	}()
	e.takeAnd("is in the shared configuration", addresses("other", 2), addresses("rack 1", 1))
	if err := <-waited; err != nil || own != addresses("rack 1", 1) {
		t.Errorf("waited for %v, %v", own, err)
	}
	if _, line := e.health.Ready(); !strings.HasPrefix(line, "starting") {
		t.Errorf("/readyz says %q", line)
	}
}

func TestTheWaitSaysWhatItWaitsFor(t *testing.T) {
	e := newTestEntry(t)
	why := errors.New("SIGTERM")
	ctx, end := context.WithCancelCause(t.Context())
	end(why)
	if _, err := e.wait(ctx); !errors.Is(err, why) {
		t.Errorf("the wait ends with %v, want %v", err, why)
	}
	if ok, line := e.health.Ready(); ok || !strings.Contains(line, "/levee/observer/rack%201") || !strings.Contains(line, example) {
		t.Errorf("/readyz says %q, want the key and an example", line)
	}
	if _, err := topology.ParseObserver(example); err != nil {
		t.Errorf("the example is wrong: %v", err)
	}
}

func TestChangesOfTheEntryNeedARestart(t *testing.T) {
	e := newTestEntry(t)
	e.take([]topology.Addresses{addresses("rack 1", 1)})
	if _, err := e.wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.health.SetReady()
	note := func(want string) {
		t.Helper()
		if ok, line := e.health.Ready(); !ok || !strings.Contains(line, want) || want == "" && line != "ready" {
			t.Errorf("/readyz says %q, want %q", line, want)
		}
	}
	e.takeAnd("", addresses("rack 1", 1), addresses("other", 2))
	note("")
	e.takeAnd("needs a restart", addresses("rack 1", 9))
	note("/levee/observer/rack%201: this observer's entry in the shared configuration has changed and needs a restart")
	e.takeAnd("", addresses("rack 1", 9))
	e.takeAnd("goes on at the addresses it had", addresses("other", 2))
	note("is gone")
	e.takeAnd("is in the shared configuration", addresses("rack 1", 1))
	note("")
}

func TestTheOthersAreJoined(t *testing.T) {
	e := newTestEntry(t)
	e.take([]topology.Addresses{addresses("a", 2), addresses("rack 1", 1), addresses("b", 3)})
	var seeds []netip.AddrPort
	e.sow(func(addrs []netip.AddrPort) { seeds = addrs })
	if want := []netip.AddrPort{addresses("a", 2).Gossip, addresses("b", 3).Gossip}; !slices.Equal(seeds, want) {
		t.Errorf("the seeds are %v, want %v", seeds, want)
	}
	e.take([]topology.Addresses{addresses("c", 4), addresses("rack 1", 1)})
	if want := []netip.AddrPort{addresses("c", 4).Gossip}; !slices.Equal(seeds, want) {
		t.Errorf("the seeds are %v, want %v", seeds, want)
	}
}
