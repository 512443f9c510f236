package front

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/daemon"
)

// generous accepts everything.
type generous struct{ tally *Tally }

func (g *generous) Attempt(_ int64, a *attempt.Attempt, _ attempt.Later) (o attempt.Outcome, answered bool) {
	o = attempt.Outcome{Result: attempt.Accepted}
	g.tally.Add(a, &o)
	return o, true
}

// The first connections wait for the daemon to be able to answer, and then are
// answered; the stop begins with a drain.
func TestFront(t *testing.T) {
	log, err := daemon.NewLog(daemon.LogOptions{Name: "front", Format: "text"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	cfg := &config.Serving{
		ListenAddr: "127.0.0.1:0", HeaderTimeout: time.Second, BodyTimeout: time.Second,
		IdleTimeout: time.Minute, WriteTimeout: time.Second, DrainTimeout: 5 * time.Second,
		ResponseHeaders: config.HeadersRetryAfter,
	}
	ctx, stop := context.WithCancelCause(t.Context())
	decider, announced, answers := &generous{NewTally()}, false, make(chan error, 1)
	err = daemon.Run(ctx, daemon.Options{Log: log.Logger, MetricsAddr: "127.0.0.1:0"}, func(ctx context.Context, d *daemon.Daemon) error {
		f, err := Open(ctx, log, cfg)
		if err != nil {
			return err
		}
		f.Serve(d, cfg, decider, decider.tally)
		go func() {
			err := ask(ctx, "http://"+f.Addr().String()+"/attempt")
			answers <- errors.Join(err, hottest(ctx, d.AdminAddr()))
			stop(errors.New("the test has seen enough"))
		}()
		if n := decider.tally.Count(attempt.Accepted, attempt.None, false); n != 0 {
			t.Errorf("%d attempts were answered before anybody was admitted", n)
		}
		f.Admit()
		f.DrainOnStop(d, cfg, func() { announced = true })
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := <-answers; err != nil {
		t.Error(err)
	}
	if n := decider.tally.Count(attempt.Accepted, attempt.None, false); n != 1 || !announced {
		t.Errorf("%d attempts were accepted, the drain was announced: %v", n, announced)
	}
}

// hottest asks the admin port, and wants the one attempt there.
func hottest(ctx context.Context, admin netip.AddrPort) error {
	c := adminapi.NewClient()
	defer c.Close()
	top, err := c.Top(context.WithoutCancel(ctx), admin)
	if err != nil {
		return err
	}
	if len(top.Attempts) != 1 || top.Attempts[0].Resource != "r" || len(top.Rejections) != 0 {
		return fmt.Errorf("the hot keys are %+v", top)
	}
	return nil
}

func ask(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set("X-Resource", "r")
	res, err := new(http.Client).Do(r)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return errors.New(res.Status)
	}
	return res.Body.Close()
}
