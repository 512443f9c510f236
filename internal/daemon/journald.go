package daemon

import (
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/coreos/go-systemd/v22/journal"
)

// journaldAddr is where journald takes records. Tests have another one.
var journaldAddr = "/run/systemd/journal/socket"

// journald is a socket to journald. It is connected, unlike that of the journal
// library: the kernel says when a connected socket has room again, while writing
// to a full journal over another one is to try without end, on a whole core.
type journald struct {
	addr *net.UnixAddr
	mu   sync.Mutex // guards conn
	conn *net.UnixConn
}

func newJournald() *journald {
	return &journald{addr: &net.UnixAddr{Name: journaldAddr, Net: "unixgram"}}
}

// send gives journald a record, and waits until there is room for it. The error
// is that journald is away.
func (j *journald) send(message string, p journal.Priority, fields map[string]string) error {
	record := appendField(nil, "PRIORITY", strconv.Itoa(int(p)))
	record = appendField(record, "MESSAGE", message)
	for name, value := range fields {
		record = appendField(record, name, value)
	}
	conn, err := j.socket(nil)
	if err != nil {
		return err
	}
	_, err = conn.Write(record)
	if err == nil {
		return nil
	}
	if errors.Is(err, syscall.EMSGSIZE) || errors.Is(err, syscall.ENOBUFS) {
		return journal.Send(message, p, fields) // knows how to send a file instead
	}
	if conn, err = j.socket(conn); err != nil { // journald may have a new socket
		return err
	}
	_, err = conn.Write(record)
	return err
}

// socket returns the socket. One that has failed is replaced.
func (j *journald) socket(failed *net.UnixConn) (*net.UnixConn, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.conn != nil && j.conn != failed {
		return j.conn, nil
	}
	if j.conn != nil {
		_ = j.conn.Close()
	}
	var err error
	j.conn, err = net.DialUnix("unixgram", nil, j.addr)
	return j.conn, err
}

// appendField spells a field of a record: a line, or, for a value that has line
// breaks, its name in a line, its length, and the value.
func appendField(record []byte, name, value string) []byte {
	record = slices.Grow(record, len(name)+len(value)+10)
	record = append(record, name...)
	if strings.Contains(value, "\n") {
		record = append(record, '\n')
		record = binary.LittleEndian.AppendUint64(record, uint64(len(value)))
	} else {
		record = append(record, '=')
	}
	record = append(record, value...)
	return append(record, '\n')
}
