package limiter

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/levee-project/levee/test/harness"
)

// text makes the octets of an attempt from lines, the first of which is the
// request line without its version.
func text(line string, fields ...string) string {
	return line + " HTTP/1.1\r\nHost: test\r\n" + strings.Join(append(fields, "", ""), "\r\n")
}

const post = "POST /attempt"

// Fifty requests in one write get fifty answers, in order.
func TestPipelining(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{ownQuota("r"): fits(10)})
	c := harness.Dial(t, r.Addr)
	var requests strings.Builder
	for i := range 50 {
		switch i % 5 {
		case 4: // with a body, which has to be passed over
			requests.WriteString(text(post, "X-Resource: s", "Content-Length: 5") + "GET /")
		case 3:
			requests.WriteString(text(post, "X-Resource:"))
		default:
			requests.WriteString(text(post, "X-Resource: r", "Content-Length: 0"))
		}
	}
	c.Put(t, requests.String())
	left := 10
	for i := range 50 {
		status := http.StatusOK
		switch {
		case i%5 == 4:
		case i%5 == 3:
			status = http.StatusBadRequest
		case left == 0:
			status = http.StatusTooManyRequests
		default:
			left--
		}
		if a := c.Answer(t); a.Status != status {
			t.Fatalf("answer %d is %v, want %d", i, a, status)
		}
	}
	c.WantOpen(t)
}

// A request may come in as many pieces as the network likes.
func TestRequestInPieces(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: fits(1)})
	c := harness.Dial(t, r.Addr)
	for _, octet := range text(post, "X-Resource: r", "Transfer-Encoding: chunked") + "3\r\nabc\r\n0\r\n\r\n" {
		c.Put(t, string(octet))
	}
	want(t, c.Answer(t), http.StatusOK)
	c.WantOpen(t)
}

func TestHTTP10(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: plenty})
	t.Run("closes", func(t *testing.T) {
		t.Parallel()
		c := harness.Dial(t, r.Addr)
		want(t, c.Ask(t, "POST /attempt HTTP/1.0\r\nX-Resource: r\r\n\r\n"), http.StatusOK)
		c.WantClosed(t)
	})
	t.Run("keep-alive", func(t *testing.T) {
		t.Parallel()
		c := harness.Dial(t, r.Addr)
		for range 3 {
			a := c.Ask(t, "POST /attempt HTTP/1.0\r\nConnection: Keep-Alive\r\nX-Resource: r\r\nContent-Length: 2\r\n\r\nab")
			want(t, a, http.StatusOK)
			if a.Last {
				t.Errorf("HTTP/1.0 has to be told that the connection stays open: %v", a)
			}
		}
		want(t, c.Ask(t, "POST /attempt HTTP/1.0\r\nX-Resource: r\r\n\r\n"), http.StatusOK)
		c.WantClosed(t)
	})
	t.Run("bad request", func(t *testing.T) {
		t.Parallel()
		c := harness.Dial(t, r.Addr)
		want(t, c.Ask(t, "POST /attempt HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), http.StatusBadRequest)
		want(t, c.Ask(t, "POST /attempt HTTP/1.0\r\n\r\n"), http.StatusBadRequest)
		c.WantClosed(t)
	})
}

// A client that wants the connection closed gets it closed, after the answer.
func TestConnectionClose(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: plenty})
	for name, request := range map[string]string{
		"attempt":     text(post, "X-Resource: r", "Connection: close"),
		"bad request": text(post, "Connection: close"),
	} {
		c := harness.Dial(t, r.Addr)
		if a := c.Ask(t, request); a.Status != http.StatusOK && name == "attempt" || !a.Last {
			t.Errorf("%s: got %v", name, a)
		}
		c.WantClosed(t)
	}
}

// The target may be a whole URL, of whatever host, with a query.
func TestAbsoluteForm(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: fits(2)})
	c := harness.Dial(t, r.Addr)
	want(t, c.Ask(t, text("POST http://levee.example/attempt", "X-Resource: r")), http.StatusOK)
	want(t, c.Ask(t, text("POST http://levee.example:5454/attempt?a=b", "X-Resource: r")), http.StatusOK)
	want(t, c.Ask(t, text(post, "X-Resource: r")), http.StatusTooManyRequests)
	want(t, c.Ask(t, text("POST http://levee.example/attempt/", "X-Resource: r")), http.StatusNotFound)
	c.WantOpen(t)
}

