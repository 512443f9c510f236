package load

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// http1 speaks HTTP/1.1, one attempt at a time. Answers come in the order of the
// attempts, so both are numbered alike.
type http1 struct {
	before, after  []byte // of the resource, in an attempt
	asked, answers uint32
	closes         bool // the server has said that it closes
}

func newHTTP1(p *Plan) *http1 {
	h := &http1{before: fmt.Appendf(nil, "POST /attempt HTTP/1.1\r\nHost: %s\r\nX-Resource: ", p.Host)}
	for _, f := range [][2]string{{"X-Prefix", p.Prefix}, {"X-Method", p.Method}} {
		if f[1] != "" {
			h.after = fmt.Appendf(h.after, "\r\n%s: %s", f[0], f[1])
		}
	}
	h.after = append(h.after, "\r\nContent-Length: 0\r\n\r\n"...)
	return h
}

func (h *http1) hello(out []byte) []byte { return out }

func (h *http1) room() int {
	if h.closes {
		return 0
	}
	return 1
}

func (h *http1) over() bool { return h.closes }

func (h *http1) ask(out, resource []byte) ([]byte, uint32) {
	out = append(out, h.before...)
	out = append(out, resource...)
	out = append(out, h.after...)
	h.asked++
	return out, h.asked
}

func (h *http1) hear(in []byte, got *heard) (used int, err error) {
	for used < len(in) {
		a, err := readAnswer(in[used:])
		if a.size == 0 || err != nil {
			return used, err
		}
		used += a.size
		h.answers++
		h.closes = h.closes || a.closes
		got.answers = append(got.answers, answer{number: h.answers, status: a.status})
	}
	return used, nil
}

// answer1 is an answer with its body.
type answer1 struct {
	status uint16
	size   int // 0 if it has not arrived whole
	closes bool
	length int // of the body, -1 if unsaid
}

var (
	endOfHead  = []byte("\r\n\r\n")
	endOfLine  = []byte("\r\n")
	statusLine = []byte("HTTP/1.1 ")
)

// maxHead bounds the fields of an answer.
const maxHead = 16 << 10

// readAnswer reads an answer to a POST.
func readAnswer(in []byte) (a answer1, err error) {
	end := bytes.Index(in, endOfHead)
	if end < 0 {
		if len(in) > maxHead {
			return a, errors.New("an answer whose fields have no end")
		}
		return a, nil
	}
	line, fields, _ := bytes.Cut(in[:end+len(endOfLine)], endOfLine)
	if len(line) < len("HTTP/1.1 200") || !bytes.HasPrefix(line, statusLine) {
		return a, fmt.Errorf("no answer of HTTP/1.1: %.40q", line)
	}
	status, err := strconv.ParseUint(string(line[len(statusLine):len(statusLine)+3]), 10, 16)
	if err != nil || status < 200 || status > 599 {
		return a, fmt.Errorf("no final status: %.40q", line)
	}
	a.status, a.length = uint16(status), -1
	for len(fields) > 0 {
		var field []byte
		field, fields, _ = bytes.Cut(fields, endOfLine)
		if err := a.field(field); err != nil {
			return a, err
		}
	}
	switch {
	case status == 204 || status == 304:
		a.length = 0
	case a.length < 0:
		return a, fmt.Errorf("an answer of unknown length: %.80q", in[:end])
	}
	if whole := end + len(endOfHead) + a.length; whole <= len(in) {
		a.size = whole
	}
	return a, nil
}

// field takes what matters of a field.
func (a *answer1) field(field []byte) error {
	if len(field) == 0 || field[0]|0x20 != 'c' && field[0]|0x20 != 't' {
		return nil // most are of no interest
	}
	name, value, _ := bytes.Cut(field, []byte(":"))
	value = bytes.TrimSpace(value)
	switch {
	case bytes.EqualFold(name, []byte("content-length")):
		n, err := strconv.ParseUint(string(value), 10, 24)
		if err != nil {
			return fmt.Errorf("length of the body: %w", err)
		}
		a.length = int(n)
	case bytes.EqualFold(name, []byte("connection")):
		a.closes = bytes.EqualFold(value, []byte("close"))
	case bytes.EqualFold(name, []byte("transfer-encoding")):
		return errors.New("the answer's body has a transfer coding, which a limiter has no need of")
	}
	return nil
}
