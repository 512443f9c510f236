package wire

import (
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

// serveReal answers attempts with the server of net/http.
func serveReal(t testing.TB, config *http.HTTP2Config, handler http.HandlerFunc) (addr string) {
	t.Helper()
	l := listen(t)
	s := &http.Server{Handler: handler, HTTP2: config, Protocols: new(http.Protocols), ErrorLog: log.New(io.Discard, "", 0)}
	s.Protocols.SetUnencryptedHTTP2(true)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// realAttempt describes the attempt of a request as describe does.
func realAttempt(r *http.Request) string {
	a := attempt.Attempt{
		Resource: []byte(r.Header.Get("X-Resource")), Prefix: []byte(r.Header.Get("X-Prefix")), Method: []byte(r.Header.Get("X-Method")),
		ReqID: []byte(r.Header.Get("X-Req-Id")), Hits: 1,
	}
	if hits := r.Header.Get("X-Hits"); hits != "" {
		_, _ = fmt.Sscan(hits, &a.Hits)
	}
	return describe(&a)
}

// Another server understands what is asked, with any table, and is understood.
func TestClientOfRealServer(t *testing.T) {
	for _, table := range []int{4096, 1, 100, 300, 1 << 16} {
		t.Run(fmt.Sprint(table), func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			seen := map[string]int{}
			addr := serveReal(t, &http.HTTP2Config{MaxDecoderHeaderTableSize: table}, func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost || r.URL.Path != "/attempt" || r.Host == "" {
					t.Errorf("%s %s of %q", r.Method, r.URL, r.Host)
				}
				mu.Lock()
				seen[realAttempt(r)]++
				mu.Unlock()
				switch r.Header.Get("X-Resource") {
				case "rejected":
					w.Header().Set("Retry-After", "3")
					w.WriteHeader(http.StatusTooManyRequests)
				case "failed":
					http.Error(w, "the quotas are not loaded", http.StatusInternalServerError)
				case "page":
					w.WriteHeader(http.StatusBadGateway)
					for range 100 {
						_, _ = fmt.Fprint(w, strings.Repeat("<p>Bad gateway", 100))
					}
				case "early":
					w.Header().Set("Link", "</style.css>")
					w.WriteHeader(http.StatusEarlyHints)
					w.Header().Set("Trailer", "X")
					_, _ = fmt.Fprintln(w, "passes")
					w.Header().Set("X", "y")
				case "abort":
					panic(http.ErrAbortHandler)
				}
			})
			c := connect(t, addr)
			for range 3 {
				for _, test := range []struct {
					ask  *attempt.Attempt
					want answered
				}{
					{about("r"), wasAccepted},
					{&attempt.Attempt{Resource: []byte("r"), Prefix: []byte("p"), Method: []byte("m"), ReqID: []byte("i"), Hits: 12}, wasAccepted},
					{about("rejected"), answered{attempt.Outcome{Result: attempt.Rejected, Over: true, RetryAfter: 3 * time.Second}, nil}},
					{about("failed"), wasFailed("the quotas are not loaded")},
					{about("page"), wasFailed("the limiter answered 502: " + strings.Repeat("<p>Bad gateway", 100)[:maxText])},
					{about("early"), wasAccepted},
					{about("abort"), wasLost},
				} {
					if got := c.answer(t, test.ask); !reflect.DeepEqual(got, test.want) {
						t.Errorf("%s: %+v, want %+v", test.ask.Resource, got, test.want)
					}
				}
			}
			mu.Lock()
			defer mu.Unlock()
			delete(seen, "0 prefix=0 method=0 hits=0 id=0") // the first, which is cancelled,
			delete(seen, "")                                // with a table that is too small
			if want := map[string]int{"r": 3, "r prefix=p method=m hits=12 id=i": 3, "rejected": 3, "failed": 3, "page": 3, "early": 3, "abort": 3}; !reflect.DeepEqual(seen, want) {
				t.Errorf("seen %v", seen)
			}
			if got := c.changes(); got != "up" {
				t.Errorf("told %s", got)
			}
		})
	}
}

// crowdOf has many ask at once, each n times, and checks what they are told. Those
// that are not taken try again.
func crowdOf(t *testing.T, c *testClient, askers, n int, check func(resource string, got answered)) {
	var wg sync.WaitGroup
	for i := range askers {
		wg.Go(func() {
			for j := range n {
				resource := []string{"r", "rejected", "failed"}[(i+j)%3]
				call := newCall()
				for !c.Ask(c.o.Clock(), about(resource), call) {
					if wait(t.Context(), time.Millisecond); t.Context().Err() != nil {
						return
					}
				}
				got := call.wait(t)
				check(resource, got)
				if times := call.times.Load(); times != 1 {
					t.Errorf("told %d times", times)
				}
			}
		})
	}
	wg.Wait()
}

