package console

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/explain"
	"github.com/levee-project/levee/internal/topology"
)

// picture is who decides about an attempt, and why: what leveectl explain says,
// and what the bucket owes at each limiter of the group.
type picture struct {
	Revision    int64                `json:"revision"`
	Explanation *explain.Explanation `json:"explanation"`
	// Bucket, Group and Limiter are the sentences of leveectl explain.
	Bucket  string  `json:"bucket,omitempty"`
	Group   string  `json:"group"`
	Limiter string  `json:"limiter,omitempty"`
	Places  []place `json:"places"`
}

// place is a limiter in the order in which it is asked.
type place struct {
	ID      string `json:"id"`
	Address string `json:"address,omitempty"`
	// Decides is false for those that stand in when others are gone.
	Decides bool `json:"decides"`
	// Bucket is what it holds; of those that decide, where there is a quota.
	Bucket *adminapi.Bucket `json:"bucket,omitempty"`
	Fault  string           `json:"fault,omitempty"`
}

// maxStandIns is how many limiters are shown that do not decide.
const maxStandIns = 20

// servePicture answers with the picture of an attempt.
func (c *Console) servePicture(w http.ResponseWriter, r *http.Request) {
	a, err := adminapi.ParseAttempt(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	select {
	case c.pictures <- struct{}{}:
		defer func() { <-c.pictures }()
	default:
		busy(w, "too many ask at the same time")
		return
	}
	p := c.draw(r.Context(), a)
	if p == nil {
		busy(w, "the shared configuration is not known yet")
		return
	}
	adminapi.Page(func() *picture { return p }).ServeHTTP(w, r)
}

// busy answers that it may go later.
func busy(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", "2")
	http.Error(w, why, http.StatusServiceUnavailable)
}

// draw returns the picture of an attempt; nil before there is a configuration.
func (c *Console) draw(ctx context.Context, a *attempt.Attempt) *picture {
	conf := c.source.Configuration()
	if conf == nil {
		return nil
	}
	var view *topology.View
	alone := 1
	if c.source.View != nil {
		view, alone = c.source.View(), 0
	}
	e := explain.New(conf.Quotas, conf.Faults, a, view, alone)
	p := &picture{Revision: conf.Revision, Explanation: e, Group: e.Group.String(), Places: []place{}}
	if e.Bucket != nil {
		p.Bucket, p.Limiter = e.Bucket.String(), e.Limiter.String()
	}
	for i, m := range e.Group.Ranked {
		if i < e.Group.InForce+maxStandIns {
			p.Places = append(p.Places, place{ID: m.ID, Address: addr(m.Service), Decides: i < e.Group.InForce})
		}
	}
	if c.source.View == nil {
		p.Places = append(p.Places, place{ID: c.source.Status().ID, Decides: true})
	}
	if e.Bucket != nil {
		c.weigh(ctx, a, p)
	}
	return p
}

// weigh asks the limiters that decide what the bucket owes there.
func (c *Console) weigh(ctx context.Context, a *attempt.Attempt, p *picture) {
	if c.source.View == nil {
		b := c.source.Bucket(a)
		p.Places[0].Bucket = &b
		return
	}
	ctx, cancel := context.WithTimeout(ctx, pictureTime)
	defer cancel()
	var work sync.WaitGroup
	free := make(chan struct{}, asksAtOnce)
	for i := range p.Places {
		at := &p.Places[i]
		admin := p.Explanation.Group.Ranked[i].Admin
		switch {
		case !at.Decides:
			continue
		case !admin.IsValid():
			at.Fault = "its admin port cannot be reached from here"
			continue
		}
		free <- struct{}{}
		work.Go(func() {
			defer func() { <-free }()
			ctx, cancel := context.WithTimeout(ctx, askTime)
			defer cancel()
			var err error
			if at.Bucket, err = c.client.Bucket(ctx, admin, a); err != nil {
				at.Fault = "its admin port does not answer"
			}
		})
	}
	work.Wait()
}

// pictureTime bounds the questions of one picture.
const pictureTime = 3 * time.Second
