package keytable

import "github.com/levee-project/levee/internal/gcra"

// Debt is one bucket that owes something, in a form that outlives the process.
type Debt struct {
	Hash  uint64 // first half of the bucket's hash under the table's key
	Place uint64 // 32 more bits of it, and the shard above them
	Stamp uint32 // names the emission interval; see gcra.Stamp
	Owes  int64  // TAT − now in nanoseconds, above 0
}

// Key returns the secret that the debts of this table belong to.
func (t *Table) Key() Key { return t.key }

// Debts calls yield with every debt at the time now, until yield returns false.
// Decisions that are taken meanwhile may or may not be seen.
func (t *Table) Debts(now int64, yield func(Debt) bool) {
	for n := range t.shards {
		for _, d := range t.shards[n].debts(now, uint64(n)) {
			if !yield(d) {
				return
			}
		}
	}
}

func (sh *shard) debts(now int64, number uint64) (list []Debt) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	p := sh.slots.Load()
	if p == nil {
		return nil
	}
	for i := 0; i < len(*p); i += slotWords {
		b, ok := p.id(i)
		if tat := p.tat(i); ok && tat > now {
			list = append(list, Debt{Hash: b.hash, Place: number<<32 | uint64(b.more), Stamp: p.stamp(i), Owes: tat - now})
		}
	}
	return list
}

// Restore puts a saved debt back into a table with the same key, unless the
// table knows the bucket already or is full. It reports whether it did.
func (t *Table) Restore(now int64, d Debt) bool {
	number := uint32(d.Place>>32) % shardCount
	b := id{hash: d.Hash, more: uint32(d.Place), shard: number}
	if d.Owes <= 0 || d.Owes > gcra.Horizon || b.hash <= deleted || !t.reserve() {
		return false
	}
	sh := &t.shards[number]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if _, i := sh.lookup(b); i >= 0 {
		t.count.Add(-1)
		return false
	}
	sh.insert(b, d.Stamp, now+d.Owes)
	return true
}
