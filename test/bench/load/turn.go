package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// turn takes what has arrived and asks what is due.
func (r *runner) turn(ctx context.Context, wait int) error {
	n, err := unix.EpollWait(r.poll, r.events, wait)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("epoll: %w", err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, event := range r.events[:max(n, 0)] {
		if err := r.serve(r.conns[event.Fd]); err != nil {
			return err
		}
	}
	if r.plan.Beside != nil {
		r.plan.Beside(time.Since(r.began))
	}
	if r.plan.Rate > 0 && r.asking {
		return r.askDue()
	}
	return nil
}

// serve reads what a connection has, takes the answers in it and, in a closed
// loop, asks as many new questions in one write.
func (r *runner) serve(c *conn) error {
	held := copy(r.in[:], c.rest)
	n, err := c.read(r.in[held:])
	if n == 0 || err != nil {
		return err
	}
	now := r.now()
	r.got = heard{answers: r.got.answers[:0], reply: r.out[:0]}
	used, err := c.dialect.hear(r.in[:held+n], &r.got)
	if err != nil {
		return err
	}
	c.rest = append(c.rest[:0], r.in[used:held+n]...)
	r.out = r.got.reply
	for _, a := range r.got.answers {
		since, err := c.answered(a.number)
		if err != nil {
			return err
		}
		r.count.statuses[a.status]++
		r.count.latency.Add(time.Duration(now - since))
	}
	return r.goOn(c, len(r.got.answers), now)
}

// goOn has a connection with so many new answers ask again.
func (r *runner) goOn(c *conn, answers int, now int64) error {
	r.pending -= answers
	r.total += answers
	for range answers {
		if r.plan.Rate > 0 {
			r.idle <- c
		} else if r.asking {
			if err := r.ask(c, now); err != nil {
				return err
			}
		}
	}
	return c.write(r.out)
}

// askDue asks what is due in an open loop, as far as connections are idle. What
// has to wait for one is asked later, and its wait is part of its latency.
func (r *runner) askDue() error {
	for now := r.now(); r.due <= now && len(r.idle) > 0; r.due += r.step {
		c := <-r.idle
		r.out = r.out[:0]
		if err := r.ask(c, r.due); err != nil {
			return err
		}
		if err := c.write(r.out); err != nil {
			return err
		}
	}
	return nil
}

// ask appends a question to the output.
func (r *runner) ask(c *conn, since int64) error {
	r.asked++
	id := r.asked * 0x9e3779b97f4a7c15 // all differ, in all their digits
	out, number := c.dialect.ask(r.out, r.random.IntN(r.plan.Keys), id)
	r.out = out
	r.pending++
	return c.ask(number, since)
}
