package etcd

import (
	"context"
	"fmt"
	"slices"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// faulty stands in for etcd's answers where the real one, which the tests of
// the module test use, cannot be made to fail at the right moment.
type faulty struct {
	clientv3.KV
	clientv3.Watcher

	cluster, term uint64
	revision      int64
	keys          []string          // all there are, sorted
	fail          func(n int) error // what the n-th read fails with, from 1; nil for nothing
	asked         []clientv3.Op     // the reads
	progress      int               // requests for progress
}

// client is a client of the faulty etcd.
func (f *faulty) client(ctx context.Context) *clientv3.Client {
	c := clientv3.NewCtxClient(ctx)
	c.KV, c.Watcher = f, f
	return c
}

// Get answers like etcd: a range in order of keys, up to the limit, the value
// of each key being the revision read at.
func (f *faulty) Get(_ context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	op := clientv3.OpGet(key, opts...)
	f.asked = append(f.asked, op)
	if f.fail != nil {
		if err := f.fail(len(f.asked)); err != nil {
			return nil, err
		}
	}
	revision := op.Rev()
	if revision == 0 {
		revision = f.revision
	}
	resp := &clientv3.GetResponse{Header: &etcdserverpb.ResponseHeader{ClusterId: f.cluster, RaftTerm: f.term, Revision: f.revision}}
	from, _ := slices.BinarySearch(f.keys, key)
	for _, k := range f.keys[from:] {
		if k >= string(op.RangeBytes()) {
			break
		}
		if int64(len(resp.Kvs)) == op.Limit() {
			resp.More = true
			break
		}
		resp.Kvs = append(resp.Kvs, &mvccpb.KeyValue{Key: []byte(k), Value: fmt.Append(nil, revision)})
	}
	return resp, nil
}

func (f *faulty) RequestProgress(context.Context) error {
	f.progress++
	return nil
}

// put is an event of a watch.
func put(key, value string, revision int64) *clientv3.Event {
	return &clientv3.Event{Type: clientv3.EventTypePut, Kv: &mvccpb.KeyValue{Key: []byte(key), Value: []byte(value), ModRevision: revision}}
}

func deleted(key string, revision int64) *clientv3.Event {
	return &clientv3.Event{Type: clientv3.EventTypeDelete, Kv: &mvccpb.KeyValue{Key: []byte(key), ModRevision: revision}}
}

// response is what a watch brings, at the revision of its last event.
func response(events ...*clientv3.Event) clientv3.WatchResponse {
	last := events[len(events)-1].Kv.ModRevision
	return clientv3.WatchResponse{Header: &etcdserverpb.ResponseHeader{Revision: last}, Events: events}
}

// progress is the answer to a request for it.
func progress(revision int64) clientv3.WatchResponse {
	return clientv3.WatchResponse{Header: &etcdserverpb.ResponseHeader{Revision: revision}}
}

// hanging is an etcd that does not answer.
type hanging struct{ clientv3.KV }

func (hanging) Get(ctx context.Context, _ string, _ ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
