package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// listAttempts is how often a list starts over because a compaction removed the
// revision it was reading.
const listAttempts = 3

// listing is a whole tree and the answer that its first page came with, which
// says what cluster, term and revision it is from.
type listing struct {
	*picture
	header *clientv3.GetResponse
}

// list reads everything below the root, page by page, all at the revision of
// the first page.
func (c Config) list(ctx context.Context, kv clientv3.KV) (listing, error) {
	for attempt := 1; ; attempt++ {
		l, err := c.listOnce(ctx, kv)
		if err == nil {
			return l, nil
		}
		if !errors.Is(err, rpctypes.ErrCompacted) || attempt == listAttempts {
			return listing{}, fmt.Errorf("list %s: %w", c.root(), err)
		}
	}
}

func (c Config) listOnce(ctx context.Context, kv clientv3.KV) (listing, error) {
	l := listing{picture: newPicture(c.root())}
	opts := []clientv3.OpOption{
		clientv3.WithRange(clientv3.GetPrefixRangeEnd(c.root())),
		clientv3.WithLimit(c.PageSize),
	}
	for from := c.root(); ; {
		page, err := get(ctx, kv, c.Timeout, from, append(opts, clientv3.WithRev(l.revision))...)
		if err != nil {
			return listing{}, err
		}
		if l.header == nil {
			l.header, l.revision = page, page.Header.Revision
		}
		for _, pair := range page.Kvs {
			if err := l.put(pair); err != nil {
				return listing{}, err
			}
		}
		if !page.More || len(page.Kvs) == 0 {
			return l, nil
		}
		// The smallest key after the last one.
		from = string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
	}
}

// get is one read with its deadline, and an error that says so when it passed.
func get(ctx context.Context, kv clientv3.KV, timeout time.Duration, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()
	resp, err := kv.Get(ctx, key, opts...)
	if err != nil && errors.Is(context.Cause(ctx), errTimeout) {
		return nil, fmt.Errorf("no answer within %v: %w", timeout, err)
	}
	return resp, reason(err)
}

var errTimeout = errors.New("timeout")
