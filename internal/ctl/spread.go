package ctl

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/tree"
)

const (
	// catchUp is how long a process may take to have a change in force.
	catchUp = time.Second
	// askAgain is the time between two questions to those that have it not.
	askAgain = 200 * time.Millisecond
	// asksAtOnce is how many admin ports are asked at the same time.
	asksAtOnce = 16
)

// spread says where the entries of the store are in force.
type spread struct {
	Revision int64 `json:"revision"`
	On       int   `json:"on"`
	Of       int   `json:"of"`
	// Lagging have had other entries for a second and more.
	Lagging []laggard `json:"lagging,omitempty"`
	// Unknown could not be asked.
	Unknown []unasked `json:"unknown,omitempty"`
}

type laggard struct {
	ID        string `json:"id"`
	Role      string `json:"role"`
	Revision  int64  `json:"revision"`
	Connected bool   `json:"connected"`
}

type unasked struct {
	ID   string `json:"id"`
	Role string `json:"role"`
	Why  string `json:"why"`
}

// proxy is a client-proxy as an observer sees it.
type proxy struct {
	ID      string    `json:"id"`
	Addr    string    `json:"addr"`
	Version string    `json:"version"`
	Since   time.Time `json:"since"`
}

// subject is a process that is asked.
type subject struct {
	id, role string
	admin    netip.AddrPort
	status   *adminapi.Status
	why      string // there is no status
}

// askInForce asks everybody what is in force there, and again those that are
// behind, until they are not or catchUp has passed.
func (t *tool) askInForce(ctx context.Context, o *overview, read *tree.Tree, view *topology.View) error {
	client := adminapi.NewClient()
	defer client.Close()
	all := t.subjects(ctx, client, o, view)
	digest := read.Digest()
	late := time.NewTimer(catchUp)
	defer late.Stop()
	pause := time.NewTicker(askAgain)
	defer pause.Stop()
	for waiting := true; waiting; {
		behind := slices.DeleteFunc(slices.Clone(all), func(s *subject) bool { return !s.behind(digest) })
		if len(behind) == 0 {
			break
		}
		select {
		case <-pause.C:
		case <-late.C:
			waiting = false // but the last answers may be older than that
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		again, err := t.read(ctx) // it may be the store that has moved on
		if err != nil {
			return err
		}
		digest, o.Store.Revision = again.Digest(), again.Revision
		t.askAll(ctx, client, behind)
	}
	o.InForce = sumUp(all, digest, o.Store.Revision)
	return nil
}

// subjects asks the members of the view, and the client-proxies that observers
// tell of.
func (t *tool) subjects(ctx context.Context, client *adminapi.Client, o *overview, view *topology.View) []*subject {
	var all, proxies []*subject
	for _, m := range view.Members() {
		s := &subject{id: m.ID, role: string(m.Role), admin: m.Admin}
		if m.State == topology.Silent {
			s.admin, s.why = netip.AddrPort{}, "it is silent"
		}
		all = append(all, s)
	}
	t.askAll(ctx, client, all)
	known := map[string]bool{}
	for _, s := range all {
		if s.status == nil {
			continue
		}
		for _, w := range s.status.Watchers {
			if known[w.ID] {
				continue
			}
			known[w.ID] = true
			proxies = append(proxies, &subject{id: w.ID, role: w.Role, admin: w.Admin})
			o.Proxies = append(o.Proxies, proxy{ID: w.ID, Addr: w.Addr.String(), Version: w.Version, Since: w.Since.UTC().Truncate(time.Second)})
		}
	}
	slices.SortFunc(o.Proxies, func(a, b proxy) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(proxies, func(a, b *subject) int { return cmp.Compare(a.id, b.id) })
	t.askAll(ctx, client, proxies)
	return append(all, proxies...)
}

// askAll asks some, a few at a time.
func (t *tool) askAll(ctx context.Context, client *adminapi.Client, list []*subject) {
	var work sync.WaitGroup
	defer work.Wait()
	free := make(chan struct{}, asksAtOnce)
	for _, s := range list {
		if !s.admin.IsValid() {
			s.why = cmp.Or(s.why, "its admin port cannot be reached from elsewhere")
			continue
		}
		free <- struct{}{}
		work.Go(func() {
			defer func() { <-free }()
			ctx, cancel := context.WithTimeout(ctx, t.loaded.Timeout)
			defer cancel()
			status, err := client.Status(ctx, s.admin)
			switch {
			case err != nil:
				s.status, s.why = nil, oneLineText(err.Error())
			case status.Storage == nil || status.Storage.Digest == "":
				s.why = "it does not say"
			default:
				s.why = ""
			}
			if err == nil {
				s.status = status
			}
		})
	}
}

// behind says whether other entries are in force there. What is not known is not
// behind.
func (s *subject) behind(digest string) bool {
	return s.why == "" && s.status != nil && s.status.Storage.Digest != digest
}

func sumUp(all []*subject, digest string, revision int64) *spread {
	f := &spread{Revision: revision, Of: len(all)}
	for _, s := range all {
		switch {
		case s.why != "":
			f.Unknown = append(f.Unknown, unasked{s.id, s.role, s.why})
		case s.behind(digest):
			f.Lagging = append(f.Lagging, laggard{s.id, s.role, s.status.Storage.Revision, s.status.Storage.Connected})
		default:
			f.On++
		}
	}
	return f
}

// lags says whether somebody does.
func (f *spread) lags() bool { return f != nil && len(f.Lagging) > 0 }

// lines tells it to a person.
func (f *spread) lines(l *tableLines) {
	if f == nil {
		return
	}
	l.add("in force:", fmt.Sprintf("revision %d on %d of %d", f.Revision, f.On, f.Of))
	label := "LAGS:"
	for _, m := range f.Lagging {
		text := fmt.Sprintf("%s (%s): revision %d", show(m.ID), m.Role, m.Revision)
		if !m.Connected {
			text += ", not connected to the store"
		}
		l.add(label, text)
		label = ""
	}
	label = "not known:"
	for _, u := range f.Unknown {
		l.add(label, fmt.Sprintf("%s (%s): %s", show(u.ID), u.Role, strings.TrimSpace(u.Why)))
		label = ""
	}
}

func proxyRows(w io.Writer, list []proxy) {
	for _, p := range list {
		row(w, show(p.ID), "client-proxy", "connected", "-", "-", show(p.Version), "-", p.Since.Format(time.RFC3339))
	}
}
