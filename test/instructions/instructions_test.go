package instructions

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const (
	baseline = "baseline.txt"
	// update, set in the environment, writes the baseline anew.
	update = "LEVEE_TEST_UPDATE"
	// tolerance is by how much a count may exceed the baseline.
	tolerance = 1.05
	// A benchmark runs twice, and the difference is what the iterations cost.
	few = 1000
)

// measured are the benchmarks, how many requests one iteration of each is, and how
// many iterations the longer run has: more where the preparation costs more, or not
// the same each time.
var measured = []struct {
	pkg, benchmark string
	requests       float64
	many           int
}{
	{"internal/limiter", "BenchmarkDecisionHotKey", 1, 201_000},
	{"internal/wire", "BenchmarkHTTP1/usual", 1, 9000},
	{"internal/wire", "BenchmarkHTTP1/proxied", 1, 9000},
	{"internal/wire", "BenchmarkHTTP2Loop/changing", 32, 9000},
}

func TestInstructionsPerRequest(t *testing.T) {
	known := readBaseline(t)
	var lines []string
	binaries := map[string]string{}
	for _, m := range measured {
		if binaries[m.pkg] == "" {
			binaries[m.pkg] = build(t, m.pkg)
		}
		name := m.pkg + " " + m.benchmark
		count := (run(t, binaries[m.pkg], m.benchmark, m.many) - run(t, binaries[m.pkg], m.benchmark, few)) /
			float64(m.many-few) / m.requests
		t.Logf("%s: %.0f instructions a request, baseline %.0f", name, count, known[name])
		lines = append(lines, fmt.Sprintf("%s %.0f\n", name, count))
		if os.Getenv(update) == "" && count > known[name]*tolerance {
			t.Errorf("%s takes %.0f instructions a request, more than %.0f × %.2f; if that is meant, run with %s=1 and commit %s",
				name, count, known[name], tolerance, update, baseline)
		}
	}
	if os.Getenv(update) != "" {
		if err := os.WriteFile(baseline, []byte(strings.Join(lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readBaseline reads lines of package, benchmark and count.
func readBaseline(t *testing.T) map[string]float64 {
	t.Helper()
	f, err := os.Open(baseline)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	known := map[string]float64{}
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		if len(fields) != 3 {
			t.Fatalf("%s: %q is not PACKAGE BENCHMARK COUNT", baseline, s.Text())
		}
		if known[fields[0]+" "+fields[1]], err = strconv.ParseFloat(fields[2], 64); err != nil {
			t.Fatal(err)
		}
	}
	return known
}

// build compiles a package's tests so that valgrind understands their stacks.
func build(t *testing.T, pkg string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "bench.test")
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-tags", "valgrind", "-o", out, "./"+pkg)
	cmd.Dir = "../.."
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

var collected = regexp.MustCompile(`Collected : (\d+)`)

// run returns the instructions of a whole run of a benchmark.
func run(t *testing.T, binary, benchmark string, iterations int) float64 {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "valgrind", "--tool=callgrind", "--callgrind-out-file="+filepath.Join(dir, "out"),
		binary, "-test.run", "^$", "-test.bench", "^"+strings.ReplaceAll(benchmark, "/", "$/^")+"$", "-test.benchtime", fmt.Sprint(iterations, "x"), "-test.cpu", "1")
	cmd.Dir = dir
	// One thread, no garbage collection and no preemption: nothing that depends
	// on time.
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1")
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if !strings.Contains(string(text), benchmark) {
		t.Fatalf("%s ran no %s: %s", binary, benchmark, text)
	}
	m := collected.FindSubmatch(text)
	if m == nil {
		t.Fatalf("no count in: %s", text)
	}
	n, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
