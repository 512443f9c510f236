package hpack

// DefaultTableSize is the size of the dynamic table, in bytes as RFC 7541 section
// 4.1 counts them, that holds until the client has acknowledged another
// (RFC 9113 section 6.5.2).
const DefaultTableSize = 4096

// Decoder decodes the header blocks of one connection, in the order in which
// they came. It is not safe for concurrent use. Its zero value has to be Reset
// first.
type Decoder struct {
	table   table
	scratch []byte // what was Huffman coded in the field at hand
	limit   uint32 // the announced size of the table
	floor   uint32 // what the client has yet to reduce the table to, or noFloor
}

const noFloor = 1<<32 - 1

const keepScratch = 1 << 10 // the largest scratch that outlives a block, in bytes

// New returns a Decoder that is ready for a new connection.
func New() *Decoder {
	d := new(Decoder)
	d.Reset()
	return d
}

// Reset makes d ready for a new connection. It keeps what memory a table of
// DefaultTableSize may use.
func (d *Decoder) Reset() {
	d.table.evict(0)
	d.table.max = DefaultTableSize
	d.table.trim(DefaultTableSize)
	d.limit, d.floor = DefaultTableSize, noFloor
}

// SetTableSize sets the size of the dynamic table that the client may use, in
// bytes. Call it when the client acknowledges the SETTINGS frame that announced
// the size as SETTINGS_HEADER_TABLE_SIZE, before the next block.
//
// It is for the client to say, in a block, that it uses a new size. Where it has
// no choice, because the new size is smaller than the one in use, a next block
// that does not begin with that is ErrCompression (RFC 9113 section 4.3.1).
func (d *Decoder) SetTableSize(n uint16) {
	d.limit = uint32(n)
	if d.limit < d.table.max {
		d.floor = min(d.floor, d.limit)
	}
}

// Decode decodes one whole header block and passes its fields to emit, in their
// order. maxList bounds the size of the header list, as RFC 9113 section 6.5.2
// counts it: the bytes of names and values, and 32 for each field.
//
// From the first field on that exceeds maxList nothing is emitted any more, and
// Decode returns ErrTooLarge after it has decoded the rest, so that the
// connection can go on. With a maxList of 0 it only does that, and emit may be
// nil: this is how to pass over the block of a stream that is refused anyway.
//
// An error that is ErrCompression (errors.Is) means that d is of no more use.
// Fields may have been emitted before it. No error is allocated.
func (d *Decoder) Decode(block []byte, maxList int, emit Emit) error {
	p, err := d.sizeUpdates(block)
	left := maxList
	for err == nil && len(p) > 0 {
		switch b := p[0]; {
		case b >= indexed:
			p, left, err = d.indexed(p, left, emit)
		case b >= stored || b < sizeUpdate:
			p, left, err = d.literal(p, left, emit)
		default:
			err = errUpdatePlace
		}
	}
	if cap(d.scratch) > keepScratch {
		d.scratch = nil
	}
	if err == nil && left < 0 {
		return ErrTooLarge
	}
	return err
}

// sizeUpdates takes the size updates at the start of a block: the only place for
// them (RFC 7541 section 4.2).
func (d *Decoder) sizeUpdates(p []byte) ([]byte, error) {
	for len(p) > 0 && p[0] >= sizeUpdate && p[0] < stored {
		n, rest := uint32(p[0]&updateMask), p[1:]
		if n == updateMask {
			var err error
			if n, rest, err = integer(n, rest); err != nil {
				return p, err
			}
		}
		if n > d.limit || n > d.floor {
			return p, errUpdateSize
		}
		d.floor = noFloor
		d.table.setMax(n)
		d.table.trim(d.limit)
		p = rest
	}
	if d.floor != noFloor {
		return p, errUpdateMissing
	}
	return p, nil
}
