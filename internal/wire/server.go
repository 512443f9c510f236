package wire

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"

	"github.com/levee-project/levee/internal/attempt"
)

// Options say how a [Server] serves.
type Options struct {
	// Decider answers the attempts.
	Decider attempt.Decider
	// Clock returns nanoseconds of a monotonic clock; it is read once for each
	// attempt.
	Clock func() int64
	// Health says whether the daemon is ready, and if not why, for /healthz.
	Health func() (ready bool, reason string)
	// Headers returns the fields that go with answers; it may change.
	Headers func() Headers
	// Observe is called with each attempt and its answer; took is the time from
	// the whole request to the decision.
	Observe func(a *attempt.Attempt, o *attempt.Outcome, took time.Duration)
	// Bad is called for each bad request.
	Bad func(Reason)
	// Log takes what goes wrong on connections.
	Log *slog.Logger

	// HeaderTimeout bounds the reading of a whole header, BodyTimeout that of a
	// whole body, IdleTimeout the wait for the next request on a connection, and
	// WriteTimeout the wait for a peer that does not read.
	HeaderTimeout, BodyTimeout, IdleTimeout, WriteTimeout time.Duration
	// MaxConnections bounds the open connections; more wait to be accepted. 0
	// sets no bound.
	MaxConnections int
}

// Server answers attempts on one listener.
type Server struct {
	o        Options
	http     *http.Server
	listener *net.TCPListener
	draining atomic.Bool
	last     atomic.Int64 // clock of the latest attempt
}

// NewServer returns a server for an open listener, which it owns from then on.
func NewServer(l *net.TCPListener, o Options) *Server {
	s := &Server{o: o, listener: l}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		Protocols:         protocols,
		ReadHeaderTimeout: o.HeaderTimeout,
		ReadTimeout:       o.HeaderTimeout + o.BodyTimeout,
		WriteTimeout:      o.HeaderTimeout + o.BodyTimeout + o.WriteTimeout,
		IdleTimeout:       o.IdleTimeout,
		MaxHeaderBytes:    MaxHeader - 4096, // net/http adds this much to it
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: 250},
	}
	return s
}

// Serve answers until [Server.Drain] or [Server.Close].
func (s *Server) Serve() error {
	var l net.Listener = s.listener
	if s.o.MaxConnections > 0 {
		l = netutil.LimitListener(l, s.o.MaxConnections)
	}
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close ends everything at once.
func (s *Server) Close() { _ = s.http.Close() }

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if s.draining.Load() && r.ProtoMajor == 1 {
		w.Header().Set("Connection", "close")
	}
	switch r.URL.Path {
	case "/attempt":
		s.serveAttempt(w, r)
	case "/healthz":
		s.serveHealth(w, r)
	default:
		s.refuse(w, &refusal{http.StatusNotFound, ReasonPath, "there is nothing here; ask POST /attempt"})
	}
}

func (s *Server) serveAttempt(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		s.refuse(w, &refusal{http.StatusMethodNotAllowed, ReasonMethod, "attempts are made with POST"})
		return
	}
	var a attempt.Attempt
	refused := parse(r.Header, &a)
	if refused == nil {
		refused = readBody(r)
	}
	if refused != nil {
		s.refuse(w, refused)
		return
	}
	now := s.o.Clock()
	s.last.Store(now)
	o, _ := s.o.Decider.Attempt(now, &a, nil)
	s.o.Observe(&a, &o, time.Duration(s.o.Clock()-now))
	writeOutcome(w, o, s.o.Headers())
}

// readBody reads and ignores the body, up to MaxBody.
func readBody(r *http.Request) *refusal {
	tooLarge := &refusal{http.StatusRequestEntityTooLarge, ReasonBodyTooLarge, "the body is longer than 64 KiB"}
	if r.ContentLength > MaxBody {
		return tooLarge
	}
	n, err := io.Copy(io.Discard, io.LimitReader(r.Body, MaxBody+1))
	switch {
	case err != nil:
		return &refusal{http.StatusBadRequest, ReasonBodyBroken, "the body could not be read: " + err.Error()}
	case n > MaxBody:
		return tooLarge
	}
	return nil
}

func (s *Server) refuse(w http.ResponseWriter, r *refusal) {
	s.o.Bad(r.reason)
	if r.status == http.StatusRequestEntityTooLarge || r.reason == ReasonBodyBroken {
		w.Header().Set("Connection", "close")
	}
	writeLine(w, r.status, r.text)
}

func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.refuse(w, &refusal{http.StatusMethodNotAllowed, ReasonMethod, "health is asked with GET or HEAD"})
		return
	}
	ready, reason := s.o.Health()
	if !ready {
		writeLine(w, http.StatusServiceUnavailable, reason)
		return
	}
	writeLine(w, http.StatusOK, "ready")
}

// Drain stops the server without losing an attempt. It goes on answering for at
// least a second and until no attempt has come for a second, telling clients to
// connect elsewhere; then it takes no more connections and finishes what is in
// flight. It takes at most the given time, and a little for the last answers.
func (s *Server) Drain(ctx context.Context, atMost time.Duration) error {
	s.draining.Store(true)
	s.waitQuiet(ctx, atMost)
	if err := refuseConnections(s.listener); err != nil {
		s.o.Log.Warn("connections that come in this moment may be cut", "err", err)
	}
	select { // handshakes under way arrive, and are accepted
	case <-time.After(handshakeTime):
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(ctx, lastAnswers)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
		return err
	}
	return nil
}

func (s *Server) waitQuiet(ctx context.Context, atMost time.Duration) {
	const quiet = time.Second
	tick := time.NewTicker(quiet / 20)
	defer tick.Stop()
	began := s.o.Clock()
	for {
		now := s.o.Clock()
		since := time.Duration(now - max(began, s.last.Load()))
		if since >= quiet || time.Duration(now-began) >= atMost {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
