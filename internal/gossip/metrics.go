package gossip

import "github.com/prometheus/client_golang/prometheus"

// metrics are what the package shows of itself; who is in the cluster is shown
// by those who get its views.
type metrics struct {
	failed     prometheus.Counter
	malformed  prometheus.Counter
	duplicates prometheus.Gauge
}

func newMetrics() metrics {
	return metrics{
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "levee_gossip_join_failures_total",
			Help: "Attempts to join an observer that did not succeed. They are repeated every two seconds.",
		}),
		malformed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "levee_gossip_malformed_total",
			Help: "Announcements of other nodes that were not understood. The log names the nodes.",
		}),
		duplicates: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "levee_gossip_duplicate_ids",
			Help: "Instance-ids that several processes use at once. The log names them.",
		}),
	}
}

func (n *Node) register(r prometheus.Registerer) {
	if r == nil {
		return
	}
	r.MustRegister(n.metrics.failed, n.metrics.malformed, n.metrics.duplicates,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "levee_gossip_health_score",
			Help: "How badly this member hears others, from 0 (well): its own network or processor may be in trouble.",
		}, func() float64 { return float64(n.list.GetHealthScore()) }))
}
