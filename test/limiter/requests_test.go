package limiter

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/levee-project/levee/test/harness"
)

const maxBody = 64 << 10

// bad is a request that is the client's fault.
type bad struct {
	name    string
	request func() harness.Request
	status  int
	reason  string // of levee_bad_requests_total
	closes  bool   // in HTTP/1.1 the connection does not stay open
}

func withFields(name string, fields http.Header, reason string) bad {
	return bad{
		name: name, status: http.StatusBadRequest, reason: reason,
		request: func() harness.Request { return harness.Request{Fields: fields.Clone()} },
	}
}

func withHits(hits string) bad {
	return withFields("X-Hits "+hits, http.Header{"X-Resource": {"r"}, "X-Hits": {hits}}, "hits")
}

func withMethod(method, path string, status int, reason string) bad {
	return bad{
		name: method + " " + path, status: status, reason: reason,
		request: func() harness.Request {
			return harness.Request{Method: method, Path: path, Fields: http.Header{"X-Resource": {"r"}}}
		},
	}
}

// unsized hides how long a body is, so that it is sent in chunks.
type unsized struct{ io.Reader }

func withBody(name string, body func() io.Reader) bad {
	return bad{
		name: name, status: http.StatusRequestEntityTooLarge, reason: "body_too_large", closes: true,
		request: func() harness.Request {
			return harness.Request{Fields: http.Header{"X-Resource": {"r"}}, Body: body()}
		},
	}
}

func badRequests() []bad {
	r, long := "r", strings.Repeat("k", 1025)
	cases := []bad{
		withFields("no resource", http.Header{"X-Prefix": {"p"}}, "no_resource"),
		withFields("empty resource", http.Header{"X-Resource": {""}}, "no_resource"),
		withFields("resource twice", http.Header{"X-Resource": {r, r}}, "repeated_field"),
		withFields("two resources", http.Header{"X-Resource": {r, "s"}}, "repeated_field"),
		withFields("prefix twice", http.Header{"X-Resource": {r}, "X-Prefix": {"p", "p"}}, "repeated_field"),
		withFields("method twice", http.Header{"X-Resource": {r}, "X-Method": {"GET", "PUT"}}, "repeated_field"),
		withFields("hits twice", http.Header{"X-Resource": {r}, "X-Hits": {"1", "1"}}, "repeated_field"),
		withFields("long resource", http.Header{"X-Resource": {long}}, "key_too_long"),
		withFields("long prefix", http.Header{"X-Resource": {r}, "X-Prefix": {long}}, "key_too_long"),
		withFields("long method", http.Header{"X-Resource": {r}, "X-Method": {long}}, "key_too_long"),
		withBody("64 KiB and one, announced", func() io.Reader { return strings.NewReader(strings.Repeat("x", maxBody+1)) }),
		withBody("64 KiB and one, in chunks", func() io.Reader { return unsized{strings.NewReader(strings.Repeat("x", maxBody+1))} }),
	}
	for _, hits := range []string{"-1", "1.5", "1000001", "abc", "+5", "", "1e3", "0x10", "1,1", "1 1", "99999999999999999999", "٣"} {
		cases = append(cases, withHits(hits))
	}
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "post", "ATTEMPT"} {
		cases = append(cases, withMethod(method, "/attempt", http.StatusMethodNotAllowed, "method"))
	}
	for _, path := range []string{"/", "/attempt/", "/attempt/x", "/Attempt", "/attempts", "//attempt", "/x/../attempt"} {
		cases = append(cases, withMethod("POST", path, http.StatusNotFound, "path"))
	}
	return append(cases,
		withMethod("GET", "/other", http.StatusNotFound, "path"),
		withMethod("HEAD", "/other", http.StatusNotFound, "path"),
		withMethod("POST", "/healthz", http.StatusMethodNotAllowed, "method"))
}

// Each bad request gets its status and a line that says why, is counted, changes
// nothing, and leaves the connection as it should.
func TestBadRequests(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: fits(1)})
	for _, p := range harness.Protocols {
		for _, b := range badRequests() {
			t.Run(string(p)+"/"+b.name, func(t *testing.T) {
				before := r.Scrape(t)
				if p == harness.HTTP1 {
					refusedOverHTTP1(t, r, b)
				} else {
					refusedOverHTTP2(t, r, b)
				}
				after := r.Scrape(t)
				if n := after.Sum(badTotal, "reason", b.reason) - before.Sum(badTotal, "reason", b.reason); n != 1 {
					t.Errorf("reason %s went up by %v", b.reason, n)
				}
				if n := after.Sum(badTotal) - before.Sum(badTotal); n != 1 {
					t.Errorf("all reasons together went up by %v", n)
				}
			})
		}
	}
	m := r.Scrape(t)
	if n := m.Sum("levee_attempts_total") + m.Sum("levee_attempt_duration_seconds") + m.Sum("levee_keys"); n != 0 {
		t.Errorf("bad requests left traces in the metrics of attempts: %v", n)
	}
	wantAccepted(t, r.Client(t, harness.HTTP1), 2, 1, "r")
}

func refusedOverHTTP1(t *testing.T, r *rig, b bad) {
	t.Helper()
	c := harness.Dial(t, r.Addr)
	wantRefusal(t, c.Send(t, b.request()), b)
	if b.closes {
		c.WantClosed(t)
	} else {
		c.WantOpen(t)
	}
}

// No refusal ends a connection of HTTP/2, which others use.
func refusedOverHTTP2(t *testing.T, r *rig, b bad) {
	t.Helper()
	c := r.Client(t, harness.H2C)
	want(t, c.Get(t, "/healthz"), http.StatusOK)
	wantRefusal(t, c.Send(t, b.request()), b)
	if next := c.Get(t, "/healthz"); !next.Reused {
		t.Error("the connection is not used again")
	}
}

