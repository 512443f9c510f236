// Nethttp is what a Go programmer would write without Levee: the standard
// library's server, with its HTTP/1.1 and h2c, in front of the same table and the
// same arithmetic. What it costs more is what Levee's own server saves.
package main

import (
	"encoding/json"
	"log"
	"math/big"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/levee-project/levee/internal/gcra"
	"github.com/levee-project/levee/internal/keytable"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// run serves on a free port of loopback, which it tells on stderr.
func run() error {
	listener, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // there is nothing to wait for
	if err != nil {
		return err
	}
	told := map[string]string{"msg": "serving", "what": "attempts", "addr": listener.Addr().String()}
	if err := json.NewEncoder(os.Stderr).Encode(told); err != nil {
		return err
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	mux := http.NewServeMux()
	mux.Handle("POST /attempt", newLimiter())
	server := &http.Server{
		Handler:           mux,
		Protocols:         protocols,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       5 * time.Minute,
	}
	return server.Serve(listener)
}

// limiter answers attempts.
type limiter struct {
	began        time.Time
	table        *keytable.Table
	loose, tight gcra.Limit
}

func newLimiter() *limiter {
	whole := func(n int64) *big.Rat { return big.NewRat(n, 1) }
	return &limiter{
		began: time.Now(),
		table: keytable.New(keytable.Key{rand.Uint64(), rand.Uint64()}, 0),
		loose: gcra.NewLimit(whole(1_000_000), whole(1_000_000), 1),
		tight: gcra.NewLimit(whole(1), whole(5), 1),
	}
}

func (l *limiter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resource := r.Header.Get("X-Resource")
	if resource == "" {
		http.Error(w, "X-Resource is missing", http.StatusBadRequest)
		return
	}
	limit := &l.loose
	if resource == "tight" {
		limit = &l.tight
	}
	var name [256]byte
	bucket := append(name[:0], resource...)
	bucket = append(append(bucket, 0), r.Header.Get("X-Prefix")...)
	bucket = append(append(bucket, 0), r.Header.Get("X-Method")...)
	now := int64(time.Since(l.began))
	if tat, ok := l.table.Take(now, l.table.Bucket(bucket), limit, 1); !ok {
		wait, _ := limit.Wait(tat, now, 1)
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	w.WriteHeader(http.StatusOK)
}
