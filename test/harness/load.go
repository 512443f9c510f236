package harness

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// Load asks one question over and over, by many connections at once, at little
// cost: the octets of the request are made once, several are sent in one write
// (pipelining), and of the answers only the status is looked at.
type Load struct {
	// Addr is the serving port, ip:port.
	Addr string
	// Addrs are several, instead of Addr: connections are dealt to them in turn.
	Addrs []string
	// Request is the octets to send; see AttemptText.
	Request []byte
	// Connections is how many connections ask at once.
	Connections int
	// Rate is how many requests are due in a second, over all connections. A
	// server that is slower gets fewer. 0 means as many as it answers.
	Rate float64
	// Batch is the most requests that a connection has under way.
	Batch int
	// For is how long requests are sent.
	For time.Duration
}

// Tally is what came of a load.
type Tally struct {
	// Sent is how many requests were sent; each was answered.
	Sent int
	// Answers counts them by status.
	Answers map[int]int
	// Took is the time from before the first request to after the last answer.
	Took time.Duration
	// Slowest is the longest time from a write to the last answer to it.
	Slowest time.Duration
}

// PerSecond is a count of the tally as a rate.
func (t Tally) PerSecond(n int) float64 { return float64(n) / t.Took.Seconds() }

// Run sends the load and waits for the last answer. The error is the first
// connection's that failed.
func (l Load) Run(ctx context.Context) (Tally, error) {
	ctx, cancel := context.WithTimeout(ctx, l.For+answerTime)
	defer cancel()
	conns, err := l.connect(ctx)
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	if err != nil {
		return Tally{}, err
	}
	var (
		all     = make([]Tally, len(conns))
		errs    = make([]error, len(conns))
		workers sync.WaitGroup
		began   = time.Now()
	)
	for i, c := range conns {
		workers.Go(func() { all[i], errs[i] = l.drive(c, began, i) })
	}
	workers.Wait()
	sum := Tally{Took: time.Since(began), Answers: map[int]int{}}
	for i, t := range all {
		if errs[i] != nil {
			return Tally{}, errs[i]
		}
		sum.Sent += t.Sent
		sum.Slowest = max(sum.Slowest, t.Slowest)
		for status, n := range t.Answers {
			sum.Answers[status] += n
		}
	}
	return sum, nil
}

func (l Load) connect(ctx context.Context) (conns []net.Conn, err error) {
	addrs := l.Addrs
	if len(addrs) == 0 {
		addrs = []string{l.Addr}
	}
	for i := range l.Connections {
		c, err := dial(ctx, addrs[i%len(addrs)])
		if err != nil {
			return conns, err
		}
		conns = append(conns, c)
		if err := c.SetDeadline(time.Now().Add(l.For + answerTime)); err != nil {
			return conns, err
		}
	}
	return conns, nil
}

// drive is one connection's share. Each request has its time; those of the
// connections, of which this is the number-th, take turns, so that requests come
// evenly. What is overdue goes in one write.
func (l Load) drive(c net.Conn, began time.Time, number int) (Tally, error) {
	var (
		t     = Tally{Answers: map[int]int{}}
		in    = bufio.NewReader(c)
		batch = bytes.Repeat(l.Request, l.Batch)
		share = l.Rate / float64(l.Connections)
		turn  = float64(number) / float64(l.Connections)
		end   = began.Add(l.For)
	)
	for now := time.Now(); now.Before(end); now = time.Now() {
		n := l.Batch
		if l.Rate > 0 {
			due := share*now.Sub(began).Seconds() - turn - float64(t.Sent)
			if due < 0 {
				time.Sleep(time.Duration(-due / share * float64(time.Second)))
				continue
			}
			n = min(n, int(due)+1)
		}
		if _, err := c.Write(batch[:n*len(l.Request)]); err != nil {
			return t, fmt.Errorf("send: %w", err)
		}
		t.Sent += n
		if err := t.read(in, n); err != nil {
			return t, err
		}
		t.Slowest = max(t.Slowest, time.Since(now))
	}
	return t, nil
}

// read counts n answers.
func (t *Tally) read(in *bufio.Reader, n int) error {
	for range n {
		status, _, err := readAnswer(in)
		if err != nil {
			return err
		}
		t.Answers[status]++
	}
	return nil
}
