package wire

import (
	"errors"
	"net"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Times of a plug.
const (
	plugAccepts = time.Millisecond      // what is in the queue is taken
	plugDials   = 5 * time.Millisecond  // a connection to oneself
	plugAtMost  = 40 * time.Millisecond // all of it
)

// longestQueue asks for a queue of new connections as long as the system allows.
const longestQueue = 65535

var errNotKeptOut = errors.New("new connections could not be kept out")

// plug keeps new connections out without a filter, which some kernels allow to
// CAP_NET_ADMIN alone: the queue is made so short that one connection fills it, and
// that is one of our own, which is not taken out. The kernel ignores the others. Its
// methods may be called on a nil plug, which does nothing.
type plug struct {
	resting chan struct{} // accept has stopped taking connections
	again   chan struct{} // it may take some more
	gone    chan struct{} // closed: it takes all that come
}

// rest is where accept waits. It returns when it is to go on.
func (p *plug) rest() {
	if p == nil {
		return
	}
	select {
	case p.resting <- struct{}{}:
	case <-p.gone:
		return
	}
	select {
	case <-p.again:
	case <-p.gone:
	}
}

// keepOut has the kernel ignore new connections until admit is called, which it must
// be. Those that have come before are taken.
func (s *Server) keepOut() (admit func() error, err error) {
	p := &plug{resting: make(chan struct{}), again: make(chan struct{}), gone: make(chan struct{})}
	s.plug.Store(p)
	var own net.Conn
	admit = func() error {
		err := setQueue(s.listener, longestQueue)
		if own != nil {
			_ = own.Close()
		}
		s.plug.Store(nil)
		close(p.gone)
		return errors.Join(err, s.listener.SetDeadline(time.Time{}))
	}
	if err := setQueue(s.listener, 0); err != nil {
		return nil, errors.Join(err, admit())
	}
	late := time.NewTimer(plugAtMost)
	defer late.Stop()
	for {
		if err := s.listener.SetDeadline(time.Now().Add(plugAccepts)); err != nil {
			return nil, errors.Join(err, admit())
		}
		select {
		case <-p.resting:
		case <-late.C:
			return nil, errors.Join(errNotKeptOut, admit())
		}
		// Somebody else may have been faster. Then that one is taken first.
		if own, err = net.DialTimeout("tcp", ownAddress(s.listener), plugDials); err == nil {
			return admit, nil
		}
		select {
		case p.again <- struct{}{}:
		case <-late.C:
			return nil, errors.Join(errNotKeptOut, admit())
		}
	}
}

// setQueue changes how many connections may wait to be accepted.
func setQueue(l *net.TCPListener, length int) error {
	return control(l, "change the queue of", func(fd int) error { return unix.Listen(fd, length) })
}

// ownAddress is where a listener can be reached from its own host.
func ownAddress(l *net.TCPListener) string {
	addr := l.Addr().(*net.TCPAddr)
	if !addr.IP.IsUnspecified() {
		return addr.String()
	}
	host := "127.0.0.1"
	if addr.IP.To4() == nil {
		host = "::1"
	}
	return net.JoinHostPort(host, strconv.Itoa(addr.Port))
}
