package harness

import "testing"

// Limiter is a running levee-limiter.
type Limiter struct{ Daemon }

// StartLimiter starts a standalone limiter with these options and waits until it
// is ready.
func StartLimiter(t testing.TB, args ...string) *Limiter {
	t.Helper()
	l := LaunchLimiter(t, Command{Args: args})
	l.WaitReady(t)
	return l
}

// LaunchLimiter starts a standalone limiter and returns as soon as its ports
// serve. The options of the command come behind those that give it ports of its
// own and a log that can be read.
func LaunchLimiter(t testing.TB, c Command) *Limiter {
	t.Helper()
	c.Args = append([]string{
		"--standalone", "--listen-addr=127.0.0.1:0", "--metrics-addr=127.0.0.1:0",
		"--log-format=json", "--instance-id=test",
	}, c.Args...)
	return AttachLimiter(t, c)
}

// AttachLimiter starts a limiter with the options of the command and no others,
// among which is log-format: json. It returns as soon as its ports serve.
func AttachLimiter(t testing.TB, c Command) *Limiter {
	t.Helper()
	c.Binary = "levee-limiter"
	l := &Limiter{Daemon{Process: Start(t, c)}}
	l.Addr = l.serves(t, "attempts")
	l.administer(t, l.serves(t, "metrics"))
	return l
}
