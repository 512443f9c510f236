package quota

import (
	"encoding/binary"

	"github.com/levee-project/levee/internal/attempt"
)

// Sizes of a bucket's name. Whoever builds one does so in a buffer on the stack;
// every call pays for zeroing it, and hardly any needs the large one.
const (
	// ShortBucket has room for the names of attempts that IsShort.
	ShortBucket = 192
	// LongBucket has room for all names.
	LongBucket = 3*attempt.MaxKeyPart + lengths

	lengths = 8 // of resource and prefix: at most
)

// IsShort says whether the name of a's bucket fits into ShortBucket bytes.
func IsShort(a *attempt.Attempt) bool {
	return len(a.Resource)+len(a.Prefix)+len(a.Method)+lengths <= ShortBucket
}

// AppendBucket appends to dst the name of the bucket that a draws from when its
// quota was found at level: the tuple of resource, prefix and method, cut to the
// level. Different tuples have different names, also where their parts joined by
// slashes would be equal; the same tuple has the same name by whichever attempt
// it is reached. At level None no bucket is drawn from, and the name is that of
// the resource.
//
// The resource and the prefix follow their lengths, the method is the rest. An
// absent part is an empty one.
func AppendBucket(dst []byte, level attempt.Level, a *attempt.Attempt) []byte {
	var prefix, method []byte
	switch level {
	case attempt.Full:
		prefix, method = a.Prefix, a.Method
	case attempt.Method:
		method = a.Method
	}
	dst = appendPart(dst, a.Resource)
	if len(prefix) == 0 {
		dst = append(dst, 0)
	} else {
		dst = appendPart(dst, prefix)
	}
	return append(dst, method...)
}

// appendPart appends a part after its length. Nearly all lengths are one byte, for
// which the general way has twice the instructions.
func appendPart(dst, part []byte) []byte {
	if n := len(part); n < 0x80 {
		dst = append(dst, byte(n))
	} else {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return append(dst, part...)
}
