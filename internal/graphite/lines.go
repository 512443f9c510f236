package graphite

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// maxLine is the most octets of a line, so that each fits in a datagram, and in
// what carbon reads as a line.
const maxLine = maxDatagram

// poll is what one look at the registry has become.
type poll struct {
	lines []byte // whole lines
	count int
}

// Tag is a tag of every line.
type Tag struct{ Name, Value string }

// writer makes lines of metrics. Its methods append to the poll.
type writer struct {
	prefix string
	tags   []Tag // of every line
	when   string

	poll
	notNumbers int // lines left out because their value is NaN or infinite
	tooLong    int // lines left out because they are longer than maxLine
	own        []Tag
}

func newWriter(prefix string, tags []Tag, now time.Time) *writer {
	if prefix != "" {
		prefix += "."
	}
	return &writer{prefix: prefix, tags: tags, when: strconv.FormatInt(now.Unix(), 10)}
}

// family writes all series of a metric.
func (w *writer) family(f *dto.MetricFamily) {
	name := f.GetName()
	for _, m := range f.GetMetric() {
		w.series(m.GetLabel())
		switch {
		case m.Counter != nil:
			w.line(name, "", m.Counter.GetValue())
		case m.Gauge != nil:
			w.line(name, "", m.Gauge.GetValue())
		case m.Untyped != nil:
			w.line(name, "", m.Untyped.GetValue())
		case m.Summary != nil:
			w.summary(name, m.Summary)
		case m.Histogram != nil:
			w.histogram(name, m.Histogram)
		}
	}
}

// series sets the tags of the next lines, in order. Their last place is free for
// le or quantile.
func (w *writer) series(labels []*dto.LabelPair) {
	w.own = append(w.own[:0], w.tags...)
	for _, l := range labels {
		w.own = append(w.own, Tag{ownTag(l.GetName(), w.tags), l.GetValue()})
	}
	slices.SortStableFunc(w.own, func(a, b Tag) int { return strings.Compare(a.Name, b.Name) })
}

func (w *writer) summary(name string, s *dto.Summary) {
	for _, q := range s.GetQuantile() {
		w.line(name, "quantile="+number(q.GetQuantile()), q.GetValue())
	}
	w.line(name+"_sum", "", s.GetSampleSum())
	w.line(name+"_count", "", float64(s.GetSampleCount()))
}

func (w *writer) histogram(name string, h *dto.Histogram) {
	buckets := make([]bucket, 0, len(h.GetBucket()))
	for _, b := range h.GetBucket() {
		buckets = append(buckets, bucket{b.GetUpperBound(), b.GetCumulativeCount()})
	}
	if len(buckets) == 0 {
		buckets = nativeBuckets(h)
	}
	for _, b := range buckets {
		if !math.IsInf(b.bound, 1) {
			w.line(name+"_bucket", "le="+number(b.bound), float64(b.count))
		}
	}
	w.line(name+"_bucket", "le=+Inf", float64(h.GetSampleCount()))
	w.line(name+"_sum", "", h.GetSampleSum())
	w.line(name+"_count", "", float64(h.GetSampleCount()))
}

// line writes a line of the series. more is another tag, name=value, or empty.
func (w *writer) line(name, more string, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		w.notNumbers++
		return
	}
	b, from := w.lines, len(w.lines)
	b = append(b, w.prefix...)
	b = safeName(b, name)
	for _, t := range w.own {
		if t.Value == "" {
			continue
		}
		b = append(b, ';')
		b = safeName(b, t.Name)
		b = append(b, '=')
		b = safeValue(b, t.Value)
	}
	if more != "" {
		b = append(b, ';')
		b = append(b, more...)
	}
	b = append(b, ' ')
	b = appendNumber(b, value)
	b = append(b, ' ')
	b = append(b, w.when...)
	b = append(b, '\n')
	if len(b)-from > maxLine {
		w.tooLong++
		w.lines = b[:from]
		return
	}
	w.lines = b
	w.count++
}

func number(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64) // as Prometheus spells it
}

// appendNumber writes a value exactly, and without an exponent unless it would
// be long: not every collector reads one.
func appendNumber(b []byte, v float64) []byte {
	if abs := math.Abs(v); v != 0 && (abs < 1e-12 || abs >= 1e21) {
		return strconv.AppendFloat(b, v, 'g', -1, 64)
	}
	return strconv.AppendFloat(b, v, 'f', -1, 64)
}
