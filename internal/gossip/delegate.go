package gossip

import (
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/levee-project/levee/internal/topology"
)

// delegate is what memberlist calls. It calls some of it with its own lock held,
// so nothing here calls memberlist.
type delegate struct{ n *Node }

// NodeMeta implements [memberlist.Delegate].
func (d delegate) NodeMeta(int) []byte {
	d.n.mu.Lock()
	defer d.n.mu.Unlock()
	meta, err := announce(&d.n.self) // fits: only State changes after Start
	if err != nil {
		d.n.log.Error("cannot announce this member", "err", err)
	}
	return meta
}

// NotifyJoin implements [memberlist.EventDelegate].
func (d delegate) NotifyJoin(node *memberlist.Node) {
	d.n.see(node)
	if !d.n.exchanged.Load() && node.Name != d.n.name {
		wake(d.n.hearsay)
	}
}

// NotifyUpdate implements [memberlist.EventDelegate].
func (d delegate) NotifyUpdate(node *memberlist.Node) { d.n.see(node) }

// NotifyLeave implements [memberlist.EventDelegate].
func (d delegate) NotifyLeave(node *memberlist.Node) {
	d.n.mu.Lock()
	defer d.n.mu.Unlock()
	delete(d.n.alive, node.Name)
	d.n.nodes.Store(int64(len(d.n.alive)))
	if d.n.left {
		return // the last view stands
	}
	d.n.tracker.Gone(time.Now(), node.Name)
	wake(d.n.news)
}

// see takes over what a node announces.
func (n *Node) see(node *memberlist.Node) {
	m, err := readNode(node)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.alive[node.Name] = m.Gossip
	n.nodes.Store(int64(len(n.alive)))
	switch {
	case n.left:
	case err != nil:
		n.complain(node.Name, "a node of the overlay is not understood, and not shown", "gossip", node.Address(), "err", err)
	default:
		n.tracker.Alive(time.Now(), node.Name, m)
		wake(n.news)
	}
}

// maxComplaints bounds how many names the log is told of, before it may be told
// of the same again.
const maxComplaints = 256

// complain counts what was not understood, and logs it once for a name.
func (n *Node) complain(name, what string, attrs ...any) {
	n.metrics.malformed.Inc()
	if n.unreadable[name] {
		return
	}
	if len(n.unreadable) >= maxComplaints {
		clear(n.unreadable)
	}
	n.unreadable[name] = true
	n.log.Warn(what, append([]any{"node", name}, attrs...)...)
}

// LocalState implements [memberlist.Delegate].
func (d delegate) LocalState(bool) []byte {
	d.n.mu.Lock()
	m := d.n.tracker.Memory(time.Now())
	d.n.mu.Unlock()
	text, err := encodeMemory(m)
	if err != nil {
		d.n.log.Error("cannot tell others who is silent", "err", err)
	}
	return text
}

// MergeRemoteState implements [memberlist.Delegate]. It comes last in an exchange
// with another member, after what that one knows of nodes.
func (d delegate) MergeRemoteState(text []byte, _ bool) {
	d.n.merge(text)
	d.n.exchanged.Store(true)
	d.n.setJoined()
}

// NotifyMsg implements [memberlist.Delegate]. A message reaches everybody because
// everybody for whom it is news passes it on.
func (d delegate) NotifyMsg(text []byte) {
	m, news := d.n.merge(text)
	if !news || len(text) > longestMessage {
		return
	}
	if err := d.n.spread(m); err != nil {
		d.n.log.Error("cannot pass a message on", "err", err)
	}
}

// merge takes over what another remembers.
func (n *Node) merge(text []byte) (m topology.Memory, news bool) {
	m, err := decodeMemory(text)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil {
		n.complain("memory", "what another member remembers is not understood, in part at least", "err", err)
	}
	news = !n.left && n.tracker.Merge(time.Now(), m)
	if news {
		wake(n.news)
	}
	return m, news
}

// longestMessage is the longest that is passed on, in bytes: it must fit into a
// packet. maxQueued bounds how many are on their way at once.
const (
	longestMessage = 1024
	maxQueued      = 64
)

// spread sends m to everybody.
func (n *Node) spread(m topology.Memory) error {
	text, err := encodeMemory(m)
	if err != nil {
		return err
	}
	n.queue.QueueBroadcast(message(text))
	n.queue.Prune(maxQueued)
	return nil
}

// GetBroadcasts implements [memberlist.Delegate].
func (d delegate) GetBroadcasts(overhead, limit int) [][]byte {
	return d.n.queue.GetBroadcasts(overhead, limit)
}

// message is news on its way; see [memberlist.Broadcast]. The same message takes
// the place of one that is still queued.
type message string

// Name implements [memberlist.NamedBroadcast].
func (m message) Name() string { return string(m) }

// Invalidates implements [memberlist.Broadcast].
func (m message) Invalidates(other memberlist.Broadcast) bool { return m == other }

// Message implements [memberlist.Broadcast].
func (m message) Message() []byte { return []byte(m) }

// Finished implements [memberlist.Broadcast].
func (message) Finished() {}
