package front

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A round comes after its period; a new length is heard of at once, and begins
// anew.
func TestPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p, began := NewPeriod(time.Hour), time.Now()
		if due, ok := p.Wait(ctx); !due || !ok || time.Since(began) != time.Hour {
			t.Errorf("after %v: due %v, going on %v", time.Since(began), due, ok)
		}
		p.Set(time.Minute)
		p.Set(time.Second) // while nobody looks: told once
		began = time.Now()
		if due, ok := p.Wait(ctx); due || !ok || time.Since(began) != 0 {
			t.Errorf("a new length, after %v: due %v, going on %v", time.Since(began), due, ok)
		}
		if due, ok := p.Wait(ctx); !due || !ok || time.Since(began) != time.Second {
			t.Errorf("after %v: due %v, going on %v", time.Since(began), due, ok)
		}
		cancel()
		if _, ok := p.Wait(ctx); ok {
			t.Error("it goes on after the end")
		}
	})
}
