package target

import (
	"context"
	"fmt"
)

// await waits until everybody is ready and knows all limiters, and proves the
// proxies.
func (c *Cluster) await(ctx context.Context) error {
	for _, s := range c.servers() {
		what := fmt.Sprintf("%s is ready and knows %d limiters", s.Name, len(c.Limiters))
		if err := s.proc.until(ctx, what, func() error { return c.complete(ctx, s) }); err != nil {
			return err
		}
	}
	for _, p := range c.Proxies {
		what := fmt.Sprintf("%s is connected to %d limiters", p.Name, len(c.Limiters))
		up := func() error { return is(ctx, p, "levee_proxy_limiter_up", "", len(c.Limiters)) }
		if err := p.proc.until(ctx, what, up); err != nil {
			return err
		}
		if err := p.prove(ctx); err != nil {
			return fmt.Errorf("%s: %w\n%s", p.Name, err, p.Log())
		}
	}
	return nil
}

func (c *Cluster) complete(ctx context.Context, s *Server) error {
	if err := healthy(ctx, "http://"+s.admin.String()+"/readyz"); err != nil {
		return err
	}
	return is(ctx, s, "levee_members", `role="limiter",state="serving"`, len(c.Limiters))
}

// is returns an error unless a metric has a value.
func is(ctx context.Context, s *Server, name, labels string, want int) error {
	got, err := s.Metric(ctx, name, labels)
	if err == nil && got != float64(want) {
		err = fmt.Errorf("%s of %s is %v, not %d", name, s.Name, got, want)
	}
	return err
}

// Check returns an error unless every limiter has decided at least half of an
// equal share of the attempts so far, and of a thousand attempts one at most was
// handed to a second limiter.
func (c *Cluster) Check(ctx context.Context) error {
	decided, total := make([]float64, len(c.Limiters)), 0.0
	for i, l := range c.Limiters {
		n, err := l.Metric(ctx, "levee_attempts_total", "")
		if err != nil {
			return err
		}
		decided[i] = n
		total += n
	}
	for i, n := range decided {
		if least := total / float64(2*len(decided)); n < least {
			return fmt.Errorf("%s has decided %.0f attempts of %.0f, less than %.0f: the load is not spread", c.Limiters[i].Name, n, total, least)
		}
	}
	retries := 0.0
	for _, p := range c.Proxies {
		n, err := p.Metric(ctx, "levee_proxy_retries_total", "")
		if err != nil {
			return err
		}
		retries += n
	}
	if retries > total/1000 {
		return fmt.Errorf("%.0f attempts of %.0f were handed to a second limiter", retries, total)
	}
	return nil
}