const badTotal = "levee_bad_requests_total"

// wantRefusal looks at the answer to a bad request.
func wantRefusal(t *testing.T, a harness.Answer, b bad) {
	t.Helper()
	want(t, a, b.status)
	if head := b.request().Method == http.MethodHead; head && a.Body != "" || !head && !isLine(a.Body) {
		t.Errorf("body %q", a.Body)
	}
	if b.status == http.StatusBadRequest && !strings.Contains(a.Body, "X-") {
		t.Errorf("body %q does not name the field", a.Body)
	}
	if kind := a.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/plain") {
		t.Errorf("Content-Type %q", kind)
	}
	if a.Header.Get("Date") == "" {
		t.Error("no Date")
	}
	allow := a.Header.Get("Allow")
	if want405 := b.status == http.StatusMethodNotAllowed; want405 && b.request().Path == "/attempt" && allow != "POST" || !want405 && allow != "" {
		t.Errorf("Allow %q", allow)
	}
}

// What is unusual and right.
func TestGoodRequests(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: plenty})
	long := strings.Repeat("k", 1024)
	each(t, r.Limiter, func(t *testing.T, c *harness.Client) {
		for name, request := range map[string]harness.Request{
			"64 KiB, announced":      {Body: strings.NewReader(strings.Repeat("x", maxBody))},
			"64 KiB, in chunks":      {Body: unsized{strings.NewReader(strings.Repeat("x", maxBody))}},
			"empty body":             {Body: unsized{strings.NewReader("")}},
			"query":                  {Path: "/attempt?X-Resource=s&X-Hits=abc&%zz"},
			"empty query":            {Path: "/attempt?"},
			"keys of 1,024 bytes":    {Fields: http.Header{"X-Resource": {long}, "X-Prefix": {long}, "X-Method": {long}}},
			"most hits":              {Fields: http.Header{"X-Resource": {"r"}, "X-Hits": {"1000000"}}},
			"no hits":                {Fields: http.Header{"X-Resource": {"r"}, "X-Hits": {"0"}}},
			"empty prefix":           {Fields: http.Header{"X-Resource": {"r"}, "X-Prefix": {""}, "X-Method": {""}}},
			"fields that say naught": {Fields: http.Header{"X-Resource": {"r"}, "X-Other": {"1", "2"}, "X-Req-Id": {"a", "b"}}},
		} {
			if request.Fields == nil {
				request.Fields = http.Header{"X-Resource": {"r"}}
			}
			a := c.Send(t, request)
			if a.Status != http.StatusOK || a.Body != "" || a.Header.Get("Content-Length") != "0" || a.Header.Get("Date") == "" {
				t.Errorf("%s: %v", name, a)
			}
		}
		if n := r.Scrape(t).Sum(badTotal); n != 0 {
			t.Errorf("%v bad requests", n)
		}
	})
}

// An accepted and a rejected answer have no body, and say so.
func TestAnswersHaveNoBody(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: fits(1)})
	each(t, r.Limiter, func(t *testing.T, c *harness.Client) {
		for _, status := range []int{http.StatusOK, http.StatusTooManyRequests} {
			a := c.Attempt(t, string(c.Protocol))
			want(t, a, status)
			if a.Body != "" || a.Header.Get("Content-Length") != "0" || a.Header.Get("Date") == "" {
				t.Errorf("got %v", a)
			}
		}
	})
}

// Trailers never supply keys, and never change them.
func TestTrailersAreNoKeys(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: fits(1)})
	each(t, r.Limiter, func(t *testing.T, c *harness.Client) {
		key := string(c.Protocol)
		trailer := http.Header{"X-Resource": {"trailer"}, "X-Prefix": {"p"}, "X-Method": {"GET"}, "X-Hits": {"abc"}}
		a := c.Send(t, harness.Request{
			Fields: http.Header{}, Body: unsized{strings.NewReader("body")}, Trailer: trailer.Clone(),
		})
		want(t, a, http.StatusBadRequest)
		a = c.Send(t, harness.Request{
			Fields: http.Header{"X-Resource": {key}}, Body: unsized{strings.NewReader("body")}, Trailer: trailer.Clone(),
		})
		want(t, a, http.StatusOK)
		wantAccepted(t, c, 1, 0, key)
	})
	wantAccepted(t, r.Client(t, harness.HTTP1), 2, 1, "trailer")
}

// White space around a key does not count, and white space alone is no key.
// HTTP/2 may also call such a field malformed, which resets the stream.
func TestWhiteSpaceIsNoKey(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: fits(1)})
	each(t, r.Limiter, func(t *testing.T, c *harness.Client) {
		for _, blank := range []string{" ", "\t", " \t "} {
			a, err := c.Do(harness.Request{Fields: http.Header{"X-Resource": {blank}}})
			if err == nil && a.Status != http.StatusBadRequest || err != nil && c.Protocol == harness.HTTP1 {
				t.Errorf("X-Resource %q: got %v, %v, want 400", blank, a, err)
			}
			a, err = c.Do(harness.Request{Fields: http.Header{"X-Resource": {"blank"}, "X-Prefix": {blank}, "X-Method": {blank}, "X-Hits": {"0"}}})
			if err == nil && a.Status != http.StatusOK || err != nil && c.Protocol == harness.HTTP1 {
				t.Errorf("X-Prefix and X-Method %q: got %v, %v, want 200", blank, a, err)
			}
		}
	})
	if n := r.Scrape(t).Sum("levee_keys"); n > 1 {
		t.Errorf("%v keys were made of white space", n)
	}
}
