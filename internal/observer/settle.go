package observer

import (
	"context"
	"time"
)

const (
	// quietTime is how long a view must have been unchanged to count as stable.
	quietTime = time.Second
	// longestSettling is how long the start waits for that at the most: in a
	// cluster that keeps changing, a view a little behind is better than none.
	longestSettling = 5 * time.Second
)

// settle returns when the overlay has been joined and nothing has changed for
// quietTime, or after longestSettling. The error is why ctx ended.
func settle(ctx context.Context, joined, changed <-chan struct{}) error {
	longest := time.NewTimer(longestSettling)
	defer longest.Stop()
	select {
	case <-joined:
	case <-longest.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	quiet := time.NewTimer(quietTime)
	defer quiet.Stop()
	for {
		select {
		case <-changed:
			quiet.Reset(quietTime)
		case <-quiet.C:
			return nil
		case <-longest.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
