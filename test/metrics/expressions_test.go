package metrics

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// alert is one rule.
type alert struct {
	Alert               string
	Expr                string
	Labels, Annotations map[string]string
}

func alerts(t *testing.T) (all []alert) {
	t.Helper()
	text, err := os.ReadFile(config(t, "prometheus/levee.rules.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var rules struct{ Groups []struct{ Rules []alert } }
	if err := yaml.Unmarshal(text, &rules); err != nil {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("no alerts")
	}
	return all
}

// threshold is the end of an alert's expression. Without it, the expression is the
// value that is judged, and has a series also while all is well.
var threshold = regexp.MustCompile(`^(.*\S)\s*(==|<|>)\s*[0-9.]+$`)

// judged is an alert's expression without its threshold.
func (a alert) judged(t *testing.T) string {
	t.Helper()
	m := threshold.FindStringSubmatch(a.Expr)
	if m == nil {
		t.Fatalf("%s: %q does not end in a comparison with a number", a.Alert, a.Expr)
	}
	return m[1]
}

// panel is what matters here of a panel of the dashboard.
type panel struct {
	ID         int
	Type       string
	Title      string
	GridPos    struct{ H, W, X, Y int }
	Datasource struct{ UID string }
	Targets    []struct {
		RefID      string
		Expr       string
		Datasource struct{ UID string }
	}
}

// dashboard is what matters here of it.
type dashboard struct {
	Title, UID    string
	SchemaVersion int
	Panels        []panel
	Templating    struct {
		List []struct{ Name, Type, Definition string }
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile(config(t, "grafana/levee.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// queries are the dashboard's expressions as Grafana would ask them, by panel.
func (d dashboard) queries() map[string][]string {
	filled := strings.NewReplacer("$__rate_interval", "1m", "$__range", "1m", "$instance", ".*")
	all := map[string][]string{}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all[p.Title] = append(all[p.Title], filled.Replace(target.Expr))
		}
	}
	return all
}

// The dashboard can be imported anywhere: its source is a variable, and no two
// panels are in each other's way.
func TestDashboard(t *testing.T) {
	t.Parallel()
	d := readDashboard(t)
	if d.Title == "" || d.UID == "" || d.SchemaVersion < 36 || len(d.Panels) == 0 {
		t.Errorf("title %q, uid %q, schema %d, %d panels", d.Title, d.UID, d.SchemaVersion, len(d.Panels))
	}
	variables := map[string]string{}
	for _, v := range d.Templating.List {
		variables[v.Name] = v.Type
	}
	if variables["datasource"] != "datasource" || variables["instance"] != "query" {
		t.Errorf("variables %v", variables)
	}
	ids, taken := map[int]string{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if other, twice := ids[p.ID]; twice {
			t.Errorf("%q and %q have one id", p.Title, other)
		}
		ids[p.ID] = p.Title
		if p.GridPos.W < 1 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%q is out of the grid: %+v", p.Title, p.GridPos)
		}
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if other, full := taken[at]; full {
					t.Fatalf("%q is over %q", p.Title, other)
				}
				taken[at] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 {
			t.Errorf("%q asks %q, %d questions", p.Title, p.Datasource.UID, len(p.Targets))
		}
		refs := map[string]bool{}
		for _, target := range p.Targets {
			if refs[target.RefID] || target.Datasource.UID != "${datasource}" {
				t.Errorf("%q: the target %q", p.Title, target.RefID)
			}
			refs[target.RefID] = true
		}
	}
}

// Each alert says what to do, and names its section of OPERATIONS.md, which is
// there.
func TestRunBook(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(config(t, "../OPERATIONS.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile(config(t, "prometheus/levee.rules.test.yml"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, a := range alerts(t) {
		named[a.Alert] = true
		runbook, summary := a.Annotations["runbook"], a.Annotations["summary"]
		if !strings.HasSuffix(runbook, " OPERATIONS.md, section "+a.Alert+".") || summary == "" {
			t.Errorf("%s: the summary is %q, the run book %q", a.Alert, summary, runbook)
		}
		if s := a.Labels["severity"]; s != "critical" && s != "warning" {
			t.Errorf("%s: severity %q", a.Alert, s)
		}
		if !strings.Contains(string(text), "\n### "+a.Alert+"\n") {
			t.Errorf("OPERATIONS.md has no section %s", a.Alert)
		}
		if strings.Count(string(tests), "alertname: "+a.Alert) < 2 {
			t.Errorf("the tests of the rules do not have %s firing and not firing", a.Alert)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^### (Levee\w+)$`).FindAllStringSubmatch(string(text), -1) {
		if !named[m[1]] {
			t.Errorf("OPERATIONS.md has a section for %s, which is no alert", m[1])
		}
	}
}
