package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Bounds of the admin port. It serves a few scrapers and probes.
const (
	adminConns       = 64
	adminScrapes     = 8
	adminHeaderBytes = 16 << 10
	adminReadTime    = 5 * time.Second
	adminWriteTime   = 30 * time.Second
	adminIdleTime    = 2 * time.Minute
	adminStopTime    = time.Second
)

// admin serves its pages on ln until ctx ends.
func admin(ctx context.Context, ln net.Listener, h http.Handler, log *slog.Logger) error {
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: adminReadTime,
		ReadTimeout:       adminReadTime,
		WriteTimeout:      adminWriteTime,
		IdleTimeout:       adminIdleTime,
		MaxHeaderBytes:    adminHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ConnState:         refuseAbove(adminConns),
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	select {
	case err := <-served:
		_ = srv.Close() // it has failed already
		return fmt.Errorf("serve %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	// A scrape under way is worth a moment, but not the rest of the stop.
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), adminStopTime)
	defer cancel()
	if err := srv.Shutdown(bounded); err != nil {
		_ = srv.Close()
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", ln.Addr(), err)
	}
	return nil
}

// Serve serves pages on a listener of their own as a component, with the bounds
// of the admin port. It closes the listener.
func (d *Daemon) Serve(name string, ln net.Listener, h http.Handler) {
	d.Go(name, func(ctx context.Context) error { return admin(ctx, ln, h, d.Log) })
}

// refuseAbove closes connections that are more than limit at a time.
func refuseAbove(limit int64) func(net.Conn, http.ConnState) {
	var open atomic.Int64
	return func(c net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			if open.Add(1) > limit {
				_ = c.Close() // the server notices, and says StateClosed
			}
		case http.StateClosed, http.StateHijacked:
			open.Add(-1)
		}
	}
}

// addStockPages adds what the admin port of every daemon answers, GET and HEAD:
//
//   - /metrics: the registry, in the format that the client prefers;
//   - /healthz: 200 while the process is alive, else 503, with a line why;
//   - /readyz: 200 while it is ready, else 503, with a line why.
//
// A collector that fails does not hide the others: it is logged, and counted in
// promhttp_metric_handler_errors_total.
func addStockPages(mux *http.ServeMux, reg *prometheus.Registry, h *Health, log *slog.Logger) {
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{
		Registry:            reg,
		EnableOpenMetrics:   true,
		ErrorHandling:       promhttp.ContinueOnError,
		ErrorLog:            slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		MaxRequestsInFlight: adminScrapes,
	}))
	mux.HandleFunc("GET /healthz", answer(h.Alive))
	mux.HandleFunc("GET /readyz", answer(h.Ready))
}

// answer turns a question to Health into a page.
func answer(ask func() (ok bool, text string)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		ok, text := ask()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		if !ok {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = io.WriteString(w, text+"\n") // the client has gone; nobody else cares
	}
}
