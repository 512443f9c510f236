package hotkeys

// indexes is the size of the index: a power of two, and half of it is free.
const indexes = 2 * Slots

// look returns the slot of a bucket, or -1 and where the index has room for it.
// The hashes are keyed, so nobody can have many begin at one place.
func (l *list) look(id uint64) (slot, at int) {
	for at = int(id % indexes); ; at = (at + 1) % indexes {
		i := int(l.index[at]) - 1
		if i < 0 || l.slots[i].id == id {
			return i, at
		}
	}
}

// forget takes a bucket out of the index. Those behind it move up, so that
// looking needs no marks of what was deleted.
func (l *list) forget(id uint64) {
	_, hole := l.look(id)
	for at := (hole + 1) % indexes; l.index[at] != 0; at = (at + 1) % indexes {
		home := int(l.slots[l.index[at]-1].id % indexes)
		if (at-home+indexes)%indexes >= (at-hole+indexes)%indexes {
			l.index[hole] = l.index[at]
			hole = at
		}
	}
	l.index[hole] = 0
}
