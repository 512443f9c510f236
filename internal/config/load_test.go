package config

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// standalone is the least that a limiter needs.
var standalone = []string{"--standalone", "--storage-addrs=file:///s.yaml"}

// write puts text into a file named config.yaml and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// limiter loads a limiter that must be sound.
func limiter(t *testing.T, args, env []string) *Limiter {
	t.Helper()
	l, action, err := LoadLimiter(args, env, io.Discard)
	if err != nil || action != Run {
		t.Fatalf("LoadLimiter(%q, %q) = action %d, error %v", args, env, action, err)
	}
	return l
}

func TestPrecedence(t *testing.T) {
	tests := []struct {
		name    string
		file    string
		env     []string
		args    []string
		period  time.Duration
		verbose bool
		addrs   string
	}{
		{name: "defaults", args: []string{"--storage-addrs=file:///d"}, period: time.Hour, addrs: "file:///d"},
		{
			name: "the file over the defaults",
			file: "gc-period: 1m\nverbose: true\nstorage-addrs: [file:///f]", period: time.Minute, verbose: true, addrs: "file:///f",
		},
		{
			name: "the environment over the file",
			file: "gc-period: 1m\nverbose: true\nstorage-addrs: [file:///f]",
			env:  []string{"LEVEE_GC_PERIOD=2m", "LEVEE_VERBOSE=false", "LEVEE_STORAGE_ADDRS=file:///e"}, period: 2 * time.Minute, addrs: "file:///e",
		},
		{
			name: "the command line over both",
			file: "gc-period: 1m\nstorage-addrs: [file:///f]",
			env:  []string{"LEVEE_GC_PERIOD=2m", "LEVEE_STORAGE_ADDRS=file:///e"},
			args: []string{"--gc-period", "3m", "--verbose", "--storage-addrs", "file:///c"}, period: 3 * time.Minute, verbose: true, addrs: "file:///c",
		},
		{
			name: "a default named by a later source still wins",
			file: "gc-period: 1m\nverbose: true\nstorage-addrs: [file:///f]",
			args: []string{"--gc-period=1h", "--verbose=false"}, period: time.Hour, addrs: "file:///f",
		},
		{
			name: "the last one on a command line",
			args: []string{"--gc-period=1m", "--storage-addrs=file:///f", "--gc-period=5m"}, period: 5 * time.Minute, addrs: "file:///f",
		},
		{
			name: "the last one of an environment",
			env:  []string{"LEVEE_STORAGE_ADDRS=file:///1", "LEVEE_STORAGE_ADDRS=file:///2"}, period: time.Hour, addrs: "file:///2",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"--standalone"}, tt.args...)
			if tt.file != "" {
				args = append(args, "--config", write(t, tt.file))
			}
			l := limiter(t, args, tt.env)
			if l.GCPeriod != tt.period || l.Verbose != tt.verbose || strings.Join(l.Storage.Addrs, " ") != tt.addrs {
				t.Errorf("gc-period %v, verbose %v, storage-addrs %v; want %v, %v, %v",
					l.GCPeriod, l.Verbose, l.Storage.Addrs, tt.period, tt.verbose, tt.addrs)
			}
		})
	}
}

func TestConfigFileFromEnvironment(t *testing.T) {
	file, other := write(t, "max-keys: 1"), write(t, "max-keys: 2")
	if l := limiter(t, standalone, []string{"LEVEE_CONFIG=" + file}); l.MaxKeys != 1 {
		t.Errorf("max-keys %d from LEVEE_CONFIG, want 1", l.MaxKeys)
	}
	if l := limiter(t, append(standalone, "--config", other), []string{"LEVEE_CONFIG=" + file}); l.MaxKeys != 2 {
		t.Errorf("max-keys %d, want 2: --config goes over LEVEE_CONFIG", l.MaxKeys)
	}
}

func TestDefaults(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	common := func(metrics string) Common {
		return Common{
			InstanceID:  host,
			Storage:     Storage{Prefix: "/levee", Addrs: []string{"http://e:2379"}},
			Graphite:    Graphite{Interval: 15 * time.Second},
			MetricsAddr: metrics,
			LogFormat:   LogAuto,
		}
	}
	serving := Serving{
		ListenAddr: "0.0.0.0:5454", HeaderTimeout: 10 * time.Second, BodyTimeout: 10 * time.Second,
		IdleTimeout: 5 * time.Minute, WriteTimeout: 10 * time.Second, ResponseHeaders: HeadersRetryAfter,
		DrainTimeout: 10 * time.Second, GCPeriod: time.Hour,
	}
	gossip := Gossip{GossipForget: 10 * time.Minute}
	args := []string{"--storage-addrs=http://e:2379"}

	l := limiter(t, append(args, "--standalone"), nil)
	if want := (&Limiter{
		Common: common("127.0.0.1:9454"), Serving: serving, Gossip: gossip, Standalone: true,
		OnPartition: PartitionAvailable, Weight: 1, GCCollect: time.Minute, NoQuota: NoQuotaAccept,
	}); !reflect.DeepEqual(l, want) {
		t.Errorf("limiter\n got %+v\nwant %+v", l, want)
	}
	o, _, err := LoadObserver(args, nil, io.Discard)
	if want := (&Observer{Common: common("127.0.0.1:9455"), Gossip: gossip, ObserverName: host}); err != nil || !reflect.DeepEqual(o, want) {
		t.Errorf("observer, error %v\n got %+v\nwant %+v", err, o, want)
	}
	c, _, err := LoadClientProxy(args, nil, io.Discard)
	if want := (&ClientProxy{
		Common: common("127.0.0.1:9456"), Serving: serving, AttemptTimeout: 100 * time.Millisecond,
		OnFailure: FailureFail, ObserverTimeout: 30 * time.Second, OnObserverLoss: ObserverLossExit,
	}); err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("client-proxy, error %v\n got %+v\nwant %+v", err, c, want)
	}
}

