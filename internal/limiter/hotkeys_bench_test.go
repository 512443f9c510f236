package limiter

import (
	"slices"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

// BenchmarkHotKeysCost tells what counting, hot keys included, costs a decision, as
// "with" over "without". Both take turns every thousand decisions, and the medians
// count, so that what else the machine does matters little.
func BenchmarkHotKeysCost(b *testing.B) {
	for name, load := range map[string]int{"a million a second": 1_000_000, "sixteen thousand a second": 16_000} {
		b.Run(name, func(b *testing.B) { hotKeysCost(b, load) })
	}
}

func hotKeysCost(b *testing.B, perSecond int) {
	d := newTestDecider(b, map[string]string{"limit/key_default": `{"rate": 1000000, "burst": 10}`})
	now, quotas := int64(0), d.quotas.Load()
	as := make([]attempt.Attempt, 1000)
	for i := range as {
		as[i] = *question("tenant-000123/object/photos-"+string(rune('a'+i%20)), "", "", 1)
	}
	var took [2][]float64 // nanoseconds a decision
	underLoad(d, perSecond)
	ticks := perSecond / len(as) // that many rounds are a second
	for n := 0; b.Loop(); n++ {
		if n%ticks == 0 {
			d.tally.Tick(int64(1+n/ticks) * second)
		}
		for counted := range 2 {
			began := time.Now()
			for i := range as {
				now += 700
				c := d.look(quotas, &as[i])
				o := d.decide(now, &as[i], &c)
				if counted == 1 {
					d.tally.Add(&as[i], &o)
				}
			}
			took[counted] = append(took[counted], float64(time.Since(began).Nanoseconds())/float64(len(as)))
		}
	}
	for _, list := range took {
		slices.Sort(list)
	}
	without, with := took[0][len(took[0])/2], took[1][len(took[1])/2]
	b.ReportMetric(without, "ns/without")
	b.ReportMetric(with, "ns/with")
	b.ReportMetric(with/without, "with/without")
}
