package etcd

import (
	"fmt"
	"maps"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/levee-project/levee/internal/tree"
)

// picture is what a session knows of the tree: the only copy that changes.
type picture struct {
	root     string // prefix of every key, with its slash
	entries  map[string]string
	size     int   // bytes of keys and values
	revision int64 // of the last change taken in
}

func newPicture(root string) *picture {
	return &picture{root: root, entries: map[string]string{}}
}

// put takes one pair of etcd in. A key that is the root alone names no entry.
func (p *picture) put(kv *mvccpb.KeyValue) error {
	key, value := strings.TrimPrefix(string(kv.Key), p.root), string(kv.Value)
	if key == "" {
		return nil
	}
	p.remove(key)
	p.entries[key] = value
	p.size += len(key) + len(value)
	if p.size > maxTree {
		return fmt.Errorf("more than %d MiB below %s", maxTree>>20, p.root)
	}
	return nil
}

func (p *picture) remove(key string) {
	if old, ok := p.entries[key]; ok {
		p.size -= len(key) + len(old)
		delete(p.entries, key)
	}
}

// apply takes the events of one watch response in. They are all at revisions
// after the picture's, in order, and a transaction is never torn.
func (p *picture) apply(events []*clientv3.Event) error {
	for _, e := range events {
		if e.Type == clientv3.EventTypeDelete {
			p.remove(strings.TrimPrefix(string(e.Kv.Key), p.root))
		} else if err := p.put(e.Kv); err != nil {
			return err
		}
		p.revision = e.Kv.ModRevision
	}
	return nil
}

// tree is an immutable copy.
func (p *picture) tree() *tree.Tree {
	return &tree.Tree{Revision: p.revision, Entries: maps.Clone(p.entries)}
}
