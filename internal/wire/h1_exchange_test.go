package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// exchange is a row of the tables about HTTP/1.x: what a client sends on one
// connection, and what must come of it.
type exchange struct {
	name string
	in   string
	// want is the answers and what becomes of the connection, separated by " | ":
	//
	//	200                       a status, without a body
	//	400 hits: X-Hits is not   a status, the reason counted, how the text begins
	//	HEAD 404 path:            the same without the text, as HEAD wants it
	//	healthy                   the answer to GET /healthz
	//	100?                      100 Continue, which depends on what came when
	//	open, closed              the end
	want string
	// asked is what the Decider is asked, in order, separated by " | ".
	asked string
}

// sentinel is sent after each exchange. It is answered if, and only if, the
// connection goes on and the server reads on at the right byte.
const sentinel = "GET /healthz HTTP/1.1\r\nHost: sentinel\r\n\r\n"

// Lengths up to which an exchange is tried split at every byte, and byte by
// byte. Longer ones are split at this many places.
const (
	splitEverywhere = 400
	byteByByte      = 200
	splitsOfLong    = 24
)

// try runs each exchange in one piece, in two pieces split at every place, and
// byte by byte. What the client sends decides, never how it is cut.
func try(t *testing.T, exchanges []exchange) {
	t.Helper()
	for _, x := range exchanges {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			for _, cuts := range cutsOf(x.in) {
				if err := x.run(s, cuts); err != nil {
					t.Errorf("cut at %v: %v", cuts, err)
					return
				}
			}
		})
	}
}

// cutsOf returns the ways in which an input is cut: a list of places for each.
func cutsOf(in string) [][]int {
	ways := [][]int{nil}
	step := 1
	if len(in) > splitEverywhere {
		step = len(in) / splitsOfLong
	}
	var every []int
	for i := 1; i <= len(in); i += step {
		ways = append(ways, []int{i})
		every = append(every, i)
	}
	if len(in) > splitEverywhere { // the last bytes are where bounds are met
		for i := len(in) - 16; i < len(in); i++ {
			ways = append(ways, []int{i})
		}
	}
	if len(in) <= byteByByte {
		ways = append(ways, every)
	}
	return ways
}

// run sends the exchange, cut at the given places, and says what was wrong with
// the answers.
func (x *exchange) run(s *testServer, cuts []int) error {
	got, err := s.converse(x.in+sentinel, cuts)
	asked := s.decider.take()
	bad, observed := s.told()
	if err != nil {
		return err
	}
	wantBad, err := x.check(got)
	if err != nil {
		return fmt.Errorf("%w\nof the answers\n%.2000q", err, got)
	}
	if a := strings.Join(asked, " | "); a != x.asked {
		return fmt.Errorf("asked %q, want %q", a, x.asked)
	}
	if observed != len(asked) {
		return fmt.Errorf("observed %d attempts, want %d", observed, len(asked))
	}
	if !slices.Equal(bad, wantBad) {
		return fmt.Errorf("bad requests counted: %v, want %v", bad, wantBad)
	}
	return nil
}

// converse sends text on a connection of its own, ends its side of it, and
// returns everything that comes back. Each piece is read by the server before
// the next is sent.
func (s *testServer) converse(text string, cuts []int) ([]byte, error) {
	read := s.clock.reads.Load() + 1 // a new connection reads the clock once
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(patience))
	from := 0
	for _, to := range cuts {
		if _, err := io.WriteString(c, text[from:to]); err != nil {
			return nil, err
		}
		if read++; !s.clock.hasBeenRead(&s.clock.reads, read) {
			return nil, fmt.Errorf("the bytes up to %d are not read", to)
		}
		read = max(read, s.clock.reads.Load())
		from = to
	}
	if _, err := io.WriteString(c, text[from:]); err != nil {
		return nil, err
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		return nil, err
	}
	return io.ReadAll(c)
}

