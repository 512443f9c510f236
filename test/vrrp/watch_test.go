package vrrp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/levee-project/levee/test/lab"
)

// watch knows which machine has an address, and since when. It is told by the
// kernel of each machine, at the moment when it happens.
type watch struct {
	addr netip.Addr

	mu      sync.Mutex
	changes []change
}

// change is one machine that has got the address, or lost it.
type change struct {
	when    time.Time
	machine string
	has     bool
}

func (c change) String() string {
	verb := "lost"
	if c.has {
		verb = "got"
	}
	return fmt.Sprintf("%s %s %s", c.when.Format("05.000"), c.machine, verb)
}

// watchAddress watches until the test ends. No machine may have the address yet.
func watchAddress(t *testing.T, addr string, machines ...*lab.Machine) *watch {
	t.Helper()
	w := &watch{addr: netip.MustParseAddr(addr)}
	var readers sync.WaitGroup
	t.Cleanup(readers.Wait)
	for _, m := range machines {
		socket, err := addressEvents(m)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = socket.Close() }) // before readers.Wait
		readers.Go(func() {
			if err := w.read(m.Name, socket); err != nil && !errors.Is(err, os.ErrClosed) {
				t.Errorf("watch the addresses of %s: %v", m.Name, err)
			}
		})
	}
	return w
}

// addressEvents returns a socket in the machine's network that is told of every
// change of an address.
func addressEvents(m *lab.Machine) (*os.File, error) {
	namespace, err := os.Open(m.Namespace())
	if err != nil {
		return nil, err
	}
	defer namespace.Close()
	var fd int
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET)
		if err == nil {
			fd, err = unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
		}
		if err == nil {
			err = unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: unix.RTMGRP_IPV4_IFADDR | unix.RTMGRP_IPV6_IFADDR})
		}
		done <- err
	}()
	if err := <-done; err != nil {
		return nil, fmt.Errorf("a socket in the network of %s: %w", m.Name, err)
	}
	return os.NewFile(uintptr(fd), "netlink"), nil
}

func (w *watch) read(machine string, socket *os.File) error {
	buf := make([]byte, 1<<16)
	for {
		n, err := socket.Read(buf)
		if err != nil {
			return err
		}
		now := time.Now()
		messages, err := syscall.ParseNetlinkMessage(buf[:n])
		if err != nil {
			return err
		}
		for _, m := range messages {
			if w.concerns(m) {
				w.note(change{now, machine, m.Header.Type == unix.RTM_NEWADDR})
			}
		}
	}
}

// concerns reports whether a message is about the address.
func (w *watch) concerns(m syscall.NetlinkMessage) bool {
	if m.Header.Type != unix.RTM_NEWADDR && m.Header.Type != unix.RTM_DELADDR {
		return false
	}
	attributes, err := syscall.ParseNetlinkRouteAttr(&m)
	return err == nil && slices.ContainsFunc(attributes, func(a syscall.NetlinkRouteAttr) bool {
		return a.Attr.Type == unix.IFA_ADDRESS && net.IP(a.Value).Equal(w.addr.AsSlice())
	})
}

func (w *watch) note(c change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// A kernel tells of an address again when something about it changes.
	if slices.Contains(holders(w.changes), c.machine) != c.has {
		w.changes = append(w.changes, c)
	}
}

// holders are the machines that have the address after the changes, sorted.
func holders(changes []change) []string {
	var have []string
	for _, c := range changes {
		have = slices.DeleteFunc(have, func(name string) bool { return name == c.machine })
		if c.has {
			have = append(have, c.machine)
		}
	}
	slices.Sort(have)
	return have
}

// holders are the machines that have the address now.
func (w *watch) holders() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return holders(w.changes)
}

// since returns the changes after a moment.
func (w *watch) since(moment time.Time) []change {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.changes), func(c change) bool { return c.when.Before(moment) })
}

// shared is the longest time, after a moment, for which more than one machine had
// the address.
func (w *watch) shared(moment time.Time) (longest time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for i := range w.changes {
		end := now
		if i+1 < len(w.changes) {
			end = w.changes[i+1].when
		}
		begin := w.changes[i].when
		if begin.Before(moment) {
			begin = moment
		}
		if len(holders(w.changes[:i+1])) > 1 {
			longest = max(longest, end.Sub(begin))
		}
	}
	return longest
}
