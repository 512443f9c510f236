package console

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/levee-project/levee/internal/topology"
)

// historyTime is how far back the charts go.
const historyTime = 5 * time.Minute

// history is the rates of the last minutes, as far as somebody watched.
type history struct {
	mu     sync.Mutex // guards points
	points []point    // the oldest first
}

// point is the rates of one round.
type point struct {
	at       time.Time
	total    *rates
	limiters map[string]float64 // answers a second, by ID
}

// pastRates is the history as JSON: lists of equal length. What is not known is
// null.
type pastRates struct {
	Times    []float64             `json:"times"` // Unix, in seconds
	Accepted []*float64            `json:"accepted"`
	Rejected []*float64            `json:"rejected"`
	Failed   []*float64            `json:"failed"`
	Limiters map[string][]*float64 `json:"limiters"`
}

// add takes the rates of a frame, and forgets what is too old.
func (h *history) add(f *frame) {
	p := point{at: f.Time, total: f.Rates, limiters: map[string]float64{}}
	for i := range f.Members {
		if m := &f.Members[i]; m.Role == string(topology.Limiter) && m.Rates != nil {
			p.limiters[m.ID] = m.Rates.sum()
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.points = append(h.points, p)
	old := slices.IndexFunc(h.points, func(p point) bool { return f.Time.Sub(p.at) < historyTime })
	h.points = slices.Delete(h.points, 0, max(0, old))
}

// json is the history for a new viewer.
func (h *history) json() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.points)
	out := pastRates{
		Times: make([]float64, n), Accepted: make([]*float64, n), Rejected: make([]*float64, n), Failed: make([]*float64, n),
		Limiters: map[string][]*float64{},
	}
	for i, p := range h.points {
		out.Times[i] = float64(p.at.UnixMilli()) / 1000
		if p.total != nil {
			out.Accepted[i], out.Rejected[i], out.Failed[i] = &p.total.Accepted, &p.total.Rejected, &p.total.Failed
		}
		for id, rate := range p.limiters {
			if out.Limiters[id] == nil {
				out.Limiters[id] = make([]*float64, n)
			}
			out.Limiters[id][i] = &rate
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return []byte("{}") // cannot happen: all of it is plain
	}
	return text
}
