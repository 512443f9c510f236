package limiter

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/levee-project/levee/internal/keytable"
)

// registerKeys shows what the key table holds.
func registerKeys(r prometheus.Registerer, table *keytable.Table) {
	r.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "levee_keys", Help: "Buckets held in memory.",
		}, func() float64 { return float64(table.Len()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "levee_keys_max", Help: "Most buckets that may be held, as max-keys says; 0 where nothing bounds them.",
		}, func() float64 { return float64(table.MaxKeys()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "levee_keys_collected_total", Help: "Idle buckets that were dropped from memory; nothing was lost.",
		}, func() float64 { return float64(table.Collected()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "levee_keys_evicted_total",
			Help: "Buckets that still owed and were dropped because max-keys was reached.",
		}, func() float64 { return float64(table.Evicted()) }))
}
