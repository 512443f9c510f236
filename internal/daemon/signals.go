package daemon

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// signals are those that Run acts on. No goroutine is needed between the
// runtime and the channels.
type signals struct {
	// stop has SIGINT and SIGTERM. Two are enough: the second ends everything.
	stop chan os.Signal
	// reload has SIGHUP. One may wait while another is being served; more would
	// not read anything newer.
	reload chan os.Signal
}

func catchSignals() signals {
	s := signals{
		stop:   make(chan os.Signal, 2),
		reload: make(chan os.Signal, 1),
	}
	signal.Notify(s.stop, syscall.SIGINT, syscall.SIGTERM)
	signal.Notify(s.reload, syscall.SIGHUP)
	// A reader of stderr that has gone is no reason to stop serving, nor to
	// lose the exit code afterwards: nobody reads this, and it stays.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return s
}

// release gives the signals their usual effects back, but for SIGPIPE.
func (s signals) release() {
	signal.Stop(s.stop)
	signal.Stop(s.reload)
}

// stopSignal is a signal as the reason for a stop.
type stopSignal struct{ os.Signal }

// Error returns the signal's name: SIGTERM.
func (s stopSignal) Error() string {
	if n, ok := s.Signal.(syscall.Signal); ok {
		return unix.SignalName(n)
	}
	return s.String()
}
