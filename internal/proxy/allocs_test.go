//go:build !race

package proxy

import (
	"testing"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/wire"
)

// (With the race detector, pools forget.)
func TestAttemptDoesNotAllocate(t *testing.T) {
	b := costBench(t)
	long := question(string(make([]byte, 900)), "GET", 1)
	measure := func(name string, a *attempt.Attempt) {
		if n := testing.AllocsPerRun(1000, func() { b.Attempt(b.now.Load(), a, noLater{}) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	measure("short key", question("tenant-000123/object/photos-ab", "GET", 1))
	measure("long key", long)
	ranked := b.ranked("r")
	ranked[0].answers(attempt.Outcome{}, wire.ErrLost)
	measure("every other one is retried", question("r", "", 1))
	ranked[0].up.Store(false)
	measure("with a stand-in", question("r", "", 1))
	ranked[2].up.Store(false)
	measure("without a stand-in", question("r", "", 1))
}
