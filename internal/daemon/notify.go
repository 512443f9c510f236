package daemon

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
)

const (
	// startExtension is how long systemd is asked to go on waiting for READY=1,
	// each time it is asked.
	startExtension = 30 * time.Second
	// startExtensionEvery is how often it is asked during a slow start.
	startExtensionEvery = 10 * time.Second
	// maxStatus bounds the STATUS= text, in bytes.
	maxStatus = 512
)

// notifier tells the service manager about the process, as sd_notify(3) does.
// Without a NOTIFY_SOCKET it does nothing.
type notifier struct {
	log    *slog.Logger
	failed sync.Once
}

// send sends one datagram of one assignment a line. A failure is logged once:
// nothing depends on it but the service manager, which then says so itself.
func (n *notifier) send(assignments ...string) {
	if _, err := systemd.SdNotify(false, strings.Join(assignments, "\n")); err != nil {
		n.failed.Do(func() { n.log.Warn("cannot notify systemd", "error", err) })
	}
}

// status sets the line that `systemctl status` shows.
func (n *notifier) status(text string) { n.send(statusLine(text)) }

func (n *notifier) ready() { n.send(systemd.SdNotifyReady) }

// reloading must be followed by ready. The time is what Type=notify-reload
// tells this reload from earlier ones by.
func (n *notifier) reloading() {
	n.send(systemd.SdNotifyReloading, strings.TrimSpace(systemd.SdNotifyMonotonicUsec()))
}

// stopping asks for the time that the stop may take by its own bounds, which
// can be more than the unit's TimeoutStopSec=.
func (n *notifier) stopping(within time.Duration) {
	n.send(systemd.SdNotifyStopping, extension(within))
}

func (n *notifier) extendStart() { n.send(extension(startExtension)) }

func (n *notifier) watchdog() { n.send(systemd.SdNotifyWatchdog) }

func extension(d time.Duration) string {
	return fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", d.Microseconds())
}

// statusLine keeps text from being more than one assignment, or not UTF-8,
// which systemd would refuse: it can quote what came over the network.
func statusLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = text[:min(len(text), maxStatus)]
	return "STATUS=" + strings.ToValidUTF8(text, "")
}
