package limiter

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

// onText starts a limiter on a file with the text.
func onText(t *testing.T, text string) (*rig, *harness.FileStore) {
	t.Helper()
	s := harness.NewFileStore(t, nil)
	s.Write(t, text)
	return on(t, s), s
}

// The tree as the documentation writes it in YAML.
func TestYAMLTree(t *testing.T) {
	t.Parallel()
	r, _ := onText(t, `
# The defaults.
limit: {key_default: {rate: 1, burst: 1, per: 1h}, key: {photos: {quota: {rate: 1, burst: 2, per: 1h}, sublimit: {albums/GET: {rate: 1, burst: 3, per: 1h}}}}}
factor: {default: 4}
observer:
  obs-1: {gossip: "10.0.0.1:7373", service: "10.0.0.1:5454"}
`)
	c := r.Client(t, harness.HTTP1)
	wantFit(t, c, 4, "photos", "albums", "GET")
	wantFit(t, c, 3, "photos", "albums", "PUT")
	wantFit(t, c, 2, "videos")
	wantInvalid(t, r, 0)
}

// A file that is no YAML is no tree: the last one stays in force.
func TestBrokenYAML(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"not YAML":      "limit:\n  key_default: {rate: 1, burst: 9\n  key: }{\n",
		"not a mapping": "- limit\n",
		"a key twice":   "limit:\n  key_default: {rate: 1, burst: 9}\n  key_default: {rate: 2, burst: 9}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := harness.NewFileStore(t, entries{ownQuota("r"): fits(3)})
			r := on(t, s)
			c := r.Client(t, harness.HTTP1)
			wantAccepted(t, c, 1, 1, "r")
			s.Write(t, text)
			r.WaitLog(t, logTime, "the file and what is wrong", func(l harness.Line) bool {
				return l.Mentions(s.Path) && l.Text("level") != "INFO"
			})
			wantAccepted(t, c, 5, 2, "r")
			wantFit(t, c, 3, "r")
			wantInvalid(t, r, 1)
			r.change(t, entries{ownQuota("r"): fits(4)})
			wantAccepted(t, c, 5, 1, "r")
			wantInvalid(t, r, 0)
		})
	}
}

// A file that goes away takes nothing with it, and is followed again when it is
// back.
func TestFileGoesAway(t *testing.T) {
	t.Parallel()
	s := harness.NewFileStore(t, entries{ownQuota("r"): fits(3)})
	r := on(t, s)
	c := r.Client(t, harness.HTTP1)
	if err := os.Remove(s.Path); err != nil {
		t.Fatal(err)
	}
	r.WaitLog(t, logTime, "the file that is gone", func(l harness.Line) bool {
		return l.Mentions(s.Path) && l.Text("level") != "INFO"
	})
	wantAccepted(t, c, 5, 3, "r")
	r.change(t, entries{ownQuota("r"): fits(5)})
	wantAccepted(t, c, 5, 2, "r")
}

// A file that is written in place, as an editor may do, takes effect as well.
func TestFileWrittenInPlace(t *testing.T) {
	t.Parallel()
	s := harness.NewFileStore(t, entries{keyDefault: fits(3)})
	r := on(t, s)
	c := r.Client(t, harness.HTTP1)
	wantFit(t, c, 3, "r")
	if err := os.WriteFile(s.Path, []byte("limit: {key_default: {rate: 1, burst: 4, per: 1h}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantInForce(t, c, inForce, 5, "s")
}

// Nothing passes before there is a tree: not without the file, and not with one
// that cannot be read.
func TestStartWithoutTree(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"missing": "", "broken": "limit: {key_default: {rate"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "storage.yaml")
			if text != "" {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			l := harness.LaunchLimiter(t, harness.Command{Args: []string{"--storage-addrs=file://" + path}})
			l.WaitLog(t, logTime, "the file that is waited for", func(l harness.Line) bool { return l.Mentions(path) })
			for _, p := range harness.Protocols {
				a := l.Client(t, p).Attempt(t, "r")
				want(t, a, http.StatusInternalServerError)
				if !isLine(a.Body) {
					t.Errorf("body %q", a.Body)
				}
			}
			want(t, l.Readyz(t), http.StatusServiceUnavailable)
			want(t, l.Healthz(t), http.StatusServiceUnavailable)

			if err := os.WriteFile(path, []byte("limit: {key_default: {rate: 1, burst: 0, per: 1h}}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			harness.Eventually(t, 2*time.Second, "ready with the file", func() bool { return l.Readyz(t).Status == http.StatusOK })
			wantAccepted(t, l.Client(t, harness.HTTP1), 3, 1, "r")
		})
	}
}
