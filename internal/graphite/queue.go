package graphite

import (
	"context"
	"slices"
	"sync"
)

// Bounds of what waits for a collector that is away. The newest poll is kept
// however large it is.
const (
	maxPolls = 20 // five minutes, unless graphite-interval says otherwise
	maxBytes = 4 << 20
)

// queue is polls that wait to be sent.
type queue struct {
	mu    sync.Mutex // guards the rest
	polls []poll     // the oldest first
	bytes int

	news  chan struct{} // told of a poll
	ended chan struct{} // closed when there will be no more
}

func newQueue() *queue {
	return &queue{news: make(chan struct{}, 1), ended: make(chan struct{})}
}

// put adds a poll and returns how many lines of the oldest had to go for it.
func (q *queue) put(p poll) (dropped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.polls = append(q.polls, p)
	q.bytes += len(p.lines)
	old := 0
	for ; len(q.polls)-old > 1 && (len(q.polls)-old > maxPolls || q.bytes > maxBytes); old++ {
		q.bytes -= len(q.polls[old].lines)
		dropped += q.polls[old].count
	}
	q.polls = slices.Delete(q.polls, 0, old)
	select {
	case q.news <- struct{}{}:
	default: // it has been told, and has not looked yet
	}
	return dropped
}

// take removes the poll that is to be sent next: the oldest one, or the newest
// one when there will be no more.
func (q *queue) take() (p poll, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.polls) == 0 {
		return poll{}, false
	}
	i := 0
	if q.closed() {
		i = len(q.polls) - 1
	}
	p = q.polls[i]
	q.polls = slices.Delete(q.polls, i, i+1)
	q.bytes -= len(p.lines)
	return p, true
}

// wait is take that waits for a poll. It returns false when there will be none,
// or ctx has ended.
func (q *queue) wait(ctx context.Context) (poll, bool) {
	for {
		last := q.closed()
		if p, ok := q.take(); ok || last {
			return p, ok
		}
		select {
		case <-q.news:
		case <-q.ended:
		case <-ctx.Done():
			return poll{}, false
		}
	}
}

// close says that there will be no more.
func (q *queue) close() { close(q.ended) }

func (q *queue) closed() bool {
	select {
	case <-q.ended:
		return true
	default:
		return false
	}
}

// clear drops what is left and returns how many lines that is.
func (q *queue) clear() (dropped int) {
	for p, ok := q.take(); ok; p, ok = q.take() {
		dropped += p.count
	}
	return dropped
}
