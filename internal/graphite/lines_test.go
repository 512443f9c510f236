package graphite

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// linesOf is what becomes of collectors.
func linesOf(t *testing.T, prefix string, collectors ...prometheus.Collector) (lines []string, w *writer) {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(collectors...)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	w = newWriter(prefix, []Tag{{"job", "levee-limiter"}, {"instance", "lim-1"}}, time.Unix(1700000000, 999e6))
	for _, f := range families {
		w.family(f)
	}
	lines = strings.Split(strings.TrimSuffix(string(w.lines), "\n"), "\n")
	if len(w.lines) == 0 {
		lines = nil
	}
	if len(lines) != w.count {
		t.Errorf("%d lines, counted as %d", len(lines), w.count)
	}
	return lines, w
}

func gauge(name string, v float64, labels prometheus.Labels) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: "x", ConstLabels: labels})
	g.Set(v)
	return g
}

func TestLines(t *testing.T) {
	t.Parallel()
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "levee_attempts_total", Help: "x"},
		[]string{"result", "quota", "shadow"})
	counter.WithLabelValues("accepted", "resource", "false").Add(12345678901)
	histogram := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "h_seconds", Help: "x", Buckets: []float64{1.28e-7, 0.5, 2}})
	for _, v := range []float64{1e-7, 0.25, 1, 8} {
		histogram.Observe(v)
	}
	summary := prometheus.MustNewConstSummary(prometheus.NewDesc("s", "x", nil, nil), 7, 3.5,
		map[float64]float64{0.5: 0.25, 0.99: math.NaN()})
	both := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "both", Help: "x", Buckets: []float64{3}, NativeHistogramBucketFactor: 1.1,
	})
	both.Observe(1)
	const tags, when = ";instance=lim-1;job=levee-limiter", " 1700000000"
	for name, c := range map[string]struct {
		prefix string
		of     prometheus.Collector
		want   []string
	}{
		"counter": {"", counter, []string{
			"levee_attempts_total" + tags + ";quota=resource;result=accepted;shadow=false 12345678901" + when,
		}},
		"prefix":                {"site.levee", gauge("g", 0.1, nil), []string{"site.levee.g" + tags + " 0.1" + when}},
		"tiny":                  {"", gauge("g", 1e-13, nil), []string{"g" + tags + " 1e-13" + when}},
		"huge":                  {"", gauge("g", 2e300, nil), []string{"g" + tags + " 2e+300" + when}},
		"negative":              {"", gauge("g", -128e-9, nil), []string{"g" + tags + " -0.000000128" + when}},
		"colon in the name":     {"", gauge("job:g:sum", 1, nil), []string{"job_g_sum" + tags + " 1" + when}},
		"label without a value": {"", gauge("g", 1, prometheus.Labels{"a": "", "b": "c"}), []string{"g;b=c" + tags + " 1" + when}},
		"labels that are taken": {
			"", gauge("g", 1, prometheus.Labels{"instance": "node-2", "job": "x", "name": "n"}),
			[]string{"g;exported_instance=node-2;exported_job=x;exported_name=n" + tags + " 1" + when},
		},
		"histogram": {"", histogram, []string{
			"h_seconds_bucket" + tags + ";le=1.28e-07 1" + when,
			"h_seconds_bucket" + tags + ";le=0.5 2" + when,
			"h_seconds_bucket" + tags + ";le=2 3" + when,
			"h_seconds_bucket" + tags + ";le=+Inf 4" + when,
			"h_seconds_sum" + tags + " 9.2500001" + when,
			"h_seconds_count" + tags + " 4" + when,
		}},
		"histogram with native buckets, too": {"", both, []string{
			"both_bucket" + tags + ";le=3 1" + when, "both_bucket" + tags + ";le=+Inf 1" + when,
			"both_sum" + tags + " 1" + when, "both_count" + tags + " 1" + when,
		}},
		"summary": {"", constant{summary}, []string{
			"s" + tags + ";quantile=0.5 0.25" + when, "s_sum" + tags + " 3.5" + when, "s_count" + tags + " 7" + when,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := linesOf(t, c.prefix, c.of)
			if g, w := strings.Join(got, "\n"), strings.Join(c.want, "\n"); g != w {
				t.Errorf("got\n%s\nwant\n%s", g, w)
			}
		})
	}
}

