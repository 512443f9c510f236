package harness

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// AttemptText returns the octets of an attempt over HTTP/1.1, with more fields,
// name and value in turn, after X-Resource.
func AttemptText(resource string, more ...string) []byte {
	var b strings.Builder
	b.WriteString("POST /attempt HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\nX-Resource: " + resource + "\r\n")
	for i := 0; i+1 < len(more); i += 2 {
		b.WriteString(more[i] + ": " + more[i+1] + "\r\n")
	}
	b.WriteString("\r\n")
	return []byte(b.String())
}

// readAnswer reads one answer and keeps of it what a load generator needs: the
// status, and whether the server says that it is the connection's last.
func readAnswer(in *bufio.Reader) (status int, last bool, err error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return 0, false, fmt.Errorf("no answer: %w", err)
	}
	if len(line) < len("HTTP/1.1 200\r\n") || !bytes.HasPrefix(line, []byte("HTTP/1.")) {
		return 0, false, fmt.Errorf("not an answer: %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, false, fmt.Errorf("not an answer: %q", line)
	}
	length := 0
	for {
		if line, err = in.ReadSlice('\n'); err != nil {
			return 0, false, fmt.Errorf("cut answer: %w", err)
		}
		if len(line) <= len("\r\n") {
			break
		}
		name, value, _ := bytes.Cut(line[:len(line)-2], []byte(": "))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, false, fmt.Errorf("not an answer: %q", line)
			}
		case bytes.EqualFold(name, []byte("Connection")):
			last = bytes.EqualFold(value, []byte("close"))
		}
	}
	if _, err := io.CopyN(io.Discard, in, int64(length)); err != nil {
		return 0, false, fmt.Errorf("cut body: %w", err)
	}
	return status, last, nil
}
