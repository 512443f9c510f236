package daemon

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// NewRegistry returns a registry with what every process shows about itself:
// the Go runtime (go_...), the process (process_...) and levee_build_info, which
// is always 1 and tells in its labels what the binary was made from.
func NewRegistry() *prometheus.Registry {
	b := ReadBuild()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "levee_build_info",
		Help: "Always 1; the labels say what this binary was made from.",
		ConstLabels: prometheus.Labels{
			"version":   b.Version,
			"commit":    b.Commit,
			"goversion": b.GoVersion,
		},
	})
	info.Set(1)
	r := prometheus.NewRegistry()
	r.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		info,
	)
	return r
}
