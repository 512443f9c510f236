package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// loadTool parses args as a command line and loads.
func loadTool(t *testing.T, env []string, args ...string) (*Tool, error) {
	t.Helper()
	o := NewToolOptions()
	if err := o.Flags().Parse(args); err != nil {
		t.Fatal(err)
	}
	return o.Load(env)
}

func toolFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "leveectl.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestToolSources(t *testing.T) {
	file := toolFile(t, "storage-addrs: [http://file:1]\ntimeout: 7s\noutput: json\n")
	got, err := loadTool(t, []string{"LEVEE_TIMEOUT=8s", "LEVEE_OUTPUT=table", "LEVEE_LISTEN_ADDR=:1"},
		"--config", file, "--output=yaml", "--storage-addrs=http://a:1", "--storage-addrs", "http://b:2")
	if err != nil {
		t.Fatal(err)
	}
	want := &Tool{
		Storage: Storage{Prefix: "/levee", Addrs: []string{"http://a:1", "http://b:2"}},
		Timeout: 8 * time.Second, Output: OutputYAML, AttemptAddr: "127.0.0.1:5454",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// The daemons' environment names the store for the tool too, and no store at all
// is fine: not every command needs one.
func TestToolWithoutStore(t *testing.T) {
	if got, err := loadTool(t, nil, "--config="); err != nil || len(got.Storage.Addrs) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestToolMistakes(t *testing.T) {
	file := toolFile(t, "verbose: true\n")
	for _, tt := range []struct {
		env, args []string
		want      string
	}{
		{nil, []string{"--config", file}, ":1: verbose: is an option of levee-limiter"},
		{nil, []string{"--config", "/nowhere"}, "/nowhere: cannot read the configuration file"},
		{[]string{"LEVEE_TIMEOUT=soon"}, nil, "LEVEE_TIMEOUT: found \"soon\""},
		{[]string{"LEVEE_TIMEUOT=1s"}, nil, "did you mean LEVEE_TIMEOUT?"},
		{nil, []string{"--output", "xml"}, "--output: found \"xml\", expected one of table, json, yaml"},
		{nil, []string{"--storage-addrs", "http://a:1", "--storage-username", "u"}, "--storage-username: impossible without"},
	} {
		_, err := loadTool(t, tt.env, tt.args...)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v %v: %v, want %q", tt.env, tt.args, err, tt.want)
		}
	}
}
