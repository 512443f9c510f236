package ctl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/tree"
)

// localAdmin is the admin port of a limiter on this host that nobody configured.
const localAdmin = "127.0.0.1:9454"

// top is the hot keys that were asked for.
type top struct {
	*tool
	admin      []string
	rejections bool
	n          int
	once       bool
	interval   time.Duration

	client *adminapi.Client
	read   *tree.Tree // nil with admin
}

func (t *tool) topCommand() *cobra.Command {
	p := &top{tool: t}
	cmd := &cobra.Command{
		Use:   "top [--rejections] [-n N] [--once] [--interval TIME] [--admin HOST:PORT]",
		Short: "Show the keys that are used most, or rejected most",
		Long: `Top asks the limiters for their hot keys and shows them together, again each
--interval until it is interrupted; on a terminal in place. It finds the limiters
through an observer of the shared configuration; with a storage file it asks the
limiter on this host. A key is a bucket, what one quota counts.

Rates are means that decay with a half-life of a minute, in hits a second; the true
one is at most the number behind ± away. With --once it exits with 1 if a limiter
did not answer. Output json and yaml need --once.`,
		Example: `  leveectl top
  leveectl top --rejections -n 5 --once`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p.client = adminapi.NewClient()
			defer p.client.Close()
			return p.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&p.rejections, "rejections", false, "Those that are rejected most, rather than those that are asked about most")
	f.IntVarP(&p.n, "number", "n", 20, "Show `N` keys at most")
	f.BoolVar(&p.once, "once", false, "Show them once")
	f.DurationVar(&p.interval, "interval", 2*time.Second, "`TIME` from one look to the next")
	f.StringSliceVar(&p.admin, "admin", nil,
		"Admin ports to ask instead, `HOST:PORT`, several with commas; client-proxies answer, too")
	return cmd
}

func (p *top) run(ctx context.Context) error {
	if p.n < 1 || p.interval < 100*time.Millisecond {
		return usage("--number must be at least 1, and --interval at least 100ms")
	}
	conf, err := p.conf()
	if err != nil {
		return err
	}
	if conf.Output != config.OutputTable && !p.once {
		return usage("output %s needs --once", conf.Output)
	}
	if len(p.admin) == 0 {
		if p.read, err = p.tool.read(ctx); err != nil {
			return err
		}
		if p.alone() {
			p.admin = []string{localAdmin}
		}
	}
	if !p.once {
		return p.live(ctx)
	}
	l, err := p.look(ctx)
	if err != nil {
		return err
	}
	for _, fault := range l.Faults {
		p.note("%s", oneLineText(fault))
	}
	if err := p.print(l, l.table); err != nil {
		return err
	}
	if len(l.Faults) > 0 {
		return quietly(1)
	}
	return nil
}

// source is a daemon to ask.
type source struct {
	name string
	addr netip.AddrPort
	why  string // it cannot be asked
}

// look asks everybody once. It is an error if nobody answers.
func (p *top) look(ctx context.Context) (*look, error) {
	sources, err := p.sources(ctx)
	if err != nil {
		return nil, err
	}
	l := &look{rejections: p.rejections}
	tops, faults := p.ask(ctx, sources)
	var answered []*adminapi.Top
	for i, s := range sources {
		if faults[i] == nil {
			answered = append(answered, tops[i])
			l.Daemons = append(l.Daemons, s.name)
		} else {
			l.Faults = append(l.Faults, fmt.Sprintf("%s does not tell its hot keys: %s", s.name, reason(faults[i])))
		}
	}
	if len(answered) == 0 {
		return nil, errors.New(strings.Join(l.Faults, "; "))
	}
	l.Top = adminapi.Merge(answered...)
	l.First(p.n)
	return l, nil
}

// reason is what an error says beside the address.
func reason(err error) string {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return oneLine(err)
}

// atOnce bounds the daemons that are being asked.
const atOnce = 32

// ask asks all of them. For each there is an answer or an error.
func (p *top) ask(ctx context.Context, sources []source) (tops []*adminapi.Top, faults []error) {
	tops, faults = make([]*adminapi.Top, len(sources)), make([]error, len(sources))
	places := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i, s := range sources {
		if s.why != "" {
			faults[i] = errors.New(s.why)
			continue
		}
		places <- struct{}{}
		wg.Go(func() {
			tops[i], faults[i] = p.client.Top(ctx, s.addr)
			<-places
		})
	}
	wg.Wait()
	return tops, faults
}

// sources are those to ask: the ones that were named, or all limiters that answer
// attempts.
func (p *top) sources(ctx context.Context) (list []source, err error) {
	if len(p.admin) > 0 {
		return p.named(ctx)
	}
	view, err := p.view(ctx, p.read)
	if err != nil {
		return nil, err
	}
	for _, m := range view.Members() {
		if m.Role != topology.Limiter || m.State != topology.Serving && m.State != topology.Draining {
			continue
		}
		s := source{name: m.ID, addr: m.Admin}
		if !m.Admin.IsValid() {
			s.why = "it has no admin port that others can reach; see its option metrics-addr"
		}
		list = append(list, s)
	}
	if len(list) == 0 {
		return nil, errors.New("no limiter serves")
	}
	return list, nil
}

func (p *top) named(ctx context.Context) (list []source, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.loaded.Timeout)
	defer cancel()
	for _, text := range p.admin {
		host, port, err := net.SplitHostPort(text)
		if err != nil {
			return nil, usage("--admin: %q is not HOST:PORT", text)
		}
		number, err := net.DefaultResolver.LookupPort(ctx, "tcp", port)
		if err != nil {
			return nil, usage("--admin: %q is no port", port)
		}
		ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		if err != nil {
			return nil, fmt.Errorf("--admin %s: %w", text, err)
		}
		list = append(list, source{name: text, addr: netip.AddrPortFrom(ips[0].Unmap(), uint16(number))})
	}
	return list, nil
}
