package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/connectivity"

	"github.com/levee-project/levee/internal/tree"
)

const (
	// silentProbes is how many probes may be answered while the watch, asked
	// each time, says nothing.
	silentProbes = 5
	// Responses that come within lingerQuiet of each other make one tree, for
	// lingerMax at most: a script that writes a thousand keys does not make a
	// thousand trees.
	lingerQuiet = 2 * time.Millisecond
	lingerMax   = 50 * time.Millisecond
)

var (
	errLost   = errors.New("the connection was lost")
	errSilent = errors.New("the watch is silent though etcd answers")
	errClosed = errors.New("the watch was closed")
)

// session is one connection's life: list, watch, end.
type session struct {
	conf    Config
	handOut func(*tree.Tree) // the tree is known; called again at each change
}

// run returns when the picture may be wrong or ctx ends, never without an
// error. All it started has ended by then.
func (s *session) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	client, err := s.conf.Dial(ctx)
	if err != nil {
		cancel()
		return err
	}
	var wg sync.WaitGroup
	defer func() {
		cancel()
		wg.Wait()
		_ = client.Close() // it says that ctx has ended
	}()
	l, err := s.conf.list(ctx, client)
	if err != nil {
		return err
	}
	s.handOut(l.tree())
	// From the revision that is listed already, not the next: etcd reports no
	// progress of a watch that starts in the future, so that one of an idle tree
	// would look dead.
	watch, err := s.watch(ctx, cancel, client, l.revision)
	if err != nil {
		return err
	}
	heard := &mark{}
	heard.raise(l.revision)
	p := &probe{client: client, key: s.conf.root(), timeout: s.conf.Timeout / 2, listed: l.header.Header, heard: heard}
	probes := make(chan error)
	wg.Go(func() { p.run(ctx, s.conf.ProbeInterval, probes) })
	wg.Go(func() { lost(ctx, client, probes) })
	return s.follow(ctx, l.picture, heard, watch, probes)
}

// lost waits until no member is connected any more. The client would connect
// again by itself and resume the watch, but what comes back may be a restored
// cluster that has reached the watch's revision by another history.
func lost(ctx context.Context, client *clientv3.Client, out chan<- error) {
	if !client.ActiveConnection().WaitForStateChange(ctx, connectivity.Ready) {
		return
	}
	select {
	case <-ctx.Done():
	case out <- errLost:
	}
}

// watch opens the watch. The client would try for ever, so the session ends if
// it takes too long.
func (s *session) watch(ctx context.Context, end context.CancelFunc, client *clientv3.Client, from int64) (clientv3.WatchChan, error) {
	late := time.AfterFunc(s.conf.Timeout, end)
	watch := client.Watch(clientv3.WithRequireLeader(ctx), s.conf.root(), clientv3.WithPrefix(), clientv3.WithRev(from))
	if !late.Stop() {
		return nil, fmt.Errorf("watch %s: not opened within %v", s.conf.root(), s.conf.Timeout)
	}
	return watch, nil
}

// follow keeps the picture current and hands out a tree for each change.
func (s *session) follow(ctx context.Context, p *picture, heard *mark, watch clientv3.WatchChan, probes <-chan error) error {
	silent := 0
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-probes:
			if err != nil {
				return err
			}
			if silent++; silent > silentProbes {
				return errSilent
			}
		case resp, ok := <-watch:
			silent = 0
			before := p.revision
			if err := gather(p, heard, watch, resp, ok); err != nil {
				return fmt.Errorf("watch %s: %w", s.conf.root(), err)
			}
			if p.revision != before {
				s.handOut(p.tree())
			}
		}
	}
}

// gather takes one response in and those that follow closely.
func gather(p *picture, heard *mark, watch clientv3.WatchChan, resp clientv3.WatchResponse, ok bool) error {
	end := time.Now().Add(lingerMax)
	quiet := time.NewTimer(lingerQuiet)
	defer quiet.Stop()
	for {
		if !ok {
			return errClosed
		}
		if err := resp.Err(); err != nil {
			return err
		}
		if err := p.apply(resp.Events); err != nil {
			return err
		}
		heard.raise(resp.Header.Revision)
		if len(resp.Events) == 0 || time.Now().After(end) {
			return nil
		}
		quiet.Reset(lingerQuiet)
		select {
		case resp, ok = <-watch:
		case <-quiet.C:
			return nil
		}
	}
}
