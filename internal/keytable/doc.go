// Package keytable remembers the theoretical arrival time of each bucket, for
// tens of millions of them, and takes each decision as one atomic step.
//
// The table has no clock and starts no goroutine: time is an argument, and
// collecting idle buckets is a call.
//
// # Layout
//
// 1,024 shards, each an open-addressing array of 24-byte slots without
// pointers, so the garbage collector never looks inside and its cost does not
// grow with the keys. Shards are many so that each is small: growing one moves
// ten thousand slots when the table holds ten million, well under a
// millisecond, and only that shard's buckets wait. A slot is three words:
//
//	word 0  64 bits of the bucket's keyed hash; 0 free, 1 deleted
//	word 1  32 more bits of the hash, and 32 bits naming the emission interval
//	        under which the TAT was written (gcra.Stamp)
//	word 2  TAT in nanoseconds, or the mark "frozen"
//
// The hash is SipHash-2-4-128 under a secret key: 96 bits in the slot and 10 in
// the choice of the shard tell the buckets apart. At a hundred million buckets
// the chance that any two are mixed up is below 1e-15, and who does not know
// the key cannot look for such a pair.
//
// # Concurrency
//
// A bucket that is known is decided by one compare-and-swap of its TAT, without
// a lock. A shard's lock is taken to insert, to grow, to delete, and when a
// bucket meets a new emission interval. Whoever holds the lock and is about to
// move or change a slot first swaps its TAT for "frozen"; a decision that finds
// this waits for the lock and looks again. So no decision is ever made on a
// value that has moved away, and nothing is lost between two arrays.
package keytable
