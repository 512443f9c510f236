package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/levee-project/levee/test/bench/load"
)

// prove waits until the server accepts attempts, and then sees it refuse: what
// does not limit is no competitor. Both over each protocol.
func (s *Server) prove(ctx context.Context) error {
	for _, p := range []load.Protocol{load.HTTP1, load.H2C} {
		c := client(p)
		defer c.CloseIdleConnections()
		if err := s.awaitAccepted(ctx, c, p); err != nil {
			return err
		}
		if err := s.awaitRefused(ctx, c, p); err != nil {
			return err
		}
	}
	return nil
}

func client(p load.Protocol) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(p == load.HTTP1)
	protocols.SetUnencryptedHTTP2(p == load.H2C)
	return &http.Client{Transport: &http.Transport{Protocols: protocols}, Timeout: time.Second}
}

func (s *Server) awaitAccepted(ctx context.Context, c *http.Client, p load.Protocol) error {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for last := "none came"; ; {
		status, err := s.ask(ctx, c, p, "/attempt", "tenant-000000")
		switch {
		case err == nil && status/100 == 2:
			return nil
		case err == nil:
			last = "status " + strconv.Itoa(status)
		case ctx.Err() == nil:
			last = err.Error()
		}
		select {
		case <-again.C:
		case <-s.proc.exited:
			return errors.New("the server has ended")
		case <-ctx.Done():
			return fmt.Errorf("no attempt over %s was accepted (%s): %w", p, last, context.Cause(ctx))
		}
	}
}

func (s *Server) awaitRefused(ctx context.Context, c *http.Client, p load.Protocol) error {
	const enough = 40
	for range enough {
		status, err := s.ask(ctx, c, p, s.tight, "tight")
		switch {
		case err != nil:
			return err
		case status == http.StatusTooManyRequests:
			return nil
		case status/100 != 2:
			return fmt.Errorf("an attempt over %s was answered with %d", p, status)
		}
	}
	return fmt.Errorf("%d attempts over %s at once on a key for 6 were all accepted: the server does not limit", enough, p)
}

func (s *Server) ask(ctx context.Context, c *http.Client, p load.Protocol, path, resource string) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.Addr(p).String()+path, http.NoBody)
	if err != nil {
		return 0, err
	}
	r.Header.Set("X-Resource", resource)
	r.Header.Set("X-Prefix", "checkout-api")
	r.Header.Set("X-Method", http.MethodGet)
	answer, err := c.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}
