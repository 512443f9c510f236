package load

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// Plan says what a run asks.
type Plan struct {
	// Addr is the limiter or client-proxy, and Host what it is called in the
	// attempts.
	Addr netip.AddrPort
	Host string
	// HTTP2 is HTTP/2 with prior knowledge rather than HTTP/1.1.
	HTTP2 bool
	// Connections is how many there are, opened before the first attempt, and
	// Streams how many attempts each may have under way: 1 for HTTP/1.1.
	Connections, Streams int
	// Resource, Prefix and Method are what is asked about; the latter may be empty.
	Resource, Prefix, Method string
	// Keys is how many resources there are. More than 1 are called Resource-0,
	// Resource-1 and so on, and each attempt draws one: evenly, or with the skew
	// Zipf, more than 1, the first ones most often.
	Keys int
	Zipf float64
	// Rate makes an open loop: how many attempts are due in a second, evenly or,
	// with Poisson, at random. 0 is the closed loop.
	Rate    float64
	Poisson bool
	// Duration is how long attempts are due.
	Duration time.Duration
	// Timeout is how long an attempt waits for a connection, and then for its
	// answer, before it is lost.
	Timeout time.Duration
	// Progress is told once a second what there is so far; nil is nobody. The load
	// waits for it.
	Progress func(at time.Duration, sofar *Tally)
}

// MaxStreams bounds [Plan.Streams]: what a limiter permits.
const MaxStreams = 250

// Run carries the plan out until its time is over or ctx ends. Attempts that are due
// by then are still answered, or lost. The error says why it could not begin.
func (p *Plan) Run(ctx context.Context) (*Tally, error) {
	for _, part := range []string{p.Resource, p.Prefix, p.Method} {
		if strings.ContainsAny(part, "\x00\r\n") || strings.Trim(part, " \t") != part {
			return nil, fmt.Errorf("%q cannot be asked about: no HTTP field can carry it", part)
		}
	}
	r, err := newRunner(p)
	if err != nil {
		return nil, fmt.Errorf("prepare the load: %w", err)
	}
	defer r.close()
	if err := r.connect(ctx); err != nil {
		return nil, fmt.Errorf("%v: %w", p.Addr, err)
	}
	return r.run(ctx), nil
}

// Why an attempt has no answer.
var (
	errLate    = errors.New("it took too long")
	errUnasked = errors.New("all connections were busy for too long; more connections or streams may help")
	errClosed  = errors.New("the server has closed the connection")
	errReset   = errors.New("the server has reset the stream")
	errDeaf    = errors.New("the server does not read")
)
