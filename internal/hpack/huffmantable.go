package hpack

const (
	shortestCode = 5
	longestCode  = 30
	endOfString  = 256 // the symbol that must not occur (RFC 7541 section 5.2)
)

// The Huffman code of RFC 7541 appendix B is canonical: codes of one length
// count up in the order of their symbols, and go on where the shorter ones
// ended. So the lengths say it all.

// huffmanLengths are the lengths of the codes of the symbols 0 to 255 and of
// endOfString, in bits.
var huffmanLengths = [257]uint8{
	13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
	28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
	6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
	5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
	13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
	7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
	15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
	6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
	20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
	24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
	22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
	21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
	26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
	19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
	20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
	26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
	30,
}

// canonical finds the code at the top of an inverted window, of any length.
type canonical struct {
	symbols [257]uint16             // in the order of their codes
	ends    [longestCode + 1]uint64 // the first window above all codes of a length
	first   [longestCode + 1]uint64 // the first code of a length
	before  [longestCode + 1]int    // how many codes are shorter
}

var huffmanCode = buildCanonical()

func buildCanonical() (c canonical) {
	n, code := 0, uint64(0)
	for length := 1; length <= longestCode; length++ {
		code <<= 1
		c.first[length], c.before[length] = code, n
		for symbol, l := range huffmanLengths {
			if int(l) == length {
				c.symbols[n] = uint16(symbol)
				n++
				code++
			}
		}
		c.ends[length] = code << (64 - length)
	}
	return c
}

// find returns the symbol and the length of the code.
func (c *canonical) find(window uint64) (symbol uint16, length uint) {
	window = ^window
	length = shortestCode
	for window >= c.ends[length] && length < longestCode {
		length++
	}
	code := window >> (64 - length)
	return c.symbols[c.before[length]+int(code-c.first[length])], length
}

// pair is what 12 bits of input begin with: one symbol, or two; 0 when they are
// part of a longer code.
//
//	bits 0-7    first symbol
//	bits 8-15   second symbol
//	bits 16-19  number of symbols
//	bits 20-25  length of the first code
//	bits 26-31  length of the codes together
type pair uint32

func (p pair) symbols() uint16 { return uint16(p) }
func (p pair) count() int      { return int(p >> 16 & 0xf) }
func (p pair) bits() uint      { return uint(p >> 26) }

// first returns the pair without its second symbol.
func (p pair) first() pair { return single(uint16(p&0xff), uint(p>>20&0x3f)) }

func single(symbol uint16, length uint) pair {
	return pair(symbol) | 1<<16 | pair(length)<<20 | pair(length)<<26
}

const pairBits = 12

// huffmanPairs gives letters and digits, whose codes have 5 to 7 bits, two at a
// time most of the time: one dependent load for both. It is indexed by the next 12 bits of input, inverted.
var huffmanPairs = buildPairs()

func buildPairs() (pairs [1 << pairBits]pair) {
	for i := range pairs {
		window := uint64(i) << (64 - pairBits)
		first, firstBits := huffmanCode.find(window)
		if firstBits > pairBits {
			continue
		}
		pairs[i] = single(first, firstBits)
		second, secondBits := huffmanCode.find(window << firstBits)
		if firstBits+secondBits <= pairBits {
			pairs[i] += pair(second)<<8 | 1<<16 | pair(secondBits)<<26
		}
	}
	return pairs
}
