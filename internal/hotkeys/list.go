package hotkeys

// list is the buckets with the largest counts, or what may be the largest. The
// counts make a heap, the smallest first.
type list struct {
	used   int
	total  float64         // of all that was ever added, decayed
	counts [Slots]float64  // by slot: what was taken over, and what was seen since
	heap   [Slots]uint16   // slots
	index  [indexes]uint16 // by hash: slot + 1, or 0
	slots  [Slots]slot
}

// slot is a bucket in the list.
type slot struct {
	id       uint64  // hash of its name
	taken    float64 // over from the bucket that was here before
	variance float64 // of what was seen since
	place    uint16  // in the heap
	label    label
}

// add counts a bucket.
func (l *list) add(b *bucket) {
	l.total += b.weight
	i, at := l.look(b.id)
	if i < 0 {
		i = l.admit(b, at)
	}
	l.counts[i] += b.weight
	l.slots[i].variance += b.variance
	l.slots[i].label.level = b.level
	l.sink(int(l.slots[i].place))
}

// admit gives a new bucket a slot: a free one, or that of the smallest count, which
// it takes over. at is where the index is free.
func (l *list) admit(b *bucket, at int) int {
	var i int
	if l.used < Slots {
		i = l.used
		l.used++
		l.counts[i] = 0
		l.heap[i] = uint16(i)
		l.slots[i].place = uint16(i)
		l.rise(i)
	} else {
		i = int(l.heap[0])
		l.forget(l.slots[i].id)
		_, at = l.look(b.id) // entries may have moved
	}
	s := &l.slots[i]
	s.id, s.taken, s.variance = b.id, l.counts[i], 0
	s.label.set(b)
	l.index[at] = uint16(i + 1)
	return i
}

// sink moves a slot whose count has grown away from the top of the heap.
func (l *list) sink(p int) {
	i := l.heap[p]
	count := l.counts[i]
	for {
		child := 2*p + 1
		if child >= l.used {
			break
		}
		if next := child + 1; next < l.used && l.counts[l.heap[next]] < l.counts[l.heap[child]] {
			child = next
		}
		if count <= l.counts[l.heap[child]] {
			break
		}
		l.put(l.heap[child], p)
		p = child
	}
	l.put(i, p)
}

// rise moves a slot whose count is small towards the top of the heap.
func (l *list) rise(p int) {
	i := l.heap[p]
	for p > 0 {
		parent := (p - 1) / 2
		if l.counts[l.heap[parent]] <= l.counts[i] {
			break
		}
		l.put(l.heap[parent], p)
		p = parent
	}
	l.put(i, p)
}

func (l *list) put(slot uint16, p int) {
	l.heap[p] = slot
	l.slots[slot].place = uint16(p)
}

// decay makes all counts smaller. Their order stays.
func (l *list) decay(f float64) {
	l.total *= f
	for i := range l.used {
		l.counts[i] *= f
		l.slots[i].taken *= f
		l.slots[i].variance *= f * f
	}
}

// smallest is the count that the next bucket would take over.
func (l *list) smallest() float64 {
	if l.used < Slots {
		return 0
	}
	return l.counts[l.heap[0]]
}
