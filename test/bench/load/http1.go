package load

import (
	"bytes"
	"errors"
	"fmt"
)

// What every question says of itself, beside its resource and its id.
const (
	target = "/attempt"
	prefix = "checkout-api"
	method = "GET"
)

// http1 speaks HTTP/1.1. Answers come in the order of the questions, so both are
// numbered alike.
type http1 struct {
	question       []byte // with room for the key and the id
	keyEnd, idEnd  int    // where these end in it
	asked, answers uint32
}

const (
	keyDigits = 6
	idDigits  = 16
)

func newHTTP1(host string) *http1 {
	h := &http1{}
	h.question = fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nX-Resource: tenant-%0*d", target, host, keyDigits, 0)
	h.keyEnd = len(h.question)
	h.question = fmt.Appendf(h.question, "\r\nX-Prefix: %s\r\nX-Method: %s\r\nX-Req-Id: %0*d", prefix, method, idDigits, 0)
	h.idEnd = len(h.question)
	h.question = append(h.question, "\r\nContent-Length: 0\r\n\r\n"...)
	return h
}

func (h *http1) hello(out []byte) []byte { return out }

func (h *http1) ask(out []byte, key int, id uint64) ([]byte, uint32) {
	at := len(out)
	out = append(out, h.question...)
	putDecimal(out[at+h.keyEnd-keyDigits:at+h.keyEnd], key)
	putHex(out[at+h.idEnd-idDigits:at+h.idEnd], id)
	h.asked++
	return out, h.asked
}

func (h *http1) hear(in []byte, got *heard) (used int, err error) {
	for {
		status, size, err := answer1(in[used:])
		if size == 0 || err != nil {
			return used, err
		}
		used += size
		h.answers++
		got.answers = append(got.answers, answer{number: h.answers, status: uint16(status)})
	}
}

// putDecimal fills dst with the last digits of a number.
func putDecimal(dst []byte, n int) {
	for i := len(dst) - 1; i >= 0; i-- {
		dst[i] = '0' + byte(n%10)
		n /= 10
	}
}

// putHex fills dst with the last hexadecimal digits of a number.
func putHex(dst []byte, n uint64) {
	for i := len(dst) - 1; i >= 0; i-- {
		dst[i] = "0123456789abcdef"[n&15]
		n >>= 4
	}
}

var (
	endOfHead     = []byte("\r\n\r\n")
	version       = []byte("HTTP/1.1 ")
	contentLength = []byte("content-length:")
	coding        = []byte("transfer-encoding:")
)

// answer1 reads an answer to a POST. size is how long it is with its body, 0 if
// it has not arrived whole.
func answer1(in []byte) (status, size int, err error) {
	end := bytes.Index(in, endOfHead)
	if end < 0 {
		return 0, 0, nil
	}
	head, start := in[:end], end+len(endOfHead)
	status, err = statusLine(head)
	if err != nil {
		return 0, 0, err
	}
	length, err := bodyLength(head, status)
	if err != nil {
		return 0, 0, err
	}
	if len(in)-start < length {
		return 0, 0, nil
	}
	return status, start + length, nil
}

func statusLine(head []byte) (status int, err error) {
	if len(head) < len("HTTP/1.1 200") || !bytes.HasPrefix(head, version) {
		return 0, fmt.Errorf("no answer of HTTP/1.1: %.40q", head)
	}
	status, err = number(head[len(version) : len(version)+3])
	if err != nil || status < 200 || status > 599 {
		return 0, fmt.Errorf("no final status: %.40q", head)
	}
	return status, nil
}

// bodyLength looks for the length among the fields.
func bodyLength(head []byte, status int) (length int, err error) {
	length = -1
	for rest := head; ; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			break
		}
		rest = rest[end+1:]
		if len(rest) == 0 {
			break
		}
		switch rest[0] | 0x20 {
		case 'c':
			if hasPrefixFold(rest, contentLength) {
				value, _, _ := bytes.Cut(rest[len(contentLength):], []byte("\r"))
				if length, err = number(bytes.TrimSpace(value)); err != nil {
					return 0, fmt.Errorf("length of the body: %w", err)
				}
			}
		case 't':
			if hasPrefixFold(rest, coding) {
				return 0, errors.New("the answer's body has a transfer coding, which a limiter has no need of")
			}
		}
	}
	switch {
	case status == 204 || status == 304:
		return 0, nil
	case length < 0:
		return 0, fmt.Errorf("an answer of unknown length: %.80q", head)
	}
	return length, nil
}

func hasPrefixFold(s, lower []byte) bool {
	return len(s) >= len(lower) && bytes.EqualFold(s[:len(lower)], lower)
}

// number reads a decimal number of at most nine digits.
func number(digits []byte) (n int, err error) {
	if len(digits) == 0 || len(digits) > 9 {
		return 0, fmt.Errorf("no number: %.20q", digits)
	}
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, fmt.Errorf("no number: %.20q", digits)
		}
		n = n*10 + int(d-'0')
	}
	return n, nil
}
