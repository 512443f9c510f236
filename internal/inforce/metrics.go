package inforce

import "github.com/prometheus/client_golang/prometheus"

// metrics are what every daemon shows of the shared configuration.
type metrics struct {
	revision, connected, invalid prometheus.Gauge
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		revision:  gauge("levee_storage_revision", "Revision of the shared configuration in force here."),
		connected: gauge("levee_storage_connected", "1 while the store of the shared configuration answers."),
		invalid: gauge("levee_storage_invalid_entries",
			"Entries of the shared configuration that cannot take effect; the log names them."),
	}
	r.MustRegister(m.revision, m.connected, m.invalid)
	return m
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}
