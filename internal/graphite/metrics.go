package graphite

import "github.com/prometheus/client_golang/prometheus"

// Why lines are dropped.
const (
	dropNumber = "not_a_number" // NaN or infinite
	dropLong   = "too_long"     // longer than a datagram
	dropFull   = "queue_full"   // the collector is away, or too slow
	dropSend   = "send_failed"  // UDP: the network refused the datagram
	dropStop   = "stop"         // not sent in time at the stop
)

// metrics are what the bridge shows of itself.
type metrics struct {
	sent      prometheus.Counter
	dropped   *prometheus.CounterVec
	failures  prometheus.Counter
	connected prometheus.Gauge
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		sent: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "levee_graphite_sent_total",
			Help: "Lines sent to the Graphite collector: acknowledged by its host over TCP, handed to the network over UDP.",
		}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "levee_graphite_dropped_total",
			Help: "Lines that the Graphite collector did not get, by why.",
		}, []string{"reason"}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "levee_graphite_failures_total",
			Help: "Connections to the Graphite collector that did not come about or broke; over UDP, pushes of which the network refused a part.",
		}),
		connected: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "levee_graphite_connected",
			Help: "1 while the last lines for the Graphite collector could be sent.",
		}),
	}
	for _, reason := range []string{dropNumber, dropLong, dropFull, dropSend, dropStop} {
		m.dropped.WithLabelValues(reason)
	}
	r.MustRegister(m.sent, m.dropped, m.failures, m.connected)
	return m
}

func (m *metrics) drop(reason string, lines int) {
	m.dropped.WithLabelValues(reason).Add(float64(lines))
}
