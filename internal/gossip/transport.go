package gossip

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/hashicorp/memberlist"
)

// transport is memberlist's own, but that connections to others, and all that
// waits for them, end with ctx.
type transport struct {
	*memberlist.NetTransport
	ctx context.Context
}

// bind opens the sockets, TCP and UDP.
func bind(ctx context.Context, addr netip.AddrPort, logger *log.Logger) (*transport, error) {
	if !addr.IsValid() || addr.Addr().IsUnspecified() {
		return nil, fmt.Errorf("gossip-addr: %s is no address at which others reach this member; "+
			"give one of this host's, such as 10.0.0.1:7373", addr)
	}
	// For port 0, which TCP chooses, UDP may be out of luck.
	for attempt := 1; ; attempt++ {
		t, err := memberlist.NewNetTransport(&memberlist.NetTransportConfig{
			BindAddrs: []string{addr.Addr().String()}, BindPort: int(addr.Port()), Logger: logger,
		})
		if err == nil {
			return &transport{NetTransport: t, ctx: ctx}, nil
		}
		if addr.Port() != 0 || attempt == 10 {
			return nil, bindError(addr, err)
		}
	}
}

// bindError says what err, from binding addr, most likely comes from. memberlist
// hands out text only.
func bindError(addr netip.AddrPort, err error) error {
	hint := ""
	switch text := err.Error(); {
	case strings.Contains(text, "address already in use"):
		hint = "; another process listens there (ss -lntup shows which)"
	case strings.Contains(text, "permission denied"):
		hint = "; ports below 1024 need CAP_NET_BIND_SERVICE, or choose a higher one"
	case strings.Contains(text, "cannot assign requested address"):
		hint = "; no interface of this host has the address now"
	}
	return fmt.Errorf("gossip-addr: cannot gossip at %s: %w%s", addr, err, hint)
}

// address is where the transport is bound.
func (t *transport) address() (netip.AddrPort, error) {
	ip, port, err := t.FinalAdvertiseAddr("", 0)
	if err != nil {
		return netip.AddrPort{}, err
	}
	addr, _ := netip.AddrFromSlice(ip)
	return netip.AddrPortFrom(addr.Unmap(), uint16(port)), nil
}

// DialAddressTimeout implements [memberlist.NodeAwareTransport].
func (t *transport) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	d := net.Dialer{Timeout: timeout}
	conn, err := d.DialContext(t.ctx, "tcp", a.Addr)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(t.ctx, func() { _ = conn.Close() })
	return &stream{Conn: conn, stop: stop}, nil
}

// stream is a connection that is closed when its transport's context ends.
type stream struct {
	net.Conn
	stop func() bool
}

// Close implements [net.Conn].
func (s *stream) Close() error {
	s.stop()
	return s.Conn.Close()
}
