package hotkeys

import (
	"hash/maphash"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/quota"
)

// bucket is what is to be counted, and for how much.
type bucket struct {
	attempt *attempt.Attempt
	level   attempt.Level
	id      uint64 // keyed hash of the whole name
	digest  uint64 // the same for everybody; 0 of a name that is shown whole

	weight, variance float64
}

// find hashes the name.
func (b *bucket) find(seed maphash.Seed) {
	if !quota.IsShort(b.attempt) {
		b.findLong(seed)
		return
	}
	var buf [quota.ShortBucket]byte
	b.id = maphash.Bytes(seed, quota.AppendBucket(buf[:0], b.level, b.attempt))
}

// findLong is find for long keys. It is not inlined, so that its buffer is not
// part of its caller's stack frame.
//
//go:noinline
func (b *bucket) findLong(seed maphash.Seed) {
	var buf [quota.LongBucket]byte
	whole := quota.AppendBucket(buf[:0], b.level, b.attempt)
	b.id = maphash.Bytes(seed, whole)
	if len(whole) > quota.ShortBucket {
		b.digest = max(1, xxhash.Sum64(whole))
	}
}

// label is a name as it is kept: its parts, cut to what there is room for.
type label struct {
	text    [quota.ShortBucket]byte
	lengths [3]uint8 // of the resource, the prefix and the method in text
	level   attempt.Level
	digest  uint64
}

func (l *label) set(b *bucket) {
	a := b.attempt
	parts := [3][]byte{a.Resource}
	switch b.level {
	case attempt.Full:
		parts[1], parts[2] = a.Prefix, a.Method
	case attempt.Method:
		parts[2] = a.Method
	}
	longest, at := fit(parts, len(l.text)), 0
	for i, part := range parts {
		l.lengths[i] = uint8(copy(l.text[at:], part[:min(len(part), longest)]))
		at += int(l.lengths[i])
	}
	l.level, l.digest = b.level, b.digest
}

// fit returns the length to which parts are cut to fit into room together: the
// longest ones first.
func fit(parts [3][]byte, room int) int {
	lengths := [3]int{len(parts[0]), len(parts[1]), len(parts[2])}
	slices.Sort(lengths[:])
	for i, length := range lengths {
		even := room / (len(lengths) - i)
		if length > even {
			return even
		}
		room -= length
	}
	return lengths[2]
}

// parts returns what is kept.
func (l *label) parts() (resource, prefix, method string) {
	text, r, p := l.text[:], l.lengths[0], l.lengths[1]
	resource, text = string(text[:r]), text[r:]
	prefix, text = string(text[:p]), text[p:]
	return resource, prefix, string(text[:l.lengths[2]])
}
