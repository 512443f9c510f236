package hpack

import (
	"encoding/binary"
	"slices"
)

// appendHuffman appends what a Huffman coded string stands for, and reports
// whether the string was well formed (RFC 7541 section 5.2).
//
// The next bits are kept inverted at the top of a window. Padding is all ones, so
// that the zeros which follow the last bit in the window are already it. The first
// 12 bits of the window pick an entry of huffmanPairs, that is one or two symbols;
// it is empty for longer codes, those of rare symbols.
func appendHuffman(dst, src []byte) ([]byte, bool) {
	n := len(dst)
	// The shortest code is of 5 bits. One byte more, since symbols are written in
	// pairs.
	dst = slices.Grow(dst, len(src)*8/5+1)
	dst = dst[:cap(dst)]
	var window uint64
	var bits uint // how many of the window are of the string
	for {
		window, bits, src = refill(window, bits, src)
		if bits < burst*pairBits {
			break // src is used up
		}
		if huffmanPairs[window>>(64-pairBits)] == 0 {
			symbol, length := huffmanCode.find(window)
			if symbol == endOfString || length > bits {
				return dst[:n], false
			}
			dst[n] = byte(symbol)
			n++
			window <<= length & 63
			bits -= length
			continue
		}
		for range burst { // without a look at bits; an empty entry changes nothing
			p := huffmanPairs[window>>(64-pairBits)]
			binary.LittleEndian.PutUint16(dst[n:], p.symbols())
			n += p.count()
			window <<= p.bits() & 63
			bits -= p.bits()
		}
	}
	return finishHuffman(dst, n, window, bits)
}

// burst is how many pairs are taken between two refills of the window.
const burst = 4

// finishHuffman takes the bits that are left, and checks the padding: at most 7
// bits, all ones.
func finishHuffman(dst []byte, n int, window uint64, bits uint) ([]byte, bool) {
	for {
		p := huffmanPairs[window>>(64-pairBits)]
		if p == 0 {
			if bits <= pairBits {
				break // nothing but padding: a code that is left would be a pair
			}
			symbol, length := huffmanCode.find(window)
			if symbol == endOfString {
				break
			}
			p = single(symbol, length)
		}
		if p.bits() > bits {
			// The second symbol is made of padding; so may be the first.
			p = p.first()
			if p.bits() > bits {
				break
			}
		}
		binary.LittleEndian.PutUint16(dst[n:], p.symbols())
		n += p.count()
		window <<= p.bits() & 63
		bits -= p.bits()
	}
	return dst[:n], bits < 8 && window == 0
}

// refill adds bits to the window until it has more than 56, or src is used up.
func refill(window uint64, bits uint, src []byte) (uint64, uint, []byte) {
	if len(src) >= 8 {
		// What is less than a byte is added again next time, and is the same then.
		window |= ^binary.BigEndian.Uint64(src) >> (bits & 63)
		return window, bits | 56, src[(63-bits)>>3:]
	}
	for ; bits <= 56 && len(src) > 0; src = src[1:] {
		window |= uint64(^src[0]) << (56 - bits)
		bits += 8
	}
	return window, bits, src
}