// check compares answers with what is wanted, and returns the reasons that must
// have been counted.
func (x *exchange) check(got []byte) (bad []Reason, err error) {
	in := bufio.NewReader(bytes.NewReader(got))
	wants := strings.Split(x.want, " | ")
	end := wants[len(wants)-1]
	for i, want := range wants[:len(wants)-1] {
		if want == "100?" {
			if next, _ := in.Peek(len("HTTP/1.1 100")); string(next) != "HTTP/1.1 100" {
				continue
			}
			want = "100"
		}
		r, err := checkOne(in, want)
		if err != nil {
			return nil, fmt.Errorf("answer %d, wanted %q: %w", i, want, err)
		}
		if r.reason != ReasonNone {
			bad = append(bad, r.reason)
		}
		if last := i == len(wants)-2 && end == "closed"; r.closes != last {
			return nil, fmt.Errorf("answer %d says Connection: close: %t, want %t", i, r.closes, last)
		}
	}
	if end == "open" {
		if _, err := checkOne(in, "healthy"); err != nil {
			return nil, fmt.Errorf("the next request: %w", err)
		}
	}
	if rest, _ := io.ReadAll(in); len(rest) > 0 {
		return nil, fmt.Errorf("an answer too many: %q", rest)
	}
	return bad, nil
}

// checked is what check needs to know of an answer.
type checked struct {
	reason Reason
	closes bool
}

// checkOne reads one answer and compares it with one want.
func checkOne(in *bufio.Reader, want string) (c checked, err error) {
	method, want := cutMethod(want)
	answer, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		return c, err
	}
	body, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil {
		return c, err
	}
	status, text := 200, healthLine
	if want != "healthy" {
		var reason string
		number, rest, _ := strings.Cut(want, " ")
		reason, text, _ = strings.Cut(rest, ": ")
		if status, err = strconv.Atoi(number); err != nil {
			return c, err
		}
		if c.reason, err = reasonNamed(strings.TrimSuffix(reason, ":")); err != nil {
			return c, err
		}
	}
	c.closes = answer.Close
	if answer.StatusCode != status {
		return c, fmt.Errorf("status %d, text %q", answer.StatusCode, body)
	}
	return c, checkForm(answer, string(body), text, method)
}

func cutMethod(want string) (method, rest string) {
	if rest, ok := strings.CutPrefix(want, "HEAD "); ok {
		return http.MethodHead, rest
	}
	return http.MethodPost, want
}

func reasonNamed(name string) (Reason, error) {
	if name == "" {
		return ReasonNone, nil
	}
	for _, r := range Reasons() {
		if r.String() == name {
			return r, nil
		}
	}
	return ReasonNone, fmt.Errorf("no reason is called %q", name)
}

// checkForm checks what all answers have in common.
func checkForm(answer *http.Response, body, text, method string) error {
	if answer.StatusCode == http.StatusContinue {
		return nil
	}
	if _, err := http.ParseTime(answer.Header.Get("Date")); err != nil {
		return fmt.Errorf("date %q: %w", answer.Header.Get("Date"), err)
	}
	if answer.ContentLength < 0 {
		return fmt.Errorf("no Content-Length")
	}
	allow := ""
	switch {
	case answer.StatusCode != http.StatusMethodNotAllowed:
	case strings.HasPrefix(text, "health"):
		allow = "GET, HEAD"
	default:
		allow = "POST"
	}
	if got := answer.Header.Get("Allow"); got != allow {
		return fmt.Errorf("Allow: %q, want %q", got, allow)
	}
	none := method == http.MethodHead || answer.StatusCode == http.StatusTooManyRequests ||
		answer.StatusCode == http.StatusOK && text == ""
	switch {
	case none && body != "":
		return fmt.Errorf("a body where there must be none: %q", body)
	case none:
		return nil
	case text == "":
		return fmt.Errorf("no text is wanted, but there is %q", body)
	case !strings.HasPrefix(body, text) || strings.Count(body, "\n") != 1 || !strings.HasSuffix(body, "\n"):
		return fmt.Errorf("text %q, want one line that begins with %q", body, text)
	case answer.Header.Get("Content-Type") != "text/plain; charset=utf-8":
		return fmt.Errorf("Content-Type: %q", answer.Header.Get("Content-Type"))
	}
	return nil
}

// ask returns an attempt over HTTP/1.1 for the resource a, with more field lines.
func ask(fields ...string) string { return request("POST /attempt HTTP/1.1", fields...) }

// request returns a request with a Host, the resource a, and more field lines,
// without a body.
func request(line string, fields ...string) string {
	return bare(append([]string{line, "Host: h", "X-Resource: a"}, fields...)...)
}

// bare returns a request of exactly these lines.
func bare(lines ...string) string { return strings.Join(lines, "\r\n") + "\r\n\r\n" }
