package metrics

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/levee-project/levee/test/harness"
)

// prometheus is a Prometheus that runs.
type prometheus struct {
	t    *testing.T
	addr string
}

// config is a file of the product's configs.
func config(t *testing.T, name string) string {
	t.Helper()
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "configs", name)
}

// startPrometheus starts one with the example of configs/, in which only the
// targets, by job, and the times are other.
func startPrometheus(t *testing.T, targets map[string][]string) *prometheus {
	t.Helper()
	text, err := os.ReadFile(config(t, "prometheus/prometheus.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var example map[string]any
	if err := yaml.Unmarshal(text, &example); err != nil {
		t.Fatal(err)
	}
	example["global"] = map[string]any{"scrape_interval": "1s", "evaluation_interval": "1s"}
	example["rule_files"] = []string{config(t, "prometheus/levee.rules.yml")}
	for _, job := range example["scrape_configs"].([]any) {
		job := job.(map[string]any)
		name := job["job_name"].(string)
		if len(targets[name]) == 0 {
			t.Errorf("the example has the job %s, and nothing is there for it", name)
		}
		job["static_configs"] = []any{map[string]any{"targets": targets[name]}}
		delete(targets, name)
	}
	if len(targets) > 0 {
		t.Errorf("the example has no jobs for %v", targets)
	}
	if text, err = yaml.Marshal(example); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	p := &prometheus{t: t, addr: net.JoinHostPort(host(), "9090")}
	launch(t, "prometheus", "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+p.addr)
	harness.Eventually(t, patience, "Prometheus is ready", func() bool {
		resp, err := http.Get("http://" + p.addr + "/-/ready")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return p
}

// get asks its API, and decodes what is under data.
func (p *prometheus) get(path string, args url.Values, data any) {
	p.t.Helper()
	resp, err := http.Get("http://" + p.addr + "/api/v1/" + path + "?" + args.Encode())
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	answer := struct{ Data any }{data}
	if err := json.Unmarshal(text, &answer); err != nil || resp.StatusCode != http.StatusOK {
		p.t.Fatalf("%s %v: %v\n%s", path, args, err, text)
	}
}

// sample is one series of an answer.
type sample struct {
	Metric map[string]string
	Value  [2]any // seconds, and the value in words
}

// query returns the series of an expression, now.
func (p *prometheus) query(expr string) []sample {
	p.t.Helper()
	var data struct{ Result []sample }
	p.get("query", url.Values{"query": {expr}}, &data)
	return data.Result
}

// waitUp waits until so many targets were scraped, each of them often enough for
// a rate.
func (p *prometheus) waitUp(targets int) {
	p.t.Helper()
	harness.Eventually(p.t, patience, fmt.Sprintf("%d targets are up", targets), func() bool {
		return len(p.query("up == 1")) == targets && len(p.query("count_over_time(up[1m]) >= 3")) == targets
	})
}
