package inforce

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/status"
	"github.com/levee-project/levee/internal/tree"
)

type configured struct {
	*follower
	log   *bytes.Buffer
	given *Configuration // the latest
}

func newConfigured(t *testing.T) *configured {
	t.Helper()
	log := new(bytes.Buffer)
	c := &configured{log: log}
	c.follower = newFollower(slog.New(slog.NewTextHandler(log, nil)), new(daemon.Health),
		newMetrics(prometheus.NewRegistry()), nil, func(given *Configuration) { c.given = given })
	c.board = status.New("limiter", "l-1", c.health)
	return c
}

func (c *configured) put(revision int64, entries map[string]string) {
	c.log.Reset()
	c.sink().Tree(&tree.Tree{Revision: revision, Entries: entries})
}

func TestBadEntryKeepsTheGoodOne(t *testing.T) {
	c := newConfigured(t)
	const good, key = `{"rate": 1, "burst": 1}`, "limit/key/r/quota"
	c.put(1, map[string]string{key: good})
	select {
	case <-c.loaded:
	default:
		t.Fatal("the first tree is not in force")
	}
	for _, bad := range []string{`{"rate":-1}`, `not json`, `{"rate":"5"}`, `{"rat":5}`, `{"rate":1e300}`, `{"rate":NaN,"burst":1}`} {
		c.put(2, map[string]string{key: bad, "limit/key_default": good})
		if got := testutil.ToFloat64(c.metrics.invalid); got != 1 {
			t.Errorf("%s: %v invalid entries, want 1", bad, got)
		}
		if !strings.Contains(c.log.String(), "key="+key) {
			t.Errorf("%s: the log does not name the key: %s", bad, c.log)
		}
		if q, _ := c.given.Quotas.Resolve(&attempt.Attempt{Resource: []byte("r")}); q == nil || q.String() != good {
			t.Errorf("%s: the good value is not in force", bad)
		}
		c.put(3, map[string]string{key: bad, "limit/key_default": good})
		if strings.Contains(c.log.String(), "key="+key) {
			t.Errorf("%s: the same fault is logged twice: %s", bad, c.log)
		}
	}
	c.put(4, map[string]string{key: good})
	if got := testutil.ToFloat64(c.metrics.invalid); got != 0 {
		t.Errorf("%v invalid entries after the repair", got)
	}
	if !strings.Contains(c.log.String(), "valid again") {
		t.Errorf("the repair is not logged: %s", c.log)
	}
	if got := testutil.ToFloat64(c.metrics.revision); got != 4 {
		t.Errorf("revision %v, want 4", got)
	}
}

// The observers are part of it, with the same care for bad entries.
func TestObservers(t *testing.T) {
	c := newConfigured(t)
	const key = "observer/obs-1"
	c.put(1, map[string]string{key: `{"gossip": "10.0.0.1:7373", "service": "10.0.0.1:5454"}`})
	c.put(2, map[string]string{key: `{"gossip": "nowhere"}`, "observer/obs-2": "{}"})
	if got := testutil.ToFloat64(c.metrics.invalid); got != 2 {
		t.Errorf("%v invalid entries, want 2", got)
	}
	if !strings.Contains(c.log.String(), "key="+key) {
		t.Errorf("the log does not name the key: %s", c.log)
	}
	list := c.given.Observers
	if len(list) != 1 || list[0].Name != "obs-1" || list[0].Gossip.String() != "10.0.0.1:7373" {
		t.Errorf("in force are %v", list)
	}
	c.put(3, nil)
	if len(c.given.Observers) != 0 {
		t.Errorf("in force are %v after the entry is gone", c.given.Observers)
	}
}

func TestStatusShows(t *testing.T) {
	c := newConfigured(t)
	away := errors.New("etcd at http://127.0.0.1:2379: connection refused")
	c.sink().Status(tree.Status{Err: away})
	if ok, line := c.health.Ready(); ok || !strings.Contains(line, away.Error()) {
		t.Errorf("at the start: %v, %q", ok, line)
	}
	c.put(1, nil)
	c.health.SetReady()
	c.sink().Status(tree.Status{Connected: true})
	if ok, line := c.health.Ready(); !ok || line != "ready" || testutil.ToFloat64(c.metrics.connected) != 1 {
		t.Errorf("connected: %v, %q", ok, line)
	}
	c.sink().Status(tree.Status{Err: away})
	if ok, line := c.health.Ready(); !ok || !strings.Contains(line, away.Error()) || testutil.ToFloat64(c.metrics.connected) != 0 {
		t.Errorf("away: %v, %q; want ready, and the reason", ok, line)
	}
	c.sink().Status(tree.Status{Connected: true, Broken: true, Err: errors.New("storage.yaml:3: bad indentation")})
	if got := testutil.ToFloat64(c.metrics.invalid); got != 1 {
		t.Errorf("%v invalid entries with a broken file, want 1", got)
	}
	c.put(2, nil)
	if got := testutil.ToFloat64(c.metrics.invalid); got != 0 {
		t.Errorf("%v invalid entries after the file was mended", got)
	}
}
