package limiter

import (
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

// BenchmarkHotKeysCost tells what counting hot keys costs a decision, as "with" over
// "without". Both take turns every thousand decisions, so that what else the machine
// does meets them alike.
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
	var took [2]time.Duration
	for n := 0; b.Loop(); n++ {
		if n%max(1, perSecond/len(as)) == 0 {
			d.tally.Tick(int64(n / max(1, perSecond/len(as)) * int(second)))
		}
		for counted := range took {
			began := time.Now()
			for i := range as {
				now += 700
				c := d.look(quotas, &as[i])
				o := d.decide(now, &as[i], &c)
				if counted == 1 {
					d.tally.Add(&as[i], &o)
				} else {
					d.tally.Counts.Add(&o)
				}
			}
			took[counted] += time.Since(began)
		}
	}
	b.ReportMetric(float64(took[0].Nanoseconds())/float64(b.N*len(as)), "ns/without")
	b.ReportMetric(float64(took[1].Nanoseconds())/float64(b.N*len(as)), "ns/with")
	b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "with/without")
}