// Every caller gets its own answer, whatever the order in which they come.
func TestClientCrowd(t *testing.T) {
	right := func(resource string, got answered) {
		o := outcomeFor(resource)
		if got.err != nil || got.Result != o.Result || got.Failure != o.Failure {
			t.Errorf("%s: %+v", resource, got)
		}
	}
	t.Run("at once", func(t *testing.T) {
		t.Parallel()
		s := serve(t, runningClock)
		crowdOf(t, connect(t, s.addr, func(o *ClientOptions) { o.Connections = 2 }), 300, 100, right)
		if bad, _ := s.told(); len(bad) > 0 {
			t.Errorf("the limiter complains of %v", bad)
		}
	})
	t.Run("late", func(t *testing.T) {
		t.Parallel()
		late := newScattering(t)
		s := serve(t, runningClock, func(o *Options) { o.Decider = late })
		crowdOf(t, connect(t, s.addr, func(o *ClientOptions) { o.Connections = 3 }), 600, 30, right)
	})
	t.Run("net/http", func(t *testing.T) {
		t.Parallel()
		addr := serveReal(t, &http.HTTP2Config{MaxConcurrentStreams: 50}, func(w http.ResponseWriter, r *http.Request) {
			o := outcomeFor(r.Header.Get("X-Resource"))
			switch o.Result {
			case attempt.Rejected:
				w.WriteHeader(http.StatusTooManyRequests)
			case attempt.Failed:
				http.Error(w, o.Failure, http.StatusInternalServerError)
			}
		})
		crowdOf(t, connect(t, addr, func(o *ClientOptions) { o.Connections = 2 }), 100, 100, right)
	})
}

// Whatever becomes of its connections, every call is told once, and what it is told
// is true.
func TestClientChaos(t *testing.T) {
	t.Parallel()
	late := newScattering(t)
	s := serve(t, runningClock, func(o *Options) { o.Decider = late })
	addr := disturb(t, s.addr)
	c := newTestClient(addr, func(o *ClientOptions) {
		o.Connections = 3
		o.Timeout = 50 * time.Millisecond
	}).run(t)
	var mu sync.Mutex
	ends := map[string]int{}
	crowdOf(t, c, 50, 60, func(resource string, got answered) {
		mu.Lock()
		defer mu.Unlock()
		if got.err != nil {
			ends[got.err.Error()]++
			return
		}
		ends[got.Result.String()]++
		// (What is added may become part of a text that was cut.)
		if o := outcomeFor(resource); got.Result != o.Result {
			t.Errorf("%s: %+v", resource, got)
		}
	})
	t.Logf("%v; told %d times", ends, strings.Count(c.changes(), "|"))
	if len(ends) < 4 || strings.Count(c.changes(), "|") < 5 {
		t.Errorf("little has happened: %v, %s", ends, c.changes())
	}
}

// disturb passes connections on to a limiter, and cuts them, stops, or adds what
// nobody has sent.
func disturb(t *testing.T, to string) (addr string) {
	l := listen(t)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			in, err := l.AcceptTCP()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			_ = in.SetDeadline(time.Now().Add(time.Second)) // one that has stopped ends then
			wg.Go(func() { disturbOne(out.(*net.TCPConn), in) })
			wg.Go(func() { disturbOne(in, out.(*net.TCPConn)) })
		}
	})
	t.Cleanup(wg.Wait)
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// disturbOne is one direction of a connection.
func disturbOne(to, from *net.TCPConn) {
	defer func() { _ = to.Close(); _ = from.Close() }()
	left := rand.IntN(20000)
	b := make([]byte, 4096)
	for left > 0 {
		n, err := from.Read(b[:1+rand.IntN(len(b))])
		if err != nil {
			return
		}
		n = min(n, left)
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
		left -= n
	}
	switch rand.IntN(5) {
	case 0:
		_ = to.SetLinger(0)
	case 1: // nothing comes any more
		for {
			if _, err := from.Read(b); err != nil {
				return
			}
		}
	case 2:
		for i := range b {
			b[i] = byte(rand.Uint32())
		}
		_, _ = to.Write(b)
	case 3:
		_, _ = to.Write(appendGoAway(nil, uint32(rand.IntN(1000)), faultNone))
	case 4:
		for id := uint32(1); id < 1000; id += 2 {
			_, _ = to.Write(appendReset(nil, id, codeRefused))
		}
	}
}
