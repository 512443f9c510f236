package vrrp

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
	"github.com/levee-project/levee/test/lab"
)

// twoMasters is the longest that both machines may have the address for, where the
// network between them is whole.
const twoMasters = time.Second

// Machines that boot at the same time agree at once, and a reload changes nothing.
func TestTogether(t *testing.T) {
	p := newPair(t)
	for _, m := range p.both() {
		m.PowerOff(t)
	}
	booted := time.Now()
	lab.StartTogether(t, p.both()...)
	master, _ := p.settled(t)
	if shared := p.watch.shared(booted); shared > twoMasters {
		t.Errorf("after a boot of both, both had the address for %v: %v", shared, p.watch.since(booted))
	}
	t.Logf("after the boot: %v", p.watch.since(booted))

	c := startClient(t, service)
	c.answered(t, 20)
	reloaded := time.Now()
	for _, m := range p.both() {
		m.Run(t, "systemctl", "kill", "--kill-whom=main", "-s", "HUP", keepalivedUnit)
		waitReload(t, m)
		c.answered(t, 100)
	}
	p.settled(t)
	c.end()
	c.wantNoneFailed(t)
	if changes := p.watch.since(reloaded); len(changes) > 0 {
		t.Errorf("reloads move the address from %s: %v", master.Name, changes)
	}
}

// waitReload waits until the machine's keepalived has read its configuration again.
func waitReload(t *testing.T, m *lab.Machine) {
	t.Helper()
	harness.Eventually(t, 10*time.Second, "keepalived of "+m.Name+" reloads", func() bool {
		return slices.ContainsFunc(m.Journal(t, keepalivedUnit), func(e lab.Entry) bool { return strings.HasPrefix(e["MESSAGE"], "Reload complete") })
	})
}

// wantNoneFailed fails the test unless each attempt was answered.
func (c *client) wantNoneFailed(t *testing.T) {
	t.Helper()
	for _, r := range c.records {
		sum := r.tally(c.began)
		t.Logf("%v", sum)
		if sum.failed > 0 {
			t.Errorf("%d attempts failed over %v", sum.failed, sum.way)
		}
	}
}

// An upgrade, first of the machine without the address, then of the other, loses no
// attempt: the address has left before the old process ends.
func TestUpgrade(t *testing.T) {
	p := newPair(t)
	master, backup := p.settled(t)
	c := startClient(t, service)
	c.answered(t, 20)
	began := time.Now()
	for _, m := range []*lab.Machine{backup, master} {
		install(t, m, "/srv/new")
		p.settled(t)
		c.answered(t, 20)
	}
	c.end()
	c.wantNoneFailed(t)
	for _, m := range p.both() {
		if version := m.Run(t, "levee-limiter", "--version"); !strings.Contains(version, newVersion) {
			t.Errorf("%s has %s", m.Name, version)
		}
	}

	changes := p.watch.since(began)
	t.Logf("%v", changes)
	if len(changes) != 2 || !slices.Equal(p.watch.holders(), []string{backup.Name}) {
		t.Fatalf("the address has not moved once, from %s to %s: %v", master.Name, backup.Name, changes)
	}
	if shared := p.watch.shared(began); shared > twoMasters {
		t.Errorf("both had the address for %v", shared)
	}
	left := changes[slices.IndexFunc(changes, func(c change) bool { return !c.has })].when
	told, ended := said(t, master, "stopping"), said(t, master, "stopped")
	t.Logf("the address left %v after SIGTERM, and the process ended %v after that", left.Sub(told), ended.Sub(left))
	if ended.Before(left) {
		t.Errorf("the process ended %v before the address left", left.Sub(ended))
	}
}

// said is when the limiter of a machine has said something first.
func said(t *testing.T, m *lab.Machine, message string) time.Time {
	t.Helper()
	for _, e := range m.Journal(t, limiterUnit) {
		if e["MESSAGE"] == message || strings.HasPrefix(e["MESSAGE"], message+" ") {
			micros, err := strconv.ParseInt(e["__REALTIME_TIMESTAMP"], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return time.UnixMicro(micros)
		}
	}
	t.Fatalf("the limiter of %s has not said %q", m.Name, message)
	return time.Time{}
}
