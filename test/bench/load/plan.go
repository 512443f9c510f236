package load

import (
	"context"
	"fmt"
	"net/netip"
	"time"
)

// Protocol is how the questions are asked.
type Protocol string

// The protocols, both over cleartext TCP.
const (
	HTTP1 Protocol = "HTTP/1.1"
	H2C   Protocol = "h2c"
)

// Plan says what a run asks.
type Plan struct {
	// Addr is the server.
	Addr netip.AddrPort
	// Addrs are several, instead of Addr: connections are dealt to them in turn.
	Addrs []netip.AddrPort
	// Protocol is what it speaks.
	Protocol Protocol
	// Connections is how many there are, opened before the first question.
	Connections int
	// InFlight is how many questions each connection has under way, 1 to
	// MaxInFlight: the depth of the pipeline, or the number of streams. An open
	// loop has 1.
	InFlight int
	// Keys is how many resources there are, up to a million. Each question draws one of them,
	// evenly.
	Keys int
	// Rate makes an open loop: how many questions are due in a second, at even
	// distances. 0 is the closed loop.
	Rate float64
	// Warm is how long the load runs before it counts, and For how long it
	// counts.
	Warm, For time.Duration
	// Begin and End are called where the counting begins and ends; nil is
	// nothing. They stall the load for as long as they take.
	Begin, End func() error
	// Beside is called at every turn of the loop with the time since the run
	// began; nil is nothing.
	Beside func(now time.Duration)
}

// MaxInFlight bounds [Plan.InFlight].
const MaxInFlight = 128

const maxKeys = 1_000_000 // what six digits name

// silence is how long a server may take over the last answers.
const silence = 5 * time.Second

// Tally is what came of a run. All but Total is of the counted part.
type Tally struct {
	// Requests is how many answers arrived.
	Requests int
	// Answers counts them by status. 0 stands for a stream that was reset.
	Answers map[int]int
	// Took is the length of the counted part.
	Took time.Duration
	// Latency is from the question, or from when it was due, to the answer.
	Latency Histogram
	// CPU is what this process used of its core.
	CPU time.Duration
	// Total is how many answers arrived in the whole run, as many as questions
	// were asked.
	Total int
}

// PerSecond is the rate of answers.
func (t *Tally) PerSecond() float64 { return float64(t.Requests) / t.Took.Seconds() }

// Accepted is how many answers had a status of 2xx: what a server says when the
// request may pass, whichever of them it likes.
func (t *Tally) Accepted() int {
	n := 0
	for status, count := range t.Answers {
		if status/100 == 2 {
			n += count
		}
	}
	return n
}

// Run carries the plan out. It returns when every question is answered, or with
// an error as soon as that cannot be any more.
func (p Plan) Run(ctx context.Context) (*Tally, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	r, err := newRunner(p)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if err := r.run(ctx); err != nil {
		return nil, fmt.Errorf("load on %v: %w", p.servers(), err)
	}
	return r.result(), nil
}

// servers are those that are asked.
func (p Plan) servers() []netip.AddrPort {
	if len(p.Addrs) > 0 {
		return p.Addrs
	}
	return []netip.AddrPort{p.Addr}
}

func (p Plan) check() error {
	switch {
	case p.Connections < 1:
		return fmt.Errorf("%d connections: at least one asks", p.Connections)
	case p.InFlight < 1 || p.InFlight > MaxInFlight:
		return fmt.Errorf("%d questions under way on a connection: 1 to %d can be", p.InFlight, MaxInFlight)
	case p.Keys < 1 || p.Keys > maxKeys:
		return fmt.Errorf("%d keys: 1 to %d can be", p.Keys, maxKeys)
	case p.Rate > 0 && p.InFlight > 1:
		return fmt.Errorf("an open loop has one question under way on a connection, not %d", p.InFlight)
	case p.Protocol != HTTP1 && p.Protocol != H2C:
		return fmt.Errorf("protocol %q: it is %q or %q", p.Protocol, HTTP1, H2C)
	}
	return nil
}
