package wire

import (
	"bytes"

	"github.com/levee-project/levee/internal/attempt"
)

// memo is a header block and what it says. Within a second a limiter answers
// most attempts with the same octets, and comparing them costs a tenth of decoding
// them.
type memo struct {
	block   []byte
	outcome attempt.Outcome
}

const longestMemo = 128

// memoFor returns the place for blocks that begin like this one: there is one for
// those that begin with status 200, and one for all others.
func (k *clientConn) memoFor(block []byte) *memo {
	if len(block) > 0 && block[0] == fieldStatus200[0] {
		return &k.memos[0]
	}
	return &k.memos[1]
}

// learn remembers a block, if it says the same whenever it comes, and is likely to
// come again.
func (m *memo) learn(block []byte, a *answerFields, o *attempt.Outcome) {
	if a.told == 0 && len(block) <= longestMemo && stateless(block) {
		m.block, m.outcome = append(m.block[:0], block...), *o
	}
}

// stateless reports whether a block that is well formed neither refers to the
// dynamic table nor changes it (RFC 7541, section 6). Forms that are rare count as
// if it did.
func stateless(block []byte) bool {
	for len(block) > 0 {
		b := block[0]
		block = block[1:]
		switch {
		case b&fieldIndexed != 0:
			if b &^= fieldIndexed; b >= firstDynamic {
				return false
			}
			continue
		case b >= fieldTableSize:
			return false
		case b&largestPlainName == 0: // the name is spelt out
			block = afterString(block)
		case b&largestPlainName == largestPlainName:
			if len(block) == 0 || int(block[0])+largestPlainName >= firstDynamic {
				return false
			}
			block = block[1:]
		}
		if block = afterString(block); block == nil {
			return false
		}
	}
	return true
}

// afterString returns what follows a string that is shorter than 127 bytes, or
// nil if b does not begin with one.
func afterString(b []byte) []byte {
	if len(b) == 0 || b[0]&0x7f == 0x7f || int(b[0]&0x7f) >= len(b) {
		return nil
	}
	return b[1+int(b[0]&0x7f):]
}

// same reports whether a block is the one that is remembered.
func (m *memo) same(block []byte) bool { return bytes.Equal(block, m.block) && len(block) > 0 }
