package ctl

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/levee-project/levee/internal/ctl/load"
	"github.com/levee-project/levee/internal/quota"
)

// bench is a bench that was asked for.
type bench struct {
	load.Plan
	addr   string
	target target
	remote bool
	quota  string
}

func (t *tool) benchCommand() *cobra.Command {
	var b bench
	cmd := &cobra.Command{
		Use:   "bench RESOURCE [METHOD] [--prefix PREFIX] [--rate N [--poisson]] [--duration TIME]",
		Short: "Put load on a limiter or client-proxy, and measure",
		Long: `Bench sends attempts for --duration and tells how they were answered, how fast,
and how many passed beside what the quota allows: the one in the store, if one is
configured, or --quota. With --rate attempts come at that rate whatever the answers
take (open loop), evenly or, with --poisson, at random; times count from when an
attempt was due. Without, each connection asks again as soon as it is answered (closed
loop). The attempts count like any others. A limiter of a group of D passes 1/D of a
quota; all of it passes through a client-proxy.

Targets that are not this host are refused unless --remote. Exit codes: 0, or 1 if
attempts had no answer.`,
		Example: `  leveectl bench photos --rate 2000 --poisson --duration 30s
  leveectl bench load --keys 1000000 --zipf 1.1 --http2 --connections 4 --streams 50`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := b.target.parse(args); err != nil {
				return err
			}
			if err := b.valid(); err != nil {
				return err
			}
			conf, err := t.conf()
			if err != nil {
				return err
			}
			b.addr, b.Timeout = cmp.Or(b.addr, conf.AttemptAddr), conf.Timeout
			if b.Addr, err = addrOf(cmd.Context(), b.addr, b.remote, b.Timeout); err != nil {
				return err
			}
			b.Host, b.Resource, b.Prefix, b.Method = b.addr, b.target.resource, b.target.prefix, b.target.method
			return t.bench(cmd.Context(), &b)
		},
	}
	b.flags(cmd)
	return cmd
}

func (b *bench) flags(cmd *cobra.Command) {
	b.target.flags(cmd, false)
	f := cmd.Flags()
	f.StringVar(&b.addr, "addr", "", "Limiter or client-proxy, `HOST:PORT`, over the option attempt-addr")
	f.BoolVar(&b.remote, "remote", false, "Allow a target that is another host")
	f.DurationVar(&b.Duration, "duration", 10*time.Second, "How long attempts are sent, a `TIME` such as 30s")
	f.Float64Var(&b.Rate, "rate", 0, "`N` attempts a second; 0 = as many as are answered")
	f.BoolVar(&b.Poisson, "poisson", false, "Attempts come at random, not evenly (needs --rate)")
	f.BoolVar(&b.HTTP2, "http2", false, "HTTP/2 with prior knowledge rather than HTTP/1.1")
	f.IntVar(&b.Connections, "connections", 10, "`N` connections")
	f.IntVar(&b.Streams, "streams", 1, "`N` attempts under way on one connection, at most 250 (more than 1 needs --http2)")
	f.IntVar(&b.Keys, "keys", 1, "`N` resources: RESOURCE-0, RESOURCE-1 and so on; 1 = RESOURCE itself")
	f.Float64Var(&b.Zipf, "zipf", 0, "`SKEW` of the resources, more than 1: few come often; 0 = all alike")
	f.StringVar(&b.quota, "quota", "",
		"`QUOTA` to compare with what passes, such as '{\"rate\": 100, \"burst\": 10}', over that of the store")
}

// The most of what a bench can be asked for.
const (
	maxUnderWay = 10_000
	maxDuration = 24 * time.Hour
	maxPerSec   = 1e7
)

func (b *bench) valid() error {
	switch {
	case b.Duration <= 0 || b.Duration > maxDuration:
		return usage("--duration must be more than 0 and at most %v", maxDuration)
	case !(b.Rate >= 0 && b.Rate <= maxPerSec): // also what is no number
		return usage("--rate must be from 0 to %v", int64(maxPerSec))
	case b.Poisson && b.Rate == 0:
		return usage("--poisson needs --rate")
	case b.Connections < 1 || b.Streams < 1 || b.Connections > maxUnderWay || b.Streams > maxUnderWay/b.Connections:
		return usage("--connections and --streams must be at least 1, and %d together at most", maxUnderWay)
	case b.Streams > 1 && !b.HTTP2:
		return usage("--streams needs --http2")
	case b.Streams > load.MaxStreams:
		return usage("--streams must be at most %d", load.MaxStreams)
	case b.Keys < 1:
		return usage("--keys must be at least 1")
	case b.Zipf != 0 && (!(b.Zipf > 1) || b.Keys == 1):
		return usage("--zipf must be more than 1, and needs --keys")
	}
	if b.quota != "" {
		if _, err := quota.ParseQuota(b.quota); err != nil {
			return usage("--quota: %w", err)
		}
	}
	return nil
}

// addrOf returns the address of a target. One that is not this host is refused
// unless it may be remote.
func addrOf(ctx context.Context, addr string, remote bool, timeout time.Duration) (netip.AddrPort, error) {
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return netip.AddrPort{}, usage("--addr: %w", err)
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return netip.AddrPort{}, usage("--addr: %q is no port", service)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("--addr: %w", err)
	}
	for i, ip := range ips {
		if ips[i] = ip.Unmap(); !remote && !ips[i].IsLoopback() {
			return netip.AddrPort{}, usage("%s is not this host (%s): give --remote if the load is meant for it", addr, ips[i])
		}
	}
	slices.SortStableFunc(ips, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() })
	return netip.AddrPortFrom(ips[0], uint16(port)), nil
}

// bench puts the load on, and tells what came of it.
func (t *tool) bench(ctx context.Context, b *bench) error {
	q, group, err := t.quotaOf(ctx, b)
	if err != nil {
		t.note("the quota is not known: %s", oneLine(err))
	}
	end := t.showProgress(&b.Plan)
	all, err := b.Run(ctx)
	end()
	if err != nil {
		return err
	}
	r := reportOf(b, all)
	if q != nil {
		r.compare(q, group)
	}
	if err := t.print(r, r.table); err != nil {
		return err
	}
	if r.Lost > 0 {
		return fmt.Errorf("%s without an answer: %s", plural(int(r.Lost), "attempt", "attempts"), oneLineText(r.Why))
	}
	return nil
}

// quotaOf returns the quota of a load on one bucket, and the size of its group;
// nil if it is not said and there is no store to ask.
func (t *tool) quotaOf(ctx context.Context, b *bench) (*quota.Quota, int, error) {
	if b.quota != "" {
		q, err := quota.ParseQuota(b.quota)
		return q, 1, err
	}
	if len(t.loaded.Storage.Addrs) == 0 || b.Keys > 1 {
		return nil, 0, nil
	}
	read, err := t.read(ctx)
	if err != nil {
		return nil, 0, err
	}
	snapshot, _ := quota.NewCompiler().Compile(read)
	a := b.target.attempt()
	q, _ := snapshot.Resolve(a)
	if t.alone() {
		return q, 1, nil
	}
	return q, snapshot.Factor(a.Resource), nil
}
