package topology

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

// Whatever three trackers hear in whatever order, each shows an ID once and who
// is alive before who is silent; and when they have told each other all they
// remember there is no news left, and they agree on who is silent.
func FuzzTracker(f *testing.F) {
	source := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		ops := make([]byte, 250)
		for i := range ops {
			ops[i] = byte(source.Uint32())
		}
		f.Add(ops)
	}
	f.Fuzz(func(t *testing.T, ops []byte) {
		o := &overlay{t, map[string]*Tracker{}, map[string]*View{}}
		who := []string{"A", "B", "C"}
		for i, op := range ops[:min(len(ops), 250)] {
			name := fmt.Sprintf("%c@%d", 'a'+op>>2&1, 1+op>>3&1)
			words := []string{strconv.Itoa(i), who[op&3%3]}
			switch op >> 5 {
			case 0, 1, 2:
				words = append(words, "alive", name, string(States[op>>5]))
			case 3, 4:
				words = append(words, "gone", name)
			case 5:
				if _, err := o.tracker(words[1]).Forget(epoch.Add(time.Duration(i)*time.Second), name[:1]); err == nil {
					words = append(words, "look")
					break
				}
				fallthrough
			default:
				now := epoch.Add(time.Duration(i) * time.Second)
				o.tracker(words[1]).Merge(now, o.tracker(who[op>>3&3%3]).Memory(now))
				words = append(words, "look")
			}
			o.step(words)
			o.check(words[1])
		}
		o.settle(who)
	})
}

func (o *overlay) check(who string) {
	o.t.Helper()
	tr := o.tracker(who)
	seen := map[string]bool{}
	for _, m := range o.seen[who].Members() {
		if seen[m.ID] {
			o.t.Fatalf("%s sees %s twice", who, m.ID)
		}
		seen[m.ID] = true
		for _, s := range tr.alive {
			if s.member.ID == m.ID && (m.State == Silent || m.Incarnation < s.member.Incarnation) {
				o.t.Fatalf("%s sees %s@%d %s while %s@%d is alive", who, m.ID, m.Incarnation, m.State, m.ID, s.member.Incarnation)
			}
		}
	}
	for _, s := range tr.alive {
		if _, silent := tr.silent[s.member.ID]; silent || !seen[s.member.ID] {
			o.t.Fatalf("%s sees %s: %v, remembers it as silent: %v", who, s.member.ID, seen[s.member.ID], silent)
		}
	}
	for id, m := range tr.silent {
		if e, ok := tr.ended[id]; ok && e.incarnation >= m.Incarnation {
			o.t.Fatalf("%s remembers %s@%d as silent, and that %d is over", who, id, m.Incarnation, e.incarnation)
		}
	}
}

func (o *overlay) settle(who []string) {
	o.t.Helper()
	now := epoch.Add(300 * time.Second)
	news := 1
	for round := 0; news > 0; round++ {
		if news = 0; round > 3 {
			o.t.Fatal("there is news for ever")
		}
		for _, a := range who {
			for _, b := range who {
				if o.tracker(a).Merge(now, o.tracker(b).Memory(now)) {
					news++
				}
			}
		}
	}
	silent := map[string]int64{}
	for _, w := range who {
		for id, m := range o.tracker(w).silent {
			silent[id] = max(silent[id], m.Incarnation)
		}
	}
	for _, w := range who {
		for id, incarnation := range silent {
			if m := o.tracker(w).silent[id]; m.Incarnation != incarnation && !o.tracker(w).anyAlive(id) {
				o.t.Fatalf("%s remembers %s@%d, others %d", w, id, m.Incarnation, incarnation)
			}
		}
	}
}
