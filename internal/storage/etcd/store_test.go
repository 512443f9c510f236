package etcd

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/levee-project/levee/internal/tree"
)

func TestRoot(t *testing.T) {
	for prefix, want := range map[string]string{"/levee": "/levee/", "/levee/": "/levee/", "/levee//": "/levee/", "/a/b": "/a/b/", "levee": "levee/", "/": "/"} {
		if got := (Config{Prefix: prefix}).withDefaults().root(); got != want {
			t.Errorf("the root of %q is %q, want %q", prefix, got, want)
		}
	}
}

// TestReporter is a transcript: what sessions report, what the sink and the log
// get.
func TestReporter(t *testing.T) {
	var log bytes.Buffer
	var told []string
	r := &reporter{
		endpoints: "http://a:2379",
		log:       slog.New(slog.NewTextHandler(&log, nil)),
		sink: tree.Sink{
			Tree: func(*tree.Tree) { told = append(told, "tree") },
			Status: func(s tree.Status) {
				if s.Connected {
					told = append(told, "connected")
				} else {
					told = append(told, s.Err.Error())
				}
			},
		},
	}
	one, two := map[string]string{"a": "1"}, map[string]string{"a": "2"}
	ended := errors.New("a new leader was elected")
	steps := []struct {
		name string
		do   func()
		told string
		log  string
	}{
		{"away at the start", func() { r.away(errors.New("refused")) }, "etcd at http://a:2379: refused", "etcd is away"},
		{"still away", func() { r.away(errors.New("refused")) }, "", ""},
		{"away for another reason", func() { r.away(errors.New("permission denied")) }, "etcd at http://a:2379: permission denied", ""},
		{"there", func() { r.handOut(&tree.Tree{Revision: 5, Entries: one}) }, "tree connected", "etcd is read"},
		{"a change", func() { r.handOut(&tree.Tree{Revision: 6, Entries: two}) }, "tree", ""},
		{"read anew, nothing new", func() { r.ended = ended; r.handOut(&tree.Tree{Revision: 6, Entries: two}) }, "", "etcd was read anew"},
		{"read anew, a change elsewhere", func() { r.handOut(&tree.Tree{Revision: 7, Entries: two}) }, "tree", ""},
		{"away", func() { r.ended = ended; r.away(errors.New("refused")) }, "etcd at http://a:2379: refused", "etcd is away"},
		{"back, nothing new", func() { r.handOut(&tree.Tree{Revision: 7, Entries: two}) }, "connected", "etcd is read"},
		{"restored", func() { r.handOut(&tree.Tree{Revision: 5, Entries: one}) }, "tree", "older revision"},
	}
	for _, step := range steps {
		log.Reset()
		told = nil
		step.do()
		if got := strings.Join(told, " "); got != step.told {
			t.Errorf("%s: told %q, want %q", step.name, got, step.told)
		}
		lines := strings.Count(log.String(), "\n")
		if !strings.Contains(log.String(), step.log) || step.log == "" && lines != 0 || lines > 1 {
			t.Errorf("%s: the log is %q, want %q", step.name, log.String(), step.log)
		}
	}
}
