package proxy

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are what a client-proxy shows of its own. Everything is counted in plain atomics, and becomes metrics only when somebody looks; so what
// belongs to a limiter is gone when the limiter is.
type metrics struct {
	decider   *Decider
	collected atomic.Int64
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	retriesDesc = desc("levee_proxy_retries_total",
		"Attempts that were handed to another limiter, by what became of the last one.", "reason")
	spilledDesc   = desc("levee_proxy_spilled_total", "Attempts that one limiter rejected and a second one was asked about.")
	waitingDesc   = desc("levee_proxy_waiting", "Attempts that wait for any limiter to be there.")
	keysDesc      = desc("levee_proxy_keys", "Buckets whose turn is remembered.")
	collectedDesc = desc("levee_proxy_keys_collected_total", "Buckets that were forgotten because they were not used.")

	upDesc       = desc("levee_proxy_limiter_up", "1 while a limiter can be asked.", "limiter")
	attemptsDesc = desc("levee_proxy_limiter_attempts_total", "Attempts that a limiter was asked.", "limiter")
	errorsDesc   = desc("levee_proxy_limiter_errors_total", "Attempts that a limiter did not answer.", "limiter", "reason")
	everyMetrics = [...]*prometheus.Desc{
		retriesDesc, spilledDesc, waitingDesc, keysDesc, collectedDesc,
		upDesc, attemptsDesc, errorsDesc,
	}
)

// Describe implements [prometheus.Collector].
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range everyMetrics {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	d := m.decider
	for why := range reasonCount {
		counter(ch, retriesDesc, d.retries[why].Load(), why.String())
	}
	counter(ch, spilledDesc, d.spilled.Load())
	gauge(ch, waitingDesc, d.waiting.len())
	gauge(ch, keysDesc, d.deals.len())
	counter(ch, collectedDesc, m.collected.Load())
	if r := d.routes.Load(); r != nil {
		for _, u := range r.upstreams {
			u.collect(ch)
		}
	}
}

func (u *upstream) collect(ch chan<- prometheus.Metric) {
	up := 0
	if u.Up() {
		up = 1
	}
	gauge(ch, upDesc, up, u.id)
	counter(ch, attemptsDesc, u.traffic.attempts.Load(), u.id)
	for why := range reasonCount {
		counter(ch, errorsDesc, u.traffic.errors[why].Load(), u.id, why.String())
	}
}

func counter(ch chan<- prometheus.Metric, d *prometheus.Desc, n int64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
}

func gauge(ch chan<- prometheus.Metric, d *prometheus.Desc, n int, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), labels...)
}
