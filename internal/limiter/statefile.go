package limiter

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/levee-project/levee/internal/keytable"
)

// The state file carries debts over a planned restart. It holds, in little
// endian: the magic, the table's key (it is a secret, so the file is for the
// owner only), the wall clock at which the debts were read, their number, one
// record of 28 bytes for each, and the CRC-32C of everything before.
const (
	stateMagic  = "LEVEE\x01\r\n"
	stateHeader = len(stateMagic) + 16 + 8 + 8
	stateRecord = 28
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// saveState writes the debts of a table to a file, in one step: either the new
// file is there whole, or the old one still is. It returns how many.
func saveState(path string, table *keytable.Table, now int64, wall time.Time) (saved int, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return 0, fmt.Errorf("save debts: %w", err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("save debts to %s: %w", path, err)
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if saved, err = writeState(f, table, now, wall); err != nil {
		return 0, err
	}
	if err = f.Sync(); err != nil {
		return 0, err
	}
	if err = f.Close(); err != nil {
		return 0, err
	}
	return saved, os.Rename(f.Name(), path)
}

func writeState(f io.Writer, table *keytable.Table, now int64, wall time.Time) (saved int, err error) {
	var debts []keytable.Debt
	table.Debts(now, func(d keytable.Debt) bool { debts = append(debts, d); return true })

	sum := crc32.New(castagnoli)
	w := bufio.NewWriterSize(io.MultiWriter(f, sum), 1<<16)
	key, le := table.Key(), binary.LittleEndian
	b := append(make([]byte, 0, stateHeader), stateMagic...)
	b = le.AppendUint64(b, key[0])
	b = le.AppendUint64(b, key[1])
	b = le.AppendUint64(b, uint64(wall.UnixNano()))
	b = le.AppendUint64(b, uint64(len(debts)))
	for _, d := range debts {
		if _, err := w.Write(b); err != nil {
			return 0, err
		}
		b = le.AppendUint64(b[:0], d.Hash)
		b = le.AppendUint64(b, d.Place)
		b = le.AppendUint32(b, d.Stamp)
		b = le.AppendUint64(b, uint64(d.Owes))
	}
	if _, err := w.Write(b); err != nil {
		return 0, err
	}
	if err := w.Flush(); err != nil {
		return 0, err
	}
	_, err = f.Write(le.AppendUint32(nil, sum.Sum32()))
	return len(debts), err
}

// state is what a state file holds.
type state struct {
	key   keytable.Key
	wall  time.Time
	debts []byte // records
}

var errNotState = errors.New("not a state file of this version of Levee, or cut short")

// loadState reads a state file. A file that is not there is an empty state; a
// damaged one is an error, and nothing of it may be used.
func loadState(path string) (*state, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read debts: %w", err)
	}
	s, err := parseState(b)
	if err != nil {
		return nil, fmt.Errorf("read debts from %s: %w", path, err)
	}
	return s, nil
}

func parseState(b []byte) (*state, error) {
	le := binary.LittleEndian
	if len(b) < stateHeader+4 || string(b[:len(stateMagic)]) != stateMagic {
		return nil, errNotState
	}
	body, sum := b[:len(b)-4], le.Uint32(b[len(b)-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return nil, errors.New("damaged: the checksum does not match")
	}
	h := body[len(stateMagic):stateHeader]
	s := &state{
		key:   keytable.Key{le.Uint64(h), le.Uint64(h[8:])},
		wall:  time.Unix(0, int64(le.Uint64(h[16:]))),
		debts: body[stateHeader:],
	}
	if n := le.Uint64(h[24:]); n != uint64(len(s.debts)/stateRecord) || len(s.debts)%stateRecord != 0 {
		return nil, errNotState
	}
	return s, nil
}

// restore puts the debts back that are not paid by now, and returns how many.
// A wall clock that went back while the process was down pays nothing.
func (s *state) restore(table *keytable.Table, now int64, wall time.Time) (restored int) {
	le := binary.LittleEndian
	down := int64(max(0, wall.Sub(s.wall)))
	for b := s.debts; len(b) >= stateRecord; b = b[stateRecord:] {
		d := keytable.Debt{
			Hash: le.Uint64(b), Place: le.Uint64(b[8:]), Stamp: le.Uint32(b[16:]),
			Owes: int64(le.Uint64(b[20:])) - down,
		}
		if table.Restore(now, d) {
			restored++
		}
	}
	return restored
}