// Names of fields are the same in any case.
func TestFieldNames(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{ownSublimit("r", "p/GET"): fits(2), keyDefault: nothing})
	c := harness.Dial(t, r.Addr)
	want(t, c.Ask(t, text(post, "x-resource: r", "X-PREFIX:p", "x-mEtHoD:\tGET\t", "X-HITS: 1 ")), http.StatusOK)
	want(t, c.Ask(t, text(post, "X-Resource: r", "X-Prefix: p", "X-Method: GET")), http.StatusOK)
	want(t, c.Ask(t, text(post, "x-resource: r", "X-Resource: r")), http.StatusBadRequest)
	want(t, c.Ask(t, text(post, "X-Resource:   \t ")), http.StatusBadRequest)
	c.WantOpen(t)
}

// The length says that a body is too long: the answer does not wait for it.
func TestBodyTooLongAtOnce(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: fits(1)})
	for name, fields := range map[string][]string{
		"announced":            {"Content-Length: 65537"},
		"very long":            {"Content-Length: 9223372036854775807"},
		"asked for permission": {"Content-Length: 65537", "Expect: 100-continue"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := harness.Dial(t, r.Addr)
			a := c.Ask(t, text(post, append(fields, "X-Resource: r")...))
			want(t, a, http.StatusRequestEntityTooLarge)
			if !isLine(a.Body) || !a.Last {
				t.Errorf("got %v", a)
			}
			c.WantClosed(t)
		})
	}
}

// A client that sends all of a body that is too long still gets the answer.
func TestBodyTooLongInChunks(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: fits(1)})
	c := harness.Dial(t, r.Addr)
	c.Put(t, text(post, "X-Resource: r", "Transfer-Encoding: chunked"))
	for range 65 {
		c.Put(t, "400\r\n"+strings.Repeat("x", 1024)+"\r\n")
	}
	a := c.Ask(t, "0\r\n\r\n")
	want(t, a, http.StatusRequestEntityTooLarge)
	c.WantClosed(t)
	wantAccepted(t, r.Client(t, harness.HTTP1), 2, 1, "r")
}

// Expect: 100-continue is served: the body comes after the permission.
func TestExpectContinue(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: fits(1)})
	c := harness.Dial(t, r.Addr)
	want(t, c.Ask(t, text(post, "X-Resource: r", "Content-Length: 5", "Expect: 100-continue")), http.StatusContinue)
	want(t, c.Ask(t, "hello"), http.StatusOK)
	c.WantOpen(t)
}

// The decision is taken when the request is whole: one that breaks off has
// changed nothing.
func TestBrokenOffRequests(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: fits(1)})
	whole := text(post, "X-Resource: r", "Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n"
	for n := range len(whole) {
		c := harness.Dial(t, r.Addr)
		c.Put(t, whole[:n])
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	sized := text(post, "X-Resource: r", "Content-Length: 5")
	for n := range 5 {
		c := harness.Dial(t, r.Addr)
		c.Put(t, sized+"hello"[:n])
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	c := harness.Dial(t, r.Addr)
	want(t, c.Ask(t, whole), http.StatusOK)
	want(t, c.Ask(t, whole), http.StatusTooManyRequests)
}

// A body of chunks with trailers is passed over.
func TestTrailers(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{ownQuota("r"): fits(1), keyDefault: nothing})
	c := harness.Dial(t, r.Addr)
	chunks := "5;ext=1\r\nhello\r\n0\r\nX-Resource: trailer\r\nX-Hits: 7\r\n\r\n"
	want(t, c.Ask(t, text(post, "Transfer-Encoding: chunked", "Trailer: X-Resource")+chunks), http.StatusBadRequest)
	want(t, c.Ask(t, text(post, "X-Resource: r", "Transfer-Encoding: chunked")+chunks), http.StatusOK)
	want(t, c.Ask(t, text(post, "X-Resource: r", "Transfer-Encoding: chunked")+chunks), http.StatusTooManyRequests)
	c.WantOpen(t)
}

// HEAD gets no body, also where GET would: what follows is the next answer.
func TestHeadHasNoBody(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: plenty})
	c := harness.Dial(t, r.Addr)
	for path, status := range map[string]int{"/attempt": 405, "/other": 404, "/healthz": 200} {
		c.Put(t, text("HEAD "+path)+text("GET "+path))
		head, get := c.AnswerTo(t, http.MethodHead), c.AnswerTo(t, http.MethodGet)
		if head.Status != status || get.Status != status || !isLine(get.Body) {
			t.Errorf("%s: HEAD got %v, GET got %v, want %d", path, head, get, status)
		}
		if said := head.Header.Get("Content-Length"); said != "" && said != fmt.Sprint(len(get.Body)) {
			t.Errorf("%s: HEAD says Content-Length %s, GET has %d", path, said, len(get.Body))
		}
	}
	c.WantOpen(t)
}
