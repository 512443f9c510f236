package limiter

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/keytable"
	"github.com/levee-project/levee/internal/wire"
)

// counts are the attempts by answer. They are plain atomics on the way of an
// attempt, and become metrics only when somebody looks.
type counts [3][len(attempt.Levels)][2]struct {
	atomic.Int64
	_ [56]byte // a cache line each
}

// add counts an answer. What a shadow quota would have rejected counts as
// rejected, under shadow="true".
func (c *counts) add(o *attempt.Outcome) {
	result, shadow := o.Result, 0
	if o.Shadow {
		shadow = 1
		if o.Over {
			result = attempt.Rejected
		}
	}
	c[result][o.Level][shadow].Add(1)
}

var attemptsDesc = prometheus.NewDesc("levee_attempts_total",
	"Attempts by result and by the level at which their quota was found. With shadow=\"true\", "+
		"rejected ones were answered as accepted.",
	[]string{"result", "quota", "shadow"}, nil)

// Describe implements [prometheus.Collector].
func (c *counts) Describe(ch chan<- *prometheus.Desc) { ch <- attemptsDesc }

// Collect implements [prometheus.Collector].
func (c *counts) Collect(ch chan<- prometheus.Metric) {
	for _, result := range []attempt.Result{attempt.Accepted, attempt.Rejected, attempt.Failed} {
		for _, level := range attempt.Levels {
			for shadow, name := range []string{"false", "true"} {
				if shadow == 1 && (level == attempt.None || result == attempt.Failed) {
					continue // cannot happen
				}
				ch <- prometheus.MustNewConstMetric(attemptsDesc, prometheus.CounterValue,
					float64(c[result][level][shadow].Load()), result.String(), level.String(), name)
			}
		}
	}
}

// metrics are what a limiter shows besides its attempts.
type metrics struct {
	duration  *durations
	bad       []prometheus.Counter // by wire.Reason
	revision  prometheus.Gauge
	connected prometheus.Gauge
	invalid   prometheus.Gauge
}

func newMetrics(r prometheus.Registerer, table *keytable.Table, d *Decider) *metrics {
	m := &metrics{
		duration:  newDurations(),
		revision:  gauge("levee_storage_revision", "Revision of the shared configuration in force here."),
		connected: gauge("levee_storage_connected", "1 while the store of the shared configuration answers."),
		invalid: gauge("levee_storage_invalid_entries",
			"Entries of the shared configuration that cannot take effect; the log names them."),
	}
	bad := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "levee_bad_requests_total", Help: "Requests that were refused before any decision, by what was wrong.",
	}, []string{"reason"})
	reasons := wire.Reasons()
	m.bad = make([]prometheus.Counter, len(reasons)+1)
	for _, reason := range reasons {
		m.bad[reason] = bad.WithLabelValues(reason.String())
	}
	r.MustRegister(&d.counts, m.duration, bad, m.revision, m.connected, m.invalid,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "levee_keys", Help: "Buckets held in memory.",
		}, func() float64 { return float64(table.Len()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "levee_keys_collected_total", Help: "Idle buckets that were dropped from memory; nothing was lost.",
		}, func() float64 { return float64(table.Collected()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "levee_keys_evicted_total",
			Help: "Buckets that still owed and were dropped because max-keys was reached.",
		}, func() float64 { return float64(table.Evicted()) }))
	return m
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}
