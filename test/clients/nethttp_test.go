package clients

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// goClient returns a client of net/http for HTTP/1.1, and the number of
// connections that it has opened.
func goClient(t *testing.T) (c *http.Client, opened *atomic.Int64) {
	t.Helper()
	opened = &atomic.Int64{}
	transport := &http.Transport{MaxIdleConnsPerHost: 64, ExpectContinueTimeout: time.Minute}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 20 * time.Second}, opened
}

// post makes an attempt, and returns the status and the text of the answer.
func post(ctx context.Context, c *http.Client, opened *atomic.Int64, url string, body io.Reader, fields ...string) (status int, text string, err error) {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if !info.Reused {
			opened.Add(1)
		}
	}})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
	if err != nil {
		return 0, "", err
	}
	for i := 0; i+1 < len(fields); i += 2 {
		r.Header.Add(fields[i], fields[i+1])
	}
	answer, err := c.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = answer.Body.Close() }()
	b, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(b), err
}

func TestNetHTTP(t *testing.T) {
	unknown := func(text string) io.Reader { return io.MultiReader(strings.NewReader(text)) } // of a length it does not know
	tests := []struct {
		name   string
		body   func() io.Reader
		fields []string
		status int
		text   string
	}{
		{"no body", func() io.Reader { return nil }, nil, 200, ""},
		{"a body", func() io.Reader { return strings.NewReader("hello") }, nil, 200, ""},
		{"a long body", func() io.Reader { return strings.NewReader(strings.Repeat("b", 65_536)) }, nil, 200, ""},
		{"a body that waits for leave", func() io.Reader { return strings.NewReader("hello") }, []string{"Expect", "100-continue"}, 200, ""},
		{"chunks", func() io.Reader { return unknown("hello") }, nil, 200, ""},
		{"long chunks", func() io.Reader { return unknown(strings.Repeat("b", 65_536)) }, nil, 200, ""},
		{"chunks that wait for leave", func() io.Reader { return unknown("hello") }, []string{"Expect", "100-continue"}, 200, ""},
		{"rejected", func() io.Reader { return nil }, []string{"X-Resource", "rejected"}, 429, ""},
		{"repeated", func() io.Reader { return nil }, []string{"X-Resource", "a", "X-Resource", "a"}, 400, "X-Resource is given more than once\n"},
		{"hits", func() io.Reader { return nil }, []string{"X-Hits", "-1", "X-Resource", "a"}, 400, "X-Hits is not a whole number from 0 to 1000000\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t)
			c, opened := goClient(t)
			fields := test.fields
			if len(fields) == 0 || fields[0] == "Expect" {
				fields = append([]string{"X-Resource", "a"}, fields...)
			}
			for range 3 {
				status, text, err := post(t.Context(), c, opened, "http://"+s.addr+"/attempt", test.body(), fields...)
				if err != nil || status != test.status || text != test.text {
					t.Fatalf("answer %d %q, error %v; want %d %q", status, text, err, test.status, test.text)
				}
			}
			if opened.Load() != 1 {
				t.Errorf("%d connections for three requests, want 1", opened.Load())
			}
		})
	}
}

// TestNetHTTPTooLarge: the client that waits for leave and the one that does not
// both see the refusal.
func TestNetHTTPTooLarge(t *testing.T) {
	for _, expect := range []string{"100-continue", ""} {
		s := serve(t)
		c, opened := goClient(t)
		for range 20 {
			body := strings.NewReader(strings.Repeat("b", 900_000))
			status, text, err := post(t.Context(), c, opened, "http://"+s.addr+"/attempt", body, "X-Resource", "a", "Expect", expect)
			if err != nil || status != 413 || text != "the body is longer than 64 KiB\n" {
				t.Fatalf("Expect %q: answer %d %q, error %v; want 413", expect, status, text, err)
			}
		}
		if s.decided("a") > 0 {
			t.Error("a refused request was decided")
		}
	}
}

// TestNetHTTPManyAtOnce uses a pool of connections from many goroutines.
func TestNetHTTPManyAtOnce(t *testing.T) {
	s := serve(t)
	c, opened := goClient(t)
	const clients, each = 32, 100
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for i := range each {
				resource, want := "a", 200
				if i%2 == 0 {
					resource, want = "rejected", 429
				}
				status, _, err := post(t.Context(), c, opened, "http://"+s.addr+"/attempt", nil, "X-Resource", resource)
				if err != nil || status != want {
					t.Errorf("answer %d, error %v; want %d", status, err, want)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := s.decided("a") + s.decided("rejected"); n != clients*each {
		t.Errorf("%d attempts were decided, want %d", n, clients*each)
	}
	if n := opened.Load(); n > 2*clients {
		t.Errorf("%d connections for %d clients: they are not kept", n, clients)
	}
	s.checkNothingBad(t)
}

// TestNetHTTPDrain: a client library that knows keep-alive loses nothing when the
// server stops as planned. What comes too late is refused, and it knows that.
func TestNetHTTPDrain(t *testing.T) {
	s := serve(t)
	c, opened := goClient(t)
	var answered atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for {
				status, _, err := post(t.Context(), c, opened, "http://"+s.addr+"/attempt", nil, "X-Resource", "a")
				switch {
				case err != nil && s.closed():
					return
				case err != nil || status != 200:
					t.Errorf("answer %d, error %v", status, err)
					return
				}
				answered.Add(1)
			}
		})
	}
	if err := s.Drain(t.Context(), 1500*time.Millisecond); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if n := s.decided("a"); int64(n) != answered.Load() {
		t.Errorf("%d attempts were decided, %d answered", n, answered.Load())
	}
}

var dialer net.Dialer

// closed reports whether the port takes no more connections.
func (s *server) closed() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	c, err := dialer.DialContext(ctx, "tcp", s.addr)
	if err == nil {
		_ = c.Close()
	}
	return err != nil
}

// TestNetHTTPGivesUp: clients that cancel in the middle of everything hurt nobody.
func TestNetHTTPGivesUp(t *testing.T) {
	s := serve(t)
	c, opened := goClient(t)
	for i := range 50 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*20*time.Microsecond)
		body, end := io.Pipe()
		go func() {
			_, _ = io.WriteString(end, "hello")
			<-ctx.Done()
			_ = end.CloseWithError(ctx.Err())
		}()
		if _, _, err := post(ctx, c, opened, "http://"+s.addr+"/attempt", body, "X-Resource", "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		cancel()
	}
	if n := s.decided("a"); n > 0 {
		t.Errorf("%d attempts were decided that never were whole", n)
	}
	if status, _, err := post(t.Context(), c, opened, "http://"+s.addr+"/attempt", nil, "X-Resource", "b"); err != nil || status != 200 {
		t.Errorf("afterwards: answer %d, error %v", status, err)
	}
}
