package dev

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/tree"
)

func TestParse(t *testing.T) {
	o, err := parse([]string{"--limiters=5", "--port", "6000"})
	if err != nil || o.limiters != 5 || o.observers != 2 || o.proxies != 2 || o.port != 6000 {
		t.Errorf("got %+v, %v", o, err)
	}
	for _, wrong := range []string{
		"--limiters=0", "--limiters=11", "--observers=0", "--proxies=0", "--proxies=x",
		"--port=0", "--port=65437", "--restart=-1s", "--nonsense", "word",
	} {
		if _, err := parse([]string{wrong}); err == nil || !strings.Contains(err.Error(), strings.Split(wrong, "=")[0]) {
			t.Errorf("%s: got %v, want an error that names it", wrong, err)
		}
	}
}

// largest is the plan of as many processes as can be.
func largest() *plan {
	p := (&options{limiters: most, observers: most, proxies: most, port: firstPort}).plan()
	p.commands("/data")
	return p
}

func TestPortsAreApart(t *testing.T) {
	taken := map[int]string{}
	for _, m := range largest().all() {
		for u, port := range m.ports {
			if port < firstPort || port >= firstPort+ports || taken[port] != "" {
				t.Errorf("port %d of %s for %s: outside, or also of %q", port, m.name, u, taken[port])
			}
			if !slices.Contains(uses, u) {
				t.Errorf("%q of %s is not in the table", u, m.name)
			}
			taken[port] = m.name
		}
	}
}

// The daemons understand what they are told.
func TestCommands(t *testing.T) {
	p := largest()
	for _, m := range p.limiters {
		if _, _, err := config.LoadLimiter(m.args, nil, nil); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
	for _, m := range p.observers {
		if _, _, err := config.LoadObserver(m.args, nil, nil); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
	for _, m := range p.proxies {
		if _, _, err := config.LoadClientProxy(m.args, nil, nil); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

func TestEntriesAreValid(t *testing.T) {
	p := largest()
	all := &tree.Tree{Entries: p.observerEntries()}
	var o topology.Observers
	if list, faults := o.Take(all); len(list) != most || len(faults) > 0 {
		t.Errorf("observers %v, faults %v", list, faults)
	}
	if _, faults := quota.NewCompiler().Compile(&tree.Tree{Entries: quotas}); len(faults) > 0 {
		t.Errorf("faults %v", faults)
	}
}

func TestFree(t *testing.T) {
	const port = 23456 // and no other of its hundred
	o := options{limiters: 1, observers: 1, proxies: 1, port: port}
	if err := o.plan().free(context.Background()); err != nil {
		t.Fatalf("before: %v", err)
	}
	taken := o.plan().limiters[0]
	l, err := net.Listen("tcp", taken.addr(attempts))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.ListenPacket("udp", taken.addr(gossip))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	err = o.plan().free(context.Background())
	if err == nil || !strings.Contains(err.Error(), "port 23466, which is for limiter-1 (attempts)") ||
		!strings.Contains(err.Error(), "port 23476, which is for limiter-1 (gossip)") ||
		strings.Count(err.Error(), "taken") != 2 {
		t.Errorf("got %v", err)
	}
}
