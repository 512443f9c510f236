package harness

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics is one scrape, by name.
type Metrics map[string]*dto.MetricFamily

// ScrapeText returns what /metrics says, in the text format.
func (d *Daemon) ScrapeText(t testing.TB) string {
	t.Helper()
	text, err := d.scrape()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (d *Daemon) scrape() (string, error) { return d.admin.metrics() }

func (c *Client) metrics() (string, error) {
	a, err := c.Do(Request{Method: http.MethodGet, Path: "/metrics"})
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("%v", a)
	}
	if err != nil {
		return "", fmt.Errorf("/metrics: %w", err)
	}
	return a.Body, nil
}

// Scrape reads /metrics.
func (d *Daemon) Scrape(t testing.TB) Metrics {
	t.Helper()
	m, err := d.TryScrape()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TryScrape is Scrape for a daemon that may not answer.
func (d *Daemon) TryScrape() (Metrics, error) { return d.admin.Scrape() }

// Scrape reads /metrics of a client's server.
func (c *Client) Scrape() (Metrics, error) {
	text, err := c.metrics()
	if err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("/metrics: %w", err)
	}
	return families, nil
}

// Sum adds up the series of a counter or gauge that have all the given labels,
// name and value in turn; 0 when there is none.
func (m Metrics) Sum(name string, labels ...string) float64 {
	sum, _ := m.Find(name, labels...)
	return sum
}

// Find is Sum, and reports whether there is such a series at all.
func (m Metrics) Find(name string, labels ...string) (sum float64, found bool) {
	family, ok := m[name]
	if !ok {
		return 0, false
	}
	for _, series := range family.GetMetric() {
		if !hasLabels(series, labels) {
			continue
		}
		found = true
		sum += series.GetCounter().GetValue() + series.GetGauge().GetValue() +
			float64(series.GetHistogram().GetSampleCount())
	}
	return sum, found
}

func hasLabels(series *dto.Metric, labels []string) bool {
	have := map[string]string{}
	for _, l := range series.GetLabel() {
		have[l.GetName()] = l.GetValue()
	}
	for i := 0; i+1 < len(labels); i += 2 {
		if have[labels[i]] != labels[i+1] {
			return false
		}
	}
	return true
}
