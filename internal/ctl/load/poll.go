package load

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// poller waits for many sockets.
type poller struct {
	fd     int
	events [256]unix.EpollEvent
}

func (p *poller) open() (err error) {
	if p.fd, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	return nil
}

// watch has a socket waited for, or changes for what. The number comes with its
// events.
func (p *poller) watch(op, fd, number int, what uint32) error {
	if err := unix.EpollCtl(p.fd, op, fd, &unix.EpollEvent{Events: what, Fd: int32(number)}); err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	return nil
}

// wait returns what happens first, within a time that is rounded up to a
// millisecond.
func (p *poller) wait(within time.Duration) ([]unix.EpollEvent, error) {
	ms := (within + time.Millisecond - 1) / time.Millisecond
	n, err := result(unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd),
		uintptr(unsafe.Pointer(&p.events)), uintptr(len(p.events)), uintptr(ms), 0, 0)) //nolint:gosec // the kernel fills them
	switch {
	case errors.Is(err, unix.EINTR):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("epoll: %w", err)
	}
	return p.events[:n], nil
}

// punctual has the kernel wake this thread when it is time, not up to 50
// microseconds later. The function undoes it.
func punctual() (undo func()) {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	return func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) }
}

// ownCPU is what this process has used so far.
func ownCPU() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0 // never: the arguments are right
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