func TestObserverNameFollowsInstanceID(t *testing.T) {
	for _, tt := range []struct{ args, name string }{
		{"--instance-id=i1", "i1"},
		{"--instance-id=i1 --observer-name=", "i1"},
		{"--instance-id=i1 --observer-name=o1", "o1"},
	} {
		o, _, err := LoadObserver(append(strings.Fields(tt.args), "--storage-addrs=http://e:2379"), nil, io.Discard)
		if err != nil || o.ObserverName != tt.name {
			t.Errorf("%s: observer name %+v, error %v; want %s", tt.args, o, err, tt.name)
		}
	}
}

func TestActions(t *testing.T) {
	tests := []struct {
		args   []string
		action Action
		out    string
	}{
		{standalone, Run, ""},
		{append([]string{"--check-config"}, standalone...), CheckOnly, ""},
		{append([]string{"--check-config=false"}, standalone...), Run, ""},
		{[]string{"--version"}, VersionAsked, ""},
		{[]string{"--help"}, HelpShown, "Usage: levee-limiter "},
		{[]string{"-h"}, HelpShown, "Usage: levee-limiter "},
		{[]string{"--version", "--help"}, HelpShown, "Usage: levee-limiter "},
		// Who asks for help gets it, whatever else is wrong.
		{[]string{"--nonsense", "--config=/nowhere", "--help"}, HelpShown, "Usage: levee-limiter "},
	}
	for _, tt := range tests {
		var out strings.Builder
		l, action, err := LoadLimiter(tt.args, nil, &out)
		if err != nil || action != tt.action {
			t.Errorf("%q: action %d, error %v; want action %d", tt.args, action, err, tt.action)
		}
		if got := l != nil; got != (tt.action == Run || tt.action == CheckOnly) {
			t.Errorf("%q: a configuration: %v", tt.args, got)
		}
		if !strings.HasPrefix(out.String(), tt.out) || out.Len() > 0 && tt.out == "" {
			t.Errorf("%q wrote %.40q, want %q", tt.args, out.String(), tt.out)
		}
	}
}

func TestCheckOnlyFindsMistakes(t *testing.T) {
	l, action, err := LoadLimiter([]string{"--check-config"}, nil, io.Discard)
	if l != nil || action != CheckOnly || !errors.Is(err, ErrInvalid) {
		t.Errorf("got %v, action %d, error %v; want none, CheckOnly, ErrInvalid", l, action, err)
	}
}

func TestLists(t *testing.T) {
	two := []string{"http://a:1", "http://b:2"}
	tests := []struct {
		name, file string
		env, args  []string
		want       []string
	}{
		{"a YAML list", "storage-addrs:\n  - http://a:1\n  - \"http://b:2\"", nil, nil, two},
		{"one text", "storage-addrs: http://a:1", nil, nil, two[:1]},
		{"one text with a comma", "storage-addrs: http://a:1,http://b:2", nil, nil, two},
		{"an alias", "storage-ca-file: &a http://a:1\nstorage-addrs: [*a]", nil, []string{"--storage-ca-file="}, two[:1]},
		{"commas in a variable", "", []string{"LEVEE_STORAGE_ADDRS=http://a:1,http://b:2"}, nil, two},
		{"commas in an argument", "", nil, []string{"--storage-addrs=http://a:1,http://b:2"}, two},
		{"a repeated argument grows", "", nil, []string{"--storage-addrs=http://a:1", "--storage-addrs", "http://b:2"}, two},
		{
			"and does not grow what another source set", "storage-addrs: [http://f:1]",
			[]string{"LEVEE_STORAGE_ADDRS=http://e:1"},
			[]string{"--storage-addrs=http://a:1", "--storage-addrs", "http://b:2"},
			two,
		},
		{"emptied, then set", "storage-addrs: [http://f:1]", nil, []string{"--storage-addrs=", "--storage-addrs=http://a:1"}, two[:1]},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := limiter(t, append(tt.args, "--standalone", "--config", write(t, tt.file)), tt.env)
			if !reflect.DeepEqual(l.Storage.Addrs, tt.want) {
				t.Errorf("got %q, want %q", l.Storage.Addrs, tt.want)
			}
		})
	}
}

// Zero needs no unit.
func TestZeroDuration(t *testing.T) {
	for _, text := range []string{"0", "0s", "'0'"} {
		if l := limiter(t, append(standalone, "--config", write(t, "gc-collect: "+text)), nil); l.GCCollect != 0 {
			t.Errorf("gc-collect: %s gives %v, want 0", text, l.GCCollect)
		}
	}
}

func TestFileStorePath(t *testing.T) {
	for _, tt := range []struct {
		addrs []string
		want  string
	}{
		{nil, ""},
		{[]string{"http://a:1"}, ""},
		{[]string{"file:///etc/levee/storage.yaml"}, "/etc/levee/storage.yaml"},
		{[]string{"file:///a%20b"}, "/a b"},
	} {
		if got := (&Storage{Addrs: tt.addrs}).File(); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.addrs, got, tt.want)
		}
	}
}
