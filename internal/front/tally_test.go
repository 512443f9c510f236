package front

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/attempt"
)

// Everything that is answered is counted; what a quota in shadow would have rejected
// is a rejection, and a peek is an answer but no hit.
func TestTally(t *testing.T) {
	tally := NewTally()
	long := strings.Repeat("l", attempt.MaxKeyPart)
	for _, c := range []struct {
		resource, method string
		hits             uint32
		o                attempt.Outcome
	}{
		{"r", "GET", 5, attempt.Outcome{Result: attempt.Accepted, Level: attempt.Method}},
		{"r", "GET", 2, attempt.Outcome{Result: attempt.Rejected, Level: attempt.Method, Over: true}},
		{"r", "GET", 0, attempt.Outcome{Result: attempt.Rejected, Level: attempt.Method, Over: true}},
		{"s", "GET", 3, attempt.Outcome{Result: attempt.Accepted, Level: attempt.Resource, Shadow: true, Over: true}},
		{long, "", 2, attempt.Outcome{Result: attempt.Failed}},
	} {
		tally.Add(&attempt.Attempt{Resource: []byte(c.resource), Method: []byte(c.method), Hits: c.hits}, &c.o)
	}
	got := tally.Top(0)
	if len(got.Attempts) != 3 || len(got.Attempts[2].Digest) != 16 {
		t.Fatalf("%+v", got)
	}
	want := adminapi.Top{
		HalfLife: 60, Seconds: 1, AttemptsTotal: 12, RejectionsTotal: 5,
		Attempts: []adminapi.Key{
			{Resource: "r", Method: "GET", Level: "method", Count: 7},
			{Resource: "s", Level: "resource", Count: 3},
			{Resource: long[:192], Level: "none", Digest: got.Attempts[2].Digest, Count: 2},
		},
		Rejections: []adminapi.Key{{Resource: "s", Level: "resource", Count: 3}, {Resource: "r", Method: "GET", Level: "method", Count: 2}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	for _, n := range []int64{
		tally.Count(attempt.Accepted, attempt.Method, false), tally.Count(attempt.Rejected, attempt.Method, false) - 1,
		tally.Count(attempt.Rejected, attempt.Resource, true), tally.Count(attempt.Failed, attempt.None, false),
	} {
		if n != 1 {
			t.Errorf("counted %d times", n)
		}
	}
}

// No two answers have one number.
func TestSerials(t *testing.T) {
	var c Counts
	seen := map[uint64]bool{}
	for lane := range uint8(3) {
		for _, result := range []attempt.Result{attempt.Accepted, attempt.Rejected, attempt.Failed} {
			for _, level := range attempt.Levels {
				for _, shadow := range []bool{false, true} {
					kind := kindOf(&attempt.Outcome{Result: result, Level: level, Shadow: shadow})
					first, last := c.add(lane, kind, 1), c.add(lane, kind, 3)
					for _, serial := range []uint64{first, last - 2*step, last - step, last} {
						if seen[serial] {
							t.Errorf("%v, %v, %v has %d again", result, level, shadow, serial)
						}
						seen[serial] = true
					}
				}
			}
		}
	}
}

func TestTallyDecays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tally, began := NewTally(), time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- tally.run(ctx, func() int64 { return int64(time.Since(began)) }) }()
		tally.Add(&attempt.Attempt{Resource: []byte("r"), Hits: 100}, &attempt.Outcome{Result: attempt.Accepted})
		time.Sleep(time.Minute) //nolint:forbidigo // time is the bubble's
		synctest.Wait()
		if got := tally.Top(0).Attempts[0].Count; got < 49.9 || got > 50.1 {
			t.Errorf("%f are left after a half-life", got)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
