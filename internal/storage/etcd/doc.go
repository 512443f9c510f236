// Package etcd is the store of a cluster: the shared tree as keys below a
// prefix of an etcd cluster, version 3.4 or later.
//
// A [Store] lives in sessions. A session connects, lists everything below the
// prefix at one revision, and watches from the next. It ends at whatever may
// have made its picture wrong: an error, a compaction that overtook the watch,
// another leader, a revision that went backwards, a watch that went silent. The
// next session starts from a new list. So there is one way to catch up, and it
// is the way every start takes.
//
// That etcd answers is not the same as that the watch is alive: a watch on a
// restored cluster waits quietly for a revision that is long past. A probe, a
// small read once a second, tells the two apart, and asks the watch to show
// that it is alive.
package etcd
