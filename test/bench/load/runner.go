package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sys/unix"
)

// runner is one run under way. It belongs to one goroutine.
type runner struct {
	plan    Plan
	poll    int // epoll
	events  []unix.EpollEvent
	conns   []*conn
	idle    chan *conn // open loop: those with nothing under way, longest first
	random  *rand.Rand
	began   time.Time
	asking  bool  // whether an answer is followed by a question
	due     int64 // open loop: when the next question is, in nanoseconds since began
	step    int64 // open loop: from one to the next
	pending int   // questions without an answer
	asked   uint64

	in  [64 << 10]byte // what a read brings; of no use after it
	out []byte
	got heard

	count counted
	total int
}

// counted is what grows while it counts.
type counted struct {
	statuses [600]int
	latency  Histogram
	from, to time.Duration
	cpu      time.Duration
}

func newRunner(p Plan) (*runner, error) {
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	r := &runner{
		plan: p, poll: poll, began: time.Now(), asking: true,
		events: make([]unix.EpollEvent, 1024),
		idle:   make(chan *conn, p.Connections),
		random: rand.New(rand.NewPCG(1, 2)), // the same keys in every run
		out:    make([]byte, 0, 64<<10),
	}
	if p.Rate > 0 {
		r.step = int64(float64(time.Second) / p.Rate)
	}
	for range p.Connections {
		if err := r.connect(); err != nil {
			r.close()
			return nil, err
		}
	}
	return r, nil
}

func (r *runner) connect() error {
	servers := r.plan.servers()
	to := servers[len(r.conns)%len(servers)]
	c, err := dial(r.plan, to)
	if err != nil {
		return fmt.Errorf("connect to %v: %w", to, err)
	}
	r.conns = append(r.conns, c)
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(len(r.conns) - 1)}
	return unix.EpollCtl(r.poll, unix.EPOLL_CTL_ADD, c.fd, &event)
}

func (r *runner) close() {
	for _, c := range r.conns {
		_ = unix.Close(c.fd)
	}
	_ = unix.Close(r.poll)
}

// run is the whole course: warm up, count, wait for what is under way.
func (r *runner) run(ctx context.Context) error {
	if err := r.greet(); err != nil {
		return err
	}
	r.due = r.now()
	if err := r.until(ctx, time.Since(r.began)+r.plan.Warm); err != nil {
		return err
	}
	if err := call(r.plan.Begin); err != nil {
		return err
	}
	cpu := ownCPU()
	r.count = counted{from: time.Since(r.began)}
	if err := r.until(ctx, r.count.from+r.plan.For); err != nil {
		return err
	}
	result := r.count
	result.to, result.cpu = time.Since(r.began), ownCPU()-cpu
	if err := call(r.plan.End); err != nil {
		return err
	}
	err := r.drain(ctx)
	r.count = result
	return err
}

func call(hook func() error) error {
	if hook == nil {
		return nil
	}
	return hook()
}

// greet says what comes first on each connection, and in a closed loop asks the
// first questions.
func (r *runner) greet() error {
	for _, c := range r.conns {
		r.out = c.dialect.hello(r.out[:0])
		if r.plan.Rate > 0 {
			r.idle <- c
		} else {
			for range r.plan.InFlight {
				if err := r.ask(c, r.now()); err != nil {
					return err
				}
			}
		}
		if err := c.write(r.out); err != nil {
			return err
		}
	}
	return nil
}

// until keeps the load up until the run is so old.
func (r *runner) until(ctx context.Context, end time.Duration) error {
	wait := 100 // ms
	if r.plan.Rate > 0 || r.plan.Beside != nil {
		wait = 0 // the core is ours: nothing is as punctual as looking
	}
	for {
		now := time.Since(r.began)
		if now >= end {
			return nil
		}
		if err := r.turn(ctx, wait); err != nil {
			return err
		}
	}
}

// drain waits for the answers that are still under way.
func (r *runner) drain(ctx context.Context) error {
	r.asking = false
	for limit := time.Now().Add(silence); r.pending > 0; {
		if time.Now().After(limit) {
			return fmt.Errorf("%d questions have no answer after %v", r.pending, silence)
		}
		if err := r.turn(ctx, 100); err != nil {
			return err
		}
	}
	return nil
}

// now is the time since the run began, in nanoseconds and above 0.
func (r *runner) now() int64 { return int64(time.Since(r.began)) + 1 }

func (r *runner) result() *Tally {
	t := &Tally{
		Answers: map[int]int{}, Took: r.count.to - r.count.from,
		Latency: r.count.latency, CPU: r.count.cpu, Total: r.total,
	}
	for status, n := range r.count.statuses {
		if n > 0 {
			t.Answers[status] = n
			t.Requests += n
		}
	}
	return t
}

// ownCPU is what this process has used so far.
func ownCPU() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0 // never: the arguments are right
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
