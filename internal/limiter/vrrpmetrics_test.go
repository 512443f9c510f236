package limiter

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestVRRPMetrics(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "states")
	v := &vrrpStates{dir: dir, log: slog.New(slog.DiscardHandler)}
	if n := testutil.CollectAndCount(v); n != 0 || v.failed.Load() {
		t.Errorf("%d metrics where keepalived does not run", n)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"west": "MASTER 3 1764530000000000000\n", "east": "BACKUP 12 1764530000000000000\n",
		".west.123": "MASTER 1 1\n", // about to be renamed
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := `
# HELP levee_vrrp_master 1 where the virtual addresses of the instance are, 0 elsewhere. A sum over all hosts above 1 is a split brain.
# TYPE levee_vrrp_master gauge
levee_vrrp_master{instance="east"} 0
levee_vrrp_master{instance="west"} 1
# HELP levee_vrrp_transitions_total Changes of state (master, backup, fault) that keepalived has told of since it began.
# TYPE levee_vrrp_transitions_total counter
levee_vrrp_transitions_total{instance="east"} 12
levee_vrrp_transitions_total{instance="west"} 3
`
	if err := testutil.CollectAndCompare(v, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "east"), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := testutil.CollectAndCount(v); n != 2 || !v.failed.Load() {
		t.Errorf("%d metrics beside a damaged state, want those of the other", n)
	}
}
