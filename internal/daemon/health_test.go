package daemon

import (
	"slices"
	"sync"
	"testing"
)

func TestHealthFromStartToEnd(t *testing.T) {
	var h Health
	steps := []struct {
		name  string
		do    func()
		ready bool
		text  string
	}{
		{"zero value", func() {}, false, "starting"},
		{"reason", func() { h.SetStarting("waiting for etcd") }, false, "starting: waiting for etcd"},
		{"unready while starting", func() { h.SetUnready("observer", "no observer") }, false, "starting: waiting for etcd"},
		{"started, still unready", h.SetReady, false, "not ready: no observer"},
		{"two reasons", func() { h.SetUnready("a", "first") }, false, "not ready: first; no observer"},
		{"one taken back", func() { h.SetUnready("observer", "") }, false, "not ready: first"},
		{"both taken back", func() { h.SetUnready("a", "") }, true, "ready"},
		{"note", func() { h.SetNote("storage", "etcd is away") }, true, "ready (etcd is away)"},
		{"second note", func() { h.SetNote("reload", "failed") }, true, "ready (failed; etcd is away)"},
		{"note replaced", func() { h.SetNote("reload", "failed again") }, true, "ready (failed again; etcd is away)"},
		{"notes taken back", func() { h.SetNote("storage", ""); h.SetNote("reload", "") }, true, "ready"},
		{"taken back twice", func() { h.SetNote("reload", "") }, true, "ready"},
		{"too late to start", func() { h.SetStarting("x"); h.SetReady() }, true, "ready"},
		{"draining", func() { h.SetDraining("SIGTERM") }, false, "draining: SIGTERM"},
		{"never back", func() { h.SetReady(); h.SetStarting("x"); h.SetDraining("y") }, false, "draining: SIGTERM"},
	}
	for _, s := range steps {
		s.do()
		if ok, text := h.Ready(); ok != s.ready || text != s.text {
			t.Errorf("%s: Ready() = %v, %q, want %v, %q", s.name, ok, text, s.ready, s.text)
		}
	}
}

func TestHealthAlive(t *testing.T) {
	var h Health
	check := func(wantOK bool, want string) {
		t.Helper()
		if ok, text := h.Alive(); ok != wantOK || text != want {
			t.Errorf("Alive() = %v, %q, want %v, %q", ok, text, wantOK, want)
		}
	}
	check(true, "alive")
	h.SetDead("probe", "timeout")
	check(false, "dead: probe: timeout")
	h.SetDead("storage", "gone")
	check(false, "dead: probe: timeout; storage: gone")
	h.SetDead("probe", "")
	h.SetDead("storage", "")
	check(true, "alive")
}

func TestHealthTellsChangesInOrder(t *testing.T) {
	var got []string
	h := Health{onChange: func(text string) { got = append(got, text) }}
	h.SetReady()
	h.SetNote("a", "") // no change of the answer
	h.SetDead("a", "b")
	h.SetNote("a", "n")
	h.SetDraining("")
	if want := []string{"ready", "ready (n)", "draining"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

// TestHealthFromManyGoroutines loses no source's reason to another's.
func TestHealthFromManyGoroutines(t *testing.T) {
	var h Health
	h.SetReady()
	var wg sync.WaitGroup
	for _, source := range []string{"a", "b", "c", "d"} {
		wg.Go(func() {
			for range 100 {
				h.SetUnready(source, "")
				h.SetUnready(source, source)
				h.Ready()
			}
		})
	}
	wg.Wait()
	if _, text := h.Ready(); text != "not ready: a; b; c; d" {
		t.Errorf("Ready() says %q", text)
	}
}

func TestHealthTellsWhoAsksForReadiness(t *testing.T) {
	var h Health
	var got []bool
	h.OnReady(func(ok bool) { got = append(got, ok) })
	var second []bool
	for _, do := range []func(){
		func() { h.SetStarting("x") },
		h.SetReady,
		func() { h.SetNote("storage", "away") },
		func() { h.OnReady(func(ok bool) { second = append(second, ok) }) },
		func() { h.SetUnready("a", "b") },
		func() { h.SetUnready("a", "c") },
		func() { h.SetUnready("a", "") },
	} {
		do()
		if h.Draining() {
			t.Error("it does not drain yet")
		}
	}
	h.SetDraining("SIGTERM")
	if !h.Draining() {
		t.Error("it drains")
	}
	if want := []bool{false, true, false, true, false}; !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
	if want := []bool{true, false, true, false}; !slices.Equal(second, want) {
		t.Errorf("told %v who came later, want %v", second, want)
	}
}
