package hpack

// The primitive types of RFC 7541 section 5. Each is taken from the start of p,
// which is returned without it.

// integer goes on where the prefix of an integer, which is in the byte before p,
// is full (section 5.1). It takes at most five bytes, and no number of more than
// 32 bits: limits that the RFC leaves to the decoder.
func integer(prefix uint32, p []byte) (n uint32, rest []byte, err error) {
	sum := uint64(prefix)
	for i, b := range p[:min(5, len(p))] {
		sum += uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			if sum > 1<<32-1 {
				return 0, p, errInteger
			}
			return uint32(sum), p[i+1:], nil
		}
	}
	if len(p) >= 5 {
		return 0, p, errInteger
	}
	return 0, p, errTruncated
}

const huffmanCoded, lengthMask = 0x80, 0x7f

// text takes a string (section 5.2). What was Huffman coded is appended to the
// scratch, where it stays until the next field.
func (d *Decoder) text(p []byte) (text, rest []byte, err error) {
	if len(p) == 0 {
		return nil, p, errTruncated
	}
	coded := p[0] >= huffmanCoded
	n, p := uint32(p[0]&lengthMask), p[1:]
	if n == lengthMask {
		if n, p, err = integer(n, p); err != nil {
			return nil, p, err
		}
	}
	if uint64(n) > uint64(len(p)) {
		return nil, p, errTruncated
	}
	if !coded {
		return p[:n:n], p[n:], nil
	}
	before := len(d.scratch)
	var ok bool
	if d.scratch, ok = appendHuffman(d.scratch, p[:n]); !ok {
		return nil, p, errHuffman
	}
	text = d.scratch[before:]
	return text[:len(text):len(text)], p[n:], nil
}
