package harness

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strconv"
	"testing"
	"time"
)

// Protocol is a protocol of the serving port.
type Protocol string

// The protocols.
const (
	HTTP1 Protocol = "HTTP/1.1"
	H2C   Protocol = "HTTP/2.0"
)

// Protocols are both of them.
var Protocols = []Protocol{HTTP1, H2C}

// answerTime bounds one request.
const answerTime = 10 * time.Second

// Client makes attempts through one protocol, over connections that it keeps.
type Client struct {
	base string
	http *http.Client
	// Protocol is what it speaks.
	Protocol Protocol
}

// NewClient returns a client for the serving port at addr, ip:port, whose
// connections end with the test.
func NewClient(t testing.TB, addr string, p Protocol) *Client {
	transport := &http.Transport{
		Protocols: new(http.Protocols), DisableCompression: true,
		MaxIdleConnsPerHost: 100, ExpectContinueTimeout: answerTime,
	}
	transport.Protocols.SetHTTP1(p == HTTP1)
	transport.Protocols.SetUnencryptedHTTP2(p == H2C)
	t.Cleanup(transport.CloseIdleConnections)
	return &Client{base: "http://" + addr, http: &http.Client{Transport: transport, Timeout: answerTime}, Protocol: p}
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   string
	Proto  Protocol
	// Last is true when the server says that it is the connection's last answer:
	// with Connection: close, or in HTTP/1.0 without keep-alive.
	Last bool
	// Reused is true when the request went over a connection that had served
	// another one.
	Reused bool
}

// RetryAfter returns the whole seconds of Retry-After; ok is false without it.
func (a Answer) RetryAfter(t testing.TB) (seconds int, ok bool) {
	t.Helper()
	values := a.Header.Values("Retry-After")
	if len(values) == 0 {
		return 0, false
	}
	n, err := strconv.Atoi(values[0])
	if err != nil || len(values) > 1 {
		t.Fatalf("Retry-After is not one whole number: %q", values)
	}
	return n, true
}

// String returns the answer for messages of failed tests.
func (a Answer) String() string {
	return fmt.Sprintf("%s %d %q %v", a.Proto, a.Status, a.Body, a.Header)
}

// Request is one request in every detail that a well-behaved client can choose.
type Request struct {
	Method, Path string // POST /attempt when empty
	Fields       http.Header
	Body         io.Reader
	// Trailer is sent behind the body.
	Trailer http.Header
}

// to is the request to a server, with everything that a client adds.
func (r Request) to(base string) (*http.Request, error) {
	if r.Method == "" {
		r.Method = http.MethodPost
	}
	if r.Path == "" {
		r.Path = "/attempt"
	}
	req, err := http.NewRequestWithContext(context.Background(), r.Method, base+r.Path, r.Body)
	if err != nil {
		return nil, fmt.Errorf("request %s %s: %w", r.Method, r.Path, err)
	}
	if r.Fields != nil {
		req.Header = r.Fields
	}
	req.Trailer = r.Trailer
	return req, nil
}

// Do sends a request and reads the whole answer.
func (c *Client) Do(r Request) (Answer, error) {
	req, err := r.to(c.base)
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) { a.Reused = i.Reused },
	}))
	resp, err := c.http.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	if err := a.fill(resp); err != nil {
		return Answer{}, err
	}
	return a, nil
}

// fill reads a response.
func (a *Answer) fill(resp *http.Response) error {
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("body of the %d: %w", resp.StatusCode, err)
	}
	a.Status, a.Header, a.Body = resp.StatusCode, resp.Header, string(body)
	a.Proto, a.Last = Protocol(resp.Proto), resp.Close
	return nil
}

// Send is Do for requests that must get an answer, in the client's protocol.
func (c *Client) Send(t testing.TB, r Request) Answer {
	t.Helper()
	a, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if a.Proto != c.Protocol {
		t.Fatalf("the answer came as %s, asked in %s", a.Proto, c.Protocol)
	}
	return a
}

// Get asks for a page.
func (c *Client) Get(t testing.TB, path string) Answer {
	t.Helper()
	return c.Send(t, Request{Method: http.MethodGet, Path: path})
}

// Close ends the connections that are not in use. The client may be used again.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Attempt asks about a resource, and a prefix and a method if they are given and
// not empty.
func (c *Client) Attempt(t testing.TB, resource string, more ...string) Answer {
	t.Helper()
	return c.Send(t, Request{Fields: fields(resource, more)})
}

// Hits is Attempt for n hits.
func (c *Client) Hits(t testing.TB, n int, resource string, more ...string) Answer {
	t.Helper()
	f := fields(resource, more)
	f.Set("X-Hits", strconv.Itoa(n))
	return c.Send(t, Request{Fields: f})
}

// Accepted makes n attempts, one after the other, and returns how many were
// accepted. The others must have been rejected.
func (c *Client) Accepted(t testing.TB, n int, resource string, more ...string) int {
	t.Helper()
	accepted := 0
	for range n {
		switch a := c.Attempt(t, resource, more...); a.Status {
		case http.StatusOK:
			accepted++
		case http.StatusTooManyRequests:
		default:
			t.Fatalf("neither accepted nor rejected: %v", a)
		}
	}
	return accepted
}

// fields writes the parts of a key as fields, spelled so that the transport
// leaves them alone.
func fields(resource string, more []string) http.Header {
	f := http.Header{"X-Resource": {resource}}
	for i, name := range []string{"X-Prefix", "X-Method"} {
		if i < len(more) && more[i] != "" {
			f[textproto.CanonicalMIMEHeaderKey(name)] = []string{more[i]}
		}
	}
	return f
}
