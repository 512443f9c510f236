package etcd

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// mark is the newest revision of the store that a session has heard of, by
// whatever way. Safe for use by several goroutines.
type mark struct{ revision atomic.Int64 }

func (m *mark) raise(to int64) {
	for {
		now := m.revision.Load()
		if to <= now || m.revision.CompareAndSwap(now, to) {
			return
		}
	}
}

// probe asks, once every interval, whether the cluster is still there and still
// the one that was listed.
type probe struct {
	client  *clientv3.Client
	key     string // any key below the prefix, which the user may read
	timeout time.Duration
	listed  *etcdserverpb.ResponseHeader
	heard   *mark
}

// run sends the outcome of each probe until one fails or ctx ends.
func (p *probe) run(ctx context.Context, every time.Duration, out chan<- error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := p.once(ctx)
		select {
		case <-ctx.Done():
			return
		case out <- err:
		}
		if err != nil {
			return
		}
	}
}

// once asks the cluster, then asks the watch to report its progress. The read
// is a linearizable one: it needs a leader, and it sees every change that was
// heard of before it was sent.
func (p *probe) once(ctx context.Context) error {
	known := p.heard.revision.Load()
	resp, err := get(ctx, p.client, p.timeout, p.key, clientv3.WithCountOnly())
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	switch h := resp.Header; {
	case h.ClusterId != p.listed.ClusterId:
		return fmt.Errorf("another cluster answers: id %x, was %x", h.ClusterId, p.listed.ClusterId)
	case h.Revision < known:
		return fmt.Errorf("the revision went back from %d to %d, as after a restore from a backup", known, h.Revision)
	case h.RaftTerm != p.listed.RaftTerm:
		return fmt.Errorf("a new leader was elected: term %d, was %d", h.RaftTerm, p.listed.RaftTerm)
	}
	p.heard.raise(resp.Header.Revision)
	ctx, cancel := context.WithTimeout(clientv3.WithRequireLeader(ctx), p.timeout)
	defer cancel()
	if err := p.client.RequestProgress(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("probe the watch: %w", err)
	}
	return nil
}
