package capacity

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/levee-project/levee/test/harness"
)

// TestBenchMeasuresTheQuota loads a limiter beyond its quota, in all ways, and wants
// bench to report the quota's rate as what passes, to one part in a hundred.
func TestBenchMeasuresTheQuota(t *testing.T) {
	const rate, burst = 1000, 200
	entries := map[string]string{}
	ways := map[string][]string{
		"closed":  {},
		"streams": {"--http2", "--connections=2", "--streams=10"},
		"even":    {"--rate=3000"},
		"poisson": {"--rate=3000", "--poisson", "--http2"},
	}
	for name := range ways {
		entries["limit/key/"+name+"/quota"] = fmt.Sprintf(`{"rate": %d, "burst": %d}`, rate, burst)
	}
	store := harness.NewFileStore(t, entries)
	l := harness.StartLimiter(t, "--storage-addrs="+store.Addr())
	for name, args := range ways {
		args = append([]string{"--config=", "bench", name, "--addr=" + l.Addr, "--duration=4s", "--output=json"}, args...)
		cmd := exec.CommandContext(t.Context(), harness.Binary(t, "leveectl"), args...)
		cmd.Env = []string{"LEVEE_STORAGE_ADDRS=" + store.Addr()}
		var notes strings.Builder
		cmd.Stderr = &notes
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v, %s", name, err, &notes)
		}
		var r struct {
			Accepted  int64   `json:"accepted"`
			Lost      int64   `json:"lost"`
			PerSecond float64 `json:"accepted_per_second"`
			Quota     struct {
				Share  float64 `json:"share"`
				Allows int64   `json:"allows"`
			} `json:"quota"`
		}
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatalf("%s: %v in %s", name, err, out)
		}
		t.Logf("%s: %.1f/s, %d of %d", name, r.PerSecond, r.Accepted, r.Quota.Allows)
		if r.PerSecond < 0.99*rate || r.PerSecond > 1.01*rate || r.Quota.Share != r.PerSecond/rate || r.Lost > 0 {
			t.Errorf("%s: %s", name, out)
		}
		// The answers that come after the end may be of a few more.
		if all := float64(r.Quota.Allows); float64(r.Accepted) < 0.99*all || float64(r.Accepted) > 1.01*all {
			t.Errorf("%s: %d have passed, %d may", name, r.Accepted, r.Quota.Allows)
		}
	}
}
