package hpack

// The representations of a field (RFC 7541 section 6), by the lowest first byte
// of each, and the masks of the integer in that byte. What is below sizeUpdate
// is a literal that stays out of the table: "without indexing" or "never
// indexed", which are the same to a decoder.
const (
	sizeUpdate = 0x20
	stored     = 0x40
	indexed    = 0x80

	plainMask  = 0x0f
	updateMask = 0x1f
	storedMask = 0x3f
	indexMask  = 0x7f
)

// indexed takes a field that is an index (section 6.1). Like literal, it returns
// what is left of the block and of the header list.
func (d *Decoder) indexed(p []byte, left int, emit Emit) ([]byte, int, error) {
	i, p := uint32(p[0]&indexMask), p[1:]
	if i == indexMask {
		var err error
		if i, p, err = integer(i, p); err != nil {
			return p, left, err
		}
	}
	switch {
	case i-1 < staticSize:
		f := &static[i]
		left -= len(f.name) + len(f.value) + fieldOverhead
		if left >= 0 {
			emit(f.class, f.name, f.value, true)
		}
	case i-1-staticSize < d.table.count:
		e := d.table.entry(i - 1 - staticSize)
		left -= int(e.nameLen) + int(e.valueLen) + fieldOverhead
		if left >= 0 {
			name, value := d.table.parts(e)
			emit(e.class, name, value, e.valid == fieldIsValid)
		}
	default:
		return p, left, errIndex
	}
	return p, left, nil
}

// literal takes a field whose value, and perhaps name, is spelt out (section
// 6.2).
func (d *Decoder) literal(p []byte, left int, emit Emit) ([]byte, int, error) {
	mask := uint32(plainMask)
	store := p[0] >= stored
	if store {
		mask = storedMask
	}
	var err error
	i, p := uint32(p[0])&mask, p[1:]
	if i == mask {
		if i, p, err = integer(i, p); err != nil {
			return p, left, err
		}
	}
	d.scratch = d.scratch[:0]
	name, class, valid, p, err := d.name(i, p)
	if err != nil {
		return p, left, err
	}
	value, p, err := d.text(p)
	if err != nil {
		return p, left, err
	}
	if validValue(value) {
		valid |= valueIsValid
	}
	left -= len(name) + len(value) + fieldOverhead
	if left >= 0 {
		emit(class, name, value, valid == fieldIsValid)
	}
	if store {
		d.store(i, name, value, class, valid)
	}
	return p, left, nil
}

// name returns a literal field's name: that of entry i of the tables, or what is
// spelt out next if i is 0.
func (d *Decoder) name(i uint32, p []byte) (name []byte, class Name, valid validity, rest []byte, err error) {
	switch {
	case i == 0:
		name, p, err = d.text(p)
		if validName(name) {
			valid = nameIsValid
		}
		return name, classify(name), valid, p, err
	case i <= staticSize:
		return static[i].name, static[i].class, nameIsValid, p, nil
	case i-1-staticSize < d.table.count:
		e := d.table.entry(i - 1 - staticSize)
		name, _ = d.table.parts(e)
		return name, e.class, e.valid & nameIsValid, p, nil
	}
	return nil, Other, 0, p, errIndex
}

// store puts a literal field into the table; i is the index of its name, or 0.
func (d *Decoder) store(i uint32, name, value []byte, class Name, valid validity) {
	if i > staticSize && !d.table.fits(len(name)+len(value)) {
		// The name lies in the table's text, which is about to move.
		d.scratch = append(d.scratch, name...)
		name = d.scratch[len(d.scratch)-len(name):]
	}
	d.table.add(name, value, class, valid)
}
