package harness

import (
	"testing"
	"time"
)

// pollEvery is the time between two looks at what is waited for.
const pollEvery = 10 * time.Millisecond

// Eventually looks again and again until ok returns true, and returns how long
// that took. It fails the test when within has passed; what says in its message
// what did not happen.
func Eventually(t testing.TB, within time.Duration, what string, ok func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !ok() {
		if time.Since(began) > within {
			t.Fatalf("not within %v: %s", within, what)
		}
		time.Sleep(pollEvery)
	}
	return time.Since(began)
}