// constant collects a metric that is there already.
type constant struct{ prometheus.Metric }

func (c constant) Describe(ch chan<- *prometheus.Desc) { ch <- c.Desc() }
func (c constant) Collect(ch chan<- prometheus.Metric) { ch <- c.Metric }

// What has no place in Graphite is left out and counted.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	lines, w := linesOf(t, "", gauge("a", math.NaN(), nil), gauge("b", math.Inf(1), nil), gauge("c", math.Inf(-1), nil),
		gauge("d", 1, prometheus.Labels{"x": strings.Repeat("y", maxLine)}), gauge("e", 1, nil))
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "e;") || w.notNumbers != 3 || w.tooLong != 1 {
		t.Errorf("lines %q, %d no numbers, %d too long", lines, w.notNumbers, w.tooLong)
	}
}

func TestSafe(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"10.0.0.1:5454":    "10.0.0.1:5454",
		"[fd00::1]:5454":   "_fd00::1_:5454",
		"a;b=c":            "a_b=c",
		"~tilde~":          "_tilde~",
		"two words\t.":     "two_words_.",
		"кадр":             "кадр",
		"\u00a0\u2028\x85": "___",
		"\xff\xfe":         "__",
		`x{a="b"}`:         "x_a=_b__",
		"*?$'`|\\^":        "________",
		"+Inf":             "+Inf",
		"go1.26.8 X:a,b":   "go1.26.8_X:a,b",
	} {
		if got := string(safeValue(nil, value)); got != want {
			t.Errorf("the value %q becomes %q, want %q", value, got, want)
		}
	}
	for name, want := range map[string]string{
		"levee_keys": "levee_keys", "a:b": "a_b", "a.b": "a_b", "ä": "_", "x;y=z": "x_y_z", "x y": "x_y",
	} {
		if got := string(safeName(nil, name)); got != want {
			t.Errorf("the name %q becomes %q, want %q", name, got, want)
		}
	}
}

// carbonTags reads a series as carbon does, and fails where carbon would refuse
// it: three fields apart by white space, whatever Python takes for that, and tags
// with a name and a value.
func carbonTags(t *testing.T, line string) map[string]string {
	t.Helper()
	fields := strings.FieldsFunc(line, func(r rune) bool {
		return r <= ' ' || r >= 0x7f && r < 0xa1 || strings.ContainsRune("\u1680\u2028\u2029\u202f\u205f\u3000\u200b\ufeff", r) ||
			r >= 0x2000 && r <= 0x200a
	})
	if len(fields) != 3 {
		t.Fatalf("%q has %d fields", line, len(fields))
	}
	if strings.HasSuffix(fields[0], `"}`) {
		t.Fatalf("%q is another format to carbon", line)
	}
	name, rest, _ := strings.Cut(fields[0], ";")
	tags := map[string]string{"name": name}
	for tag := range strings.SplitSeq(rest, ";") {
		k, v, ok := strings.Cut(tag, "=")
		if !ok || k == "" || v == "" || v[0] == '~' || strings.ContainsAny(k, "!^") {
			t.Fatalf("%q: carbon refuses the tag %q", line, tag)
		}
		if _, twice := tags[k]; twice {
			t.Fatalf("%q has the tag %s twice", line, k)
		}
		tags[k] = v
	}
	return tags
}

// Whatever a label says, the line is one that carbon takes, with the same tags.
func FuzzValue(f *testing.F) {
	for _, s := range []string{"", "~", "a;b=c d", "\xff", "\u2028", `{x="y"}`, "кадр"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		w := newWriter("p", []Tag{{"job", "j"}}, time.Unix(1, 0))
		w.own = append(w.own, Tag{"job", "j"}, Tag{"x", value})
		w.line("n", "le=+Inf", 1)
		if w.tooLong == 1 && len(value) > maxLine/4 {
			return
		}
		if strings.Count(string(w.lines), "\n") != 1 {
			t.Fatalf("%q is more than a line", w.lines)
		}
		tags := carbonTags(t, string(w.lines))
		if _, there := tags["x"]; there != (value != "") || tags["name"] != "p.n" || tags["le"] != "+Inf" || tags["job"] != "j" {
			t.Errorf("%q becomes %v", value, tags)
		}
	})
}
