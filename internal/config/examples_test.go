package config

import (
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// examples is the directory of the example files.
const examples = "../../configs"

// Which daemon each example is for. storage.yaml is the tree of a file store.
var exampleOf = map[string]string{
	"limiter.yaml":             limiterBinary,
	"limiter-standalone.yaml":  limiterBinary,
	"observer.yaml":            observerBinary,
	"client-proxy.yaml":        proxyBinary,
	"manual/limiter.yaml":      limiterBinary,
	"manual/observer.yaml":     observerBinary,
	"manual/client-proxy.yaml": proxyBinary,
	"storage.yaml":             "",
}

func TestExamples(t *testing.T) {
	for name, binary := range exampleOf {
		path := filepath.Join(examples, name)
		if binary == "" {
			continue
		}
		if err := loaders[binary]([]string{"--check-config", "--config", path}, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Each YAML file of the directory is in the table above.
func TestNoOtherExamples(t *testing.T) {
	for _, pattern := range []string{"*.yaml", "manual/*.yaml"} {
		found, err := filepath.Glob(filepath.Join(examples, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: found %v, error %v", pattern, found, err)
		}
		for _, path := range found {
			name, err := filepath.Rel(examples, path)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := exampleOf[filepath.ToSlash(name)]; !ok {
				t.Errorf("%s: no test knows whose it is", path)
			}
		}
	}
}

func TestStorageExampleIsYAML(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(examples, "storage.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]map[string]any
	if err := yaml.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	if root["limit"]["key_default"] == nil || root["factor"]["default"] != 1 || len(root) != 2 {
		t.Errorf("got %v", root)
	}
}

// The manual's own files mean what the manual says.
func TestManualExamples(t *testing.T) {
	one := []string{"http://127.0.0.1:2379"}

	l := limiter(t, []string{"--config", filepath.Join(examples, "manual/limiter.yaml")}, nil)
	if l.InstanceID != "limiter1" || l.Storage.Prefix != "/levee" || !reflect.DeepEqual(l.Storage.Addrs, one) ||
		l.ListenAddr != "0.0.0.0:5454" || l.GossipAddr != netip.MustParseAddrPort("1.2.3.4:7373") ||
		l.Graphite.Collector != (Collector{"udp", "127.0.0.1:2003"}) || l.GCMaxKeys != 10000 || l.GCPeriod != time.Hour ||
		l.GCCollect != 15*time.Second || l.Standalone || l.Verbose {
		t.Errorf("limiter: %+v", l)
	}
	o, _, err := LoadObserver([]string{"--config", filepath.Join(examples, "manual/observer.yaml")}, nil, nil)
	if err != nil || o.InstanceID != "observer1" || o.ObserverName != "obs-1" || len(o.Storage.Addrs) != 3 ||
		o.Graphite.Collector != (Collector{"tcp", "127.0.0.1:2003"}) || !o.Verbose {
		t.Errorf("observer: %+v, error %v", o, err)
	}
	c, _, err := LoadClientProxy([]string{"--config", filepath.Join(examples, "manual/client-proxy.yaml")}, nil, nil)
	if err != nil || c.InstanceID != "client1" || c.ListenAddr != "0.0.0.0:5454" || c.GCMaxKeys != 500 ||
		c.GCPeriod != 30*time.Minute || c.Graphite.Collector != (Collector{"tcp", "127.0.0.1:2003"}) || c.Verbose {
		t.Errorf("client-proxy: %+v, error %v", c, err)
	}
}
