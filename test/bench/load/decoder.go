package load

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/net/http2/hpack"
)

// statusDecoder reads the statuses of a connection's answers, and keeps its
// HPACK table in step with the server's. A server mostly says the same again: a
// head that is equal to the last one, and that changes nothing in the table,
// has the same status.
type statusDecoder struct {
	full   *hpack.Decoder
	status string

	same       []byte // the last head, if it changed nothing; else empty
	sameStatus uint16
}

func newStatusDecoder() *statusDecoder {
	d := &statusDecoder{}
	d.full = hpack.NewDecoder(defaultTable, func(f hpack.HeaderField) {
		if f.Name == ":status" {
			d.status = f.Value
		}
	})
	return d
}

// decode returns the status that a head says, 0 when it says none.
func (d *statusDecoder) decode(block []byte) (uint16, error) {
	if len(block) == 0 {
		return 0, errors.New("an answer with an empty head")
	}
	if bytes.Equal(block, d.same) {
		return d.sameStatus, nil
	}
	d.status = "0"
	if _, err := d.full.Write(block); err != nil {
		return 0, fmt.Errorf("head of an answer: %w", err)
	}
	if err := d.full.Close(); err != nil {
		return 0, fmt.Errorf("head of an answer: %w", err)
	}
	status, err := strconv.ParseUint(d.status, 10, 16)
	if err != nil || status > 599 {
		return 0, fmt.Errorf("an answer's status is %q", d.status)
	}
	d.same = d.same[:0]
	if changesNothing(block) {
		d.same, d.sameStatus = append(d.same, block...), uint16(status)
	}
	return uint16(status), nil
}

// changesNothing says whether a head that was decoded neither inserts into the
// table nor resizes it (RFC 7541 section 6).
func changesNothing(block []byte) bool {
	for len(block) > 0 {
		switch first := block[0]; {
		case first&0x80 != 0: // indexed
			_, block = readInt(block, 7)
		case first&0xe0 != 0: // with insertion, or a new size
			return false
		default: // without insertion
			var name int
			if name, block = readInt(block, 4); name == 0 {
				block = skipText(block)
			}
			block = skipText(block)
		}
	}
	return true
}

func skipText(block []byte) []byte {
	if len(block) == 0 {
		return nil
	}
	n, block := readInt(block, 7)
	return block[min(n, len(block)):]
}

// readInt reads an integer of a block that was decoded, and so is well-formed.
func readInt(block []byte, bits int) (n int, rest []byte) {
	full := 1<<bits - 1
	n, block = int(block[0])&full, block[1:]
	if n < full {
		return n, block
	}
	for shift := 0; len(block) > 0; shift += 7 {
		next := int(block[0])
		block = block[1:]
		n += (next & 0x7f) << shift
		if next < 0x80 {
			break
		}
	}
	return n, block
}
