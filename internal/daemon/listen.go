package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"
)

// socketName is the FileDescriptorName= by which a systemd socket unit may mark
// the socket to serve on.
const socketName = "levee"

// Listen returns the socket to serve on: the one that systemd passes to the
// process, if it does (sd_listen_fds(3): the one named "levee", or the only
// one), else a new one bound to addr ("192.0.2.1:5454", "[::]:5454"). The passed
// sockets are taken by the first call; later ones bind. A socket that was passed
// is not this process's own: it outlives it, with all that was done to it. Errors
// name the option that addr comes from, the address, and what to do.
func Listen(ctx context.Context, option, addr string) (ln *net.TCPListener, passed bool, err error) {
	files := activation.Files(true)
	if len(files) == 0 {
		ln, err = Bind(ctx, option, addr)
		return ln, false, err
	}
	defer func() {
		for _, f := range files {
			_ = f.Close() // the listener has a descriptor of its own
		}
	}()
	f, err := passedSocket(files)
	if err != nil {
		return nil, true, fmt.Errorf("%s: %w", option, err)
	}
	socket, err := net.FileListener(f)
	if err != nil {
		return nil, true, fmt.Errorf("%s: the socket %q passed by systemd: %w", option, f.Name(), err)
	}
	ln, ok := socket.(*net.TCPListener)
	if !ok {
		return nil, true, errors.Join(
			fmt.Errorf("%s: the socket %q passed by systemd listens on %s %s; it must be TCP (ListenStream= with an address and a port)",
				option, f.Name(), socket.Addr().Network(), socket.Addr()),
			socket.Close())
	}
	return ln, true, nil
}

// passedSocket picks the socket to serve on from those that systemd passed.
func passedSocket(files []*os.File) (*os.File, error) {
	var named []*os.File
	names := make([]string, 0, len(files))
	for _, f := range files {
		names = append(names, f.Name())
		if f.Name() == socketName {
			named = append(named, f)
		}
	}
	switch {
	case len(named) == 1:
		return named[0], nil
	case len(files) == 1:
		return files[0], nil
	default:
		return nil, fmt.Errorf("systemd passed %d sockets (%s), of which %d are named %s; name exactly one so, with FileDescriptorName=%s in its socket unit",
			len(files), strings.Join(names, ", "), len(named), socketName, socketName)
	}
}

// Bind returns a new TCP socket bound to addr, for ports that no socket unit
// can take over. Its errors are those of Listen.
func Bind(ctx context.Context, option, addr string) (*net.TCPListener, error) {
	// Levee's own deadlines end dead connections, and keep-alive would cost each
	// new one three system calls. The kernel takes no filter on a multipath
	// socket, which a stop without loss needs.
	lc := net.ListenConfig{KeepAlive: -1}
	lc.SetMultipathTCP(false)
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, bindError(option, addr, err)
	}
	return ln.(*net.TCPListener), nil // what "tcp" always gives
}

// bindError says what err, from binding addr, most likely comes from.
func bindError(option, addr string, err error) error {
	cause := err
	var op *net.OpError
	if errors.As(err, &op) {
		cause = op.Err // without the address, which is said already
	}
	hint := ""
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		hint = "; another process listens there (ss -ltnp shows which)"
	case errors.Is(err, syscall.EACCES):
		hint = "; ports below 1024 need CAP_NET_BIND_SERVICE, or choose a higher one"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		hint = "; no interface of this host has the address now"
	}
	return fmt.Errorf("%s: cannot listen on %q: %w%s", option, addr, cause, hint)
}
