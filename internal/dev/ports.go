package dev

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// free reports every port of the plan that is taken, by its number.
func (p *plan) free(ctx context.Context) error {
	var errs []error
	for _, m := range p.all() {
		for _, u := range uses {
			if m.ports[u] == 0 {
				continue
			}
			if err := bindable(ctx, m.addr(u), u == gossip); err != nil {
				errs = append(errs, fmt.Errorf("port %d, which is for %s (%s), is taken: %w", m.ports[u], m.name, u, err))
			}
		}
	}
	if len(errs) > 0 {
		errs = append(errs, errors.New("\"ss -lntup\" tells who has it; --port chooses other ports"))
	}
	return errors.Join(errs...)
}

// bindable opens the port for a moment, with UDP too where that is asked for.
func bindable(ctx context.Context, addr string, udp bool) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	_ = l.Close() // nobody has connected
	if !udp {
		return nil
	}
	c, err := lc.ListenPacket(ctx, "udp", addr)
	if err != nil {
		return err
	}
	return c.Close()
}
