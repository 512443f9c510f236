package tree

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/cespare/xxhash/v2"
)

// Digest is the same for trees with the same entries, whatever their revisions,
// and, but for a chance in 2^64, other for others. Revisions do not tell that:
// whoever lists a store sees the latest revision of all that is in it, and whoever
// watches, that of the last change below its prefix.
func (t *Tree) Digest() string {
	var sum uint64 // a sum, so that the order does not matter
	var h xxhash.Digest
	for key, value := range t.Entries {
		h.Reset()
		_, _ = h.WriteString(key) // never fails
		_, _ = h.Write([]byte{0}) // no key contains it
		_, _ = h.WriteString(value)
		sum += h.Sum64()
	}
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, sum))
}
