package capacity

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"os/exec"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/keytable"
	"github.com/levee-project/levee/internal/limiter"
	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/tree"
	"github.com/levee-project/levee/test/harness"
)

const (
	keys     = 10_000_000
	keyBytes = 30
	fillEnv  = "LEVEE_TEST_FILL" // set in the child that is measured
)

// footprint is what a child that held ten million keys says about itself.
type footprint struct {
	Base, Peak, Live, Swept int64   // resident bytes
	GC                      float64 // CPU seconds of garbage collection
	Keys, Left              int64
	Fill                    time.Duration
	Worst                   time.Duration // of a single decision
}

func TestMain(m *testing.M) {
	if os.Getenv(fillEnv) != "" {
		_ = json.NewEncoder(os.Stdout).Encode(fill())
		return
	}
	harness.Main(m)
}

// TestTenMillionKeys holds ten million live keys of 30 bytes in the decision
// engine of a process of its own.
func TestTenMillionKeys(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), fillEnv+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var f footprint
	if err := json.Unmarshal(out, &f); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	perKey := func(bytes int64) float64 { return float64(bytes-f.Base) / keys }
	t.Logf("%d keys in %v: %.1f bytes a key at the peak, %.1f live, %.1f after collecting; %.2f CPU s of garbage collection; worst decision %v",
		f.Keys, f.Fill, perKey(f.Peak), perKey(f.Live), perKey(f.Swept), f.GC, f.Worst)
	if f.Keys != keys || f.Left != 0 {
		t.Errorf("%d keys held, %d left after collecting; want %d and 0", f.Keys, f.Left, keys)
	}
	if n := perKey(f.Peak); n > 64 {
		t.Errorf("%.1f bytes a key at the peak, want at most 64", n)
	}
	if n := perKey(f.Live); n > 40 {
		t.Errorf("%.1f bytes a live key, want at most 40", n)
	}
	if n := perKey(f.Swept); n > 4 {
		t.Errorf("%.1f bytes a key are kept after all were collected", n)
	}
	if f.GC > 1 {
		t.Errorf("%.2f CPU seconds of garbage collection, want at most 1", f.GC)
	}
}

func fill() (f footprint) {
	limiter.TuneMemory()
	table := keytable.New(keytable.Key{1, 2}, 0)
	d := limiter.NewDecider(table, &config.Limiter{NoQuota: config.NoQuotaAccept})
	snapshot, _ := quota.NewCompiler().Compile(&tree.Tree{
		Entries: map[string]string{"limit/key_default": `{"rate": 1, "per": "1h", "burst": 0}`},
	})
	d.SetQuotas(snapshot)
	debug.FreeOSMemory()
	f.Base = resident("VmRSS")

	key := make([]byte, keyBytes)
	a := &attempt.Attempt{Resource: key, Hits: 1}
	began := time.Now()
	last := began
	for i := range uint64(keys) {
		binary.BigEndian.PutUint64(key[keyBytes-8:], i)
		d.Attempt(int64(i), a, nil)
		now := time.Now()
		f.Worst = max(f.Worst, now.Sub(last))
		last = now
	}
	f.Fill = time.Since(began)
	f.Peak, f.Keys = resident("VmHWM"), table.Len()
	debug.FreeOSMemory()
	f.Live = resident("VmRSS")
	table.Sweep(int64(3*time.Hour), 0)
	debug.FreeOSMemory()
	f.Swept, f.Left = resident("VmRSS"), table.Len()

	gc := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(gc)
	f.GC = gc[0].Value.Float64()
	return f
}

// resident reads a line of /proc/self/status, in bytes.
func resident(name string) int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == name+":" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				panic(err)
			}
			return kib << 10
		}
	}
	panic("no " + name)
}
