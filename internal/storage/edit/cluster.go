package edit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/levee-project/levee/internal/storage/etcd"
	"github.com/levee-project/levee/internal/tree"
)

const (
	// AtOnce is the most changes that are made together in etcd, whose
	// transactions have at most 128 operations unless it is told otherwise.
	AtOnce = 128
	// maxBytes bounds the keys and values of one transaction; etcd takes requests
	// of 1.5 MiB.
	maxBytes = 1 << 20
)

// cluster is the tree in etcd.
type cluster struct{ conf etcd.Config }

// Read is what the daemons do, until the first tree.
func (c *cluster) Read(ctx context.Context) (*tree.Tree, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var read *tree.Tree
	var failed error
	err := etcd.New(c.conf, slog.New(slog.DiscardHandler)).Run(ctx, tree.Sink{
		Tree: func(t *tree.Tree) {
			read = t
			cancel()
		},
		Status: func(s tree.Status) {
			if s.Err != nil {
				failed = s.Err
				cancel()
			}
		},
	})
	switch {
	case read != nil:
		return read, nil
	case failed != nil:
		return nil, failed
	case err != nil:
		return nil, err
	}
	return nil, context.Cause(ctx) // it was interrupted
}

// Write makes transactions that are guarded by the values that were read.
func (c *cluster) Write(ctx context.Context, changes []Change, progress func(done int)) (int, error) {
	client, err := c.conf.Dial(ctx)
	if err != nil {
		return 0, c.failed("connect", err)
	}
	defer func() { _ = client.Close() }()
	done := 0
	for done < len(changes) {
		n := fitting(changes[done:])
		if err := c.transact(ctx, client, changes[done:done+n]); err != nil {
			return done, err
		}
		done += n
		if progress != nil {
			progress(done)
		}
	}
	return done, nil
}

// fitting returns how many of the changes one transaction takes, at least one.
func fitting(changes []Change) int {
	size := 0
	for i, ch := range changes[:min(len(changes), AtOnce)] {
		if size += 3*len(ch.Key) + length(ch.Old) + length(ch.New); size > maxBytes && i > 0 {
			return i
		}
	}
	return min(len(changes), AtOnce)
}

func length(s *string) int {
	if s == nil {
		return 0
	}
	return len(*s)
}

// transact makes all of the changes, or none.
func (c *cluster) transact(ctx context.Context, client *clientv3.Client, changes []Change) error {
	ctx, cancel := context.WithTimeout(ctx, c.conf.Timeout)
	defer cancel()
	root := strings.TrimRight(c.conf.Prefix, "/") + "/"
	var guards []clientv3.Cmp
	var writes, looks []clientv3.Op
	for _, ch := range changes {
		key := root + ch.Key
		guards = append(guards, guard(key, ch.Old))
		if ch.New == nil {
			writes = append(writes, clientv3.OpDelete(key))
		} else {
			writes = append(writes, clientv3.OpPut(key, *ch.New))
		}
		looks = append(looks, clientv3.OpGet(key))
	}
	resp, err := client.Txn(ctx).If(guards...).Then(writes...).Else(looks...).Commit()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return c.failed("write "+root+changes[0].Key,
			fmt.Errorf("no answer within %v: it may have been written or not", c.conf.Timeout))
	case err != nil:
		return c.failed("write "+root+changes[0].Key, err)
	case resp.Succeeded:
		return nil
	}
	for i, ch := range changes {
		found := resp.Responses[i].GetResponseRange().GetKvs()
		if (len(found) == 0) != (ch.Old == nil) || len(found) > 0 && string(found[0].Value) != *ch.Old {
			return conflict(ch.Key)
		}
	}
	return conflict(changes[0].Key)
}

// guard holds if the entry is as it was read.
func guard(key string, old *string) clientv3.Cmp {
	if old == nil {
		return clientv3.Compare(clientv3.CreateRevision(key), "=", 0)
	}
	return clientv3.Compare(clientv3.Value(key), "=", *old)
}

// failed names the cluster, and leaves out what gRPC wraps around the reason.
func (c *cluster) failed(what string, err error) error {
	if s, ok := status.FromError(err); ok && s.Code() == codes.Unavailable {
		err = errors.New(s.Message())
	}
	return fmt.Errorf("etcd at %s: %s: %w", strings.Join(c.conf.Endpoints, ", "), what, err)
}
