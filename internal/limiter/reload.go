package limiter

import (
	"context"
	"io"
	"os"
	"sync/atomic"

	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/wire"
)

// atomicHeaders is the option response-headers, as the server reads it for each
// answer.
type atomicHeaders struct{ v atomic.Pointer[wire.Headers] }

func (h *atomicHeaders) get() wire.Headers { return *h.v.Load() }

func (h *atomicHeaders) set(o config.ResponseHeaders) {
	headers := wire.Headers(o) // both spell the option's values
	h.v.Store(&headers)
}

// reload reads the configuration again and applies what can change while the
// process runs. What needs a restart is named, and stays as it is.
func (l *limiter) reload(context.Context) error {
	next, _, err := config.LoadLimiter(l.args, os.Environ(), io.Discard)
	if err != nil {
		return err
	}
	applied, _ := l.live.Diff(next)
	_, needsRestart := l.cfg.Diff(next)
	if len(needsRestart) > 0 {
		l.log.Warn("these options have changed and need a restart", "options", needsRestart)
	}
	if err := l.log.Set(string(l.cfg.LogFormat), next.Verbose); err != nil {
		return err
	}
	l.decider.setRules(next.NoQuota, next.ResponseHeaders == config.HeadersRateLimit)
	l.headers.set(next.ResponseHeaders)
	l.collector.configure(next)
	l.live = next
	l.log.Info("options applied", "options", applied)
	return nil
}
