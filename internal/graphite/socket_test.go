package graphite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// patience bounds what a test waits for a socket.
const patience = 10 * time.Second

// pushOnce runs a bridge with a registry of many series, and stops it at once: the
// push at the stop is the only one.
func pushOnce(t *testing.T, network, addr string, series int) *Bridge {
	t.Helper()
	r := prometheus.NewRegistry()
	many := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "many", Help: "x"}, []string{"x"})
	for i := range series {
		many.WithLabelValues(fmt.Sprintf("%d-%s", i, strings.Repeat("x", i%97))).Set(float64(i))
	}
	r.MustRegister(many)
	b := New(Options{
		Network: network, Address: addr, Interval: time.Hour, Prefix: "p", Registry: r, Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Run(ctx); err != nil {
		t.Error(err)
	}
	return b
}

// The last values arrive over TCP; all that counts as sent is there when the
// process may end.
func TestTCP(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"127.0.0.1", "localhost"} {
		ln, err := net.Listen("tcp", host+":0")
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan []byte, 1)
		go func() {
			c, err := ln.Accept()
			if err != nil {
				t.Error(err)
				close(got)
				return
			}
			all, _ := io.ReadAll(c)
			got <- all
		}()
		const series = 20_000
		_, port, _ := net.SplitHostPort(ln.Addr().String())
		b := pushOnce(t, "tcp", net.JoinHostPort(host, port), series)
		lines := bytes.Count(<-got, []byte("\n"))
		if sent := testutil.ToFloat64(b.metrics.sent); lines < series || sent != float64(lines) {
			t.Errorf("%s: %d lines came, %v count as sent, want %d and more", host, lines, sent, series)
		}
		_ = ln.Close()
	}
}

// Over UDP lines come whole, in datagrams that fit everywhere.
func TestUDP(t *testing.T) {
	t.Parallel()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer pc.Close()
	const series = 1000 // a socket has room for them even if nobody reads
	type result struct{ lines, datagrams, largest int }
	got := make(chan result, 1)
	go func() {
		var r result
		octets := make([]byte, 64<<10)
		for {
			_ = pc.SetReadDeadline(time.Now().Add(patience))
			n, _, err := pc.ReadFrom(octets)
			if err != nil {
				t.Errorf("after %+v: %v", r, err)
				break
			}
			if string(octets[:n]) == "end" {
				break
			}
			for line := range strings.SplitSeq(strings.TrimSuffix(string(octets[:n]), "\n"), "\n") {
				r.lines++
				if f := strings.Fields(line); len(f) != 3 || !strings.HasPrefix(line, "p.") || len(f[2]) != 10 {
					t.Errorf("not a whole line: %q", line)
				}
			}
			r.datagrams, r.largest = r.datagrams+1, max(r.largest, n)
		}
		got <- r
	}()
	b := pushOnce(t, "udp", pc.LocalAddr().String(), series)
	end, err := net.Dial("udp", pc.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close()
	if _, err := end.Write([]byte("end")); err != nil {
		t.Fatal(err)
	}
	r := <-got
	if sent := testutil.ToFloat64(b.metrics.sent); r.lines < series || sent != float64(r.lines) || r.largest > maxDatagram || r.largest < maxDatagram-200 {
		t.Errorf("came %+v, %v lines count as sent", r, sent)
	}
}

// Datagrams of a large registry have time between them, in which a collector can
// read, and are gone before the next push.
func TestUDPSpacing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		datagrams   int
		least, most time.Duration
	}{
		"as far apart as they get": {1000, 999 * spacing, 1000 * spacing},
		"more than there is time":  {20_000, 7 * time.Second, 7500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				came := make(chan int)
				go func() {
					octets, n := make([]byte, 2*maxDatagram), 0
					for {
						if _, err := far.Read(octets); err != nil {
							came <- n
							return
						}
						n++
					}
				}()
				line := append(bytes.Repeat([]byte("x"), maxDatagram-1), '\n')
				l := &udpLink{conn: near, interval: 15 * time.Second, metrics: newMetrics(prometheus.NewRegistry())}
				began := time.Now()
				sent, err := l.send(t.Context(), poll{lines: bytes.Repeat(line, c.datagrams), count: c.datagrams})
				took := time.Since(began)
				l.close()
				if n := <-came; n != c.datagrams || sent != n || err != nil {
					t.Errorf("%d datagrams came, %d lines count as sent, error %v", n, sent, err)
				}
				if took < c.least || took > c.most {
					t.Errorf("that took %v", took)
				}
			})
		})
	}
}

// Where nobody listens, what the network refuses is counted and not sent again.
func TestUDPRefused(t *testing.T) {
	t.Parallel()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := pc.LocalAddr().String()
	_ = pc.Close()
	b := pushOnce(t, "udp", addr, 1000)
	refused := testutil.ToFloat64(b.metrics.dropped.WithLabelValues(dropSend))
	sent := testutil.ToFloat64(b.metrics.sent)
	if refused == 0 || refused+sent < 1000 || testutil.ToFloat64(b.metrics.failures) != 1 {
		t.Errorf("%v lines refused, %v sent", refused, sent)
	}
}

// Lines that the collector's host has not acknowledged do not count as sent.
func TestUnacknowledged(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	conn, err := netConnect(t.Context(), "tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	l := newTCPLink(conn)
	defer l.close()
	// As much as both ends hold.
	if err := conn.SetWriteDeadline(time.Now().Add(500 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	total := 0
	for err == nil {
		var n int
		n, err = conn.Write(make([]byte, 64<<10))
		total += n
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := l.acknowledged(short); err == nil {
		t.Error("acknowledged, and nobody reads")
	}
	read := make(chan error, 1)
	go func() {
		_, err := io.CopyN(io.Discard, far, int64(total))
		read <- err
	}()
	if err := l.acknowledged(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-read; err != nil {
		t.Error(err)
	}
}
