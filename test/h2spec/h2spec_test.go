package h2spec

import (
	"context"
	"encoding/xml"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// allowed are the cases that fail for a reason, by section and the beginning of
// their description.
var allowed = map[string]string{
	"http2/3.5/Sends invalid connection preface": "the port also speaks HTTP/1.1, and answers what is neither with 400",
}

// fewest is how many cases there are at least: a report that lists fewer shows
// that h2spec did not run as it should.
const fewest = 140

func TestConformance(t *testing.T) {
	store := harness.NewFileStore(t, nil) // no quotas: everything passes
	report := run(t, harness.StartLimiter(t, "--storage-addrs="+store.Addr()).Addr)
	passed, failed := 0, 0
	for _, suite := range report.Suites {
		for _, c := range suite.Cases {
			name := fmt.Sprintf("%s/%s", strings.TrimSpace(c.Package), strings.TrimSpace(c.Class))
			if c.Failure == nil && c.Error == nil && c.Skipped == nil {
				passed++
				continue
			}
			failed++
			if why := reason(name); why != "" {
				t.Logf("%s: as expected, %s", name, why)
				continue
			}
			t.Errorf("%s: %v %v %v", name, c.Failure, c.Error, c.Skipped)
		}
	}
	t.Logf("%d passed, %d failed", passed, failed)
	if passed+failed < fewest {
		t.Errorf("%d cases were run, want at least %d", passed+failed, fewest)
	}
}

// reason returns why a case may fail, or nothing.
func reason(name string) string {
	for prefix, why := range allowed {
		if strings.HasPrefix(name, prefix) {
			return why
		}
	}
	return ""
}

// junit is a report of h2spec, as far as it matters.
type junit struct {
	Suites []struct {
		Cases []struct {
			Package string `xml:"package,attr"`
			Class   string `xml:"classname,attr"`
			Failure *text  `xml:"failure"`
			Error   *text  `xml:"error"`
			Skipped *text  `xml:"skipped"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

type text struct {
	Text string `xml:",innerxml"`
}

func (t *text) String() string {
	if t == nil {
		return ""
	}
	return t.Text
}

// run builds h2spec and has it ask the server at an address.
func run(t *testing.T, addr string) (report junit) {
	t.Helper()
	dir := t.TempDir()
	program, file := filepath.Join(dir, "h2spec"), filepath.Join(dir, "report.xml")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/summerwind/h2spec/cmd/h2spec")
	build.Dir = filepath.Join("..", "tools")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build h2spec: %v\n%s", err, out)
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	// It exits with 1 when any case fails; the report says which.
	out, err := exec.CommandContext(ctx, program, "-h", host, "-p", port, "-P", "/attempt", "-S", "-j", file).CombinedOutput()
	b, readErr := os.ReadFile(file)
	if readErr != nil {
		t.Fatalf("h2spec left no report: %v; it ended with %v and said\n%s", readErr, err, out)
	}
	if err := xml.Unmarshal(b, &report); err != nil {
		t.Fatalf("report of h2spec: %v", err)
	}
	return report
}
