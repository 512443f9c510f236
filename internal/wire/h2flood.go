package wire

import "time"

// calm is what a peer may still send of frames that ask nothing: each costs us
// work that no request pays for. It is a bucket of tokens that fills with time
// and with requests served. A peer that empties it is told to calm down, and the
// connection ends.
type calm struct {
	left int
	at   int64 // clock up to which time was counted
}

// How much there is of it.
//
// A peer that behaves spends a few tokens for a connection, and then about as
// many as it has trouble: a PING now and then, a reset for each request it gives
// up. calmBurst lets it give up the requests of all its streams four times over
// within the same moment, with a PING after each as Go's client sends them. A
// frame costs us well below a microsecond, so calmPerSecond is worth less than a
// thousandth of a core.
const (
	calmBurst     = 2000
	calmPerSecond = 1000
)

// Costs, and what earns them.
const (
	// A frame that has no use, or little: PING, SETTINGS, PRIORITY, empty DATA,
	// CONTINUATION, WINDOW_UPDATE, unknown types.
	costFrame = 1
	// A request that is reset, by the peer or by its being malformed. It must be
	// more than earnRequest, or requests that are reset at once would pay for
	// themselves.
	costReset = 2
	// A request that was answered.
	earnRequest = 1
	// A DATA frame that we sent: the peer may open its two windows again.
	earnData = 2
)

func (c *calm) start(now int64) { *c = calm{left: calmBurst, at: now} }

func (c *calm) earn(n int) { c.left = min(c.left+n, calmBurst) }

// spend takes n tokens; it fails when there are not as many. Time is only looked
// at then.
func (c *calm) spend(n int, now int64) *fault {
	if c.left -= n; c.left >= 0 {
		return nil
	}
	c.earn(int(min((now-c.at)/(int64(time.Second)/calmPerSecond), calmBurst)))
	c.at = now
	if c.left < 0 {
		return faultFlood
	}
	return nil
}

// spend takes a peer's tokens.
func (h *http2) spend(n int) *fault { return h.calm.spend(n, h.c.now) }
