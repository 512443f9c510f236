package config

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// fresh returns the options of a new configuration of the binary.
func fresh(t *testing.T, binary string) *set {
	t.Helper()
	for _, s := range catalogue() {
		if s.binary == binary {
			return s
		}
	}
	t.Fatalf("no binary %s", binary)
	return nil
}

// samples has a value other than the default for every option, and so a new
// option needs a line here.
var samples = map[string]string{
	"listen-addr": "[::1]:80", "response-headers": "ratelimit", "header-timeout": "1s", "body-timeout": "2s",
	"idle-timeout": "3s", "write-timeout": "4s", "max-connections": "5", "drain-timeout": "6s",
	"standalone": "true", "gossip-addr": "10.0.0.1:7373", "gossip-key-file": "/g", "gossip-forget": "7m",
	"on-partition": "conservative", "no-quota": "fail", "gc-max-keys": "8", "gc-period": "9s", "gc-collect": "10s",
	"max-keys": "11", "state-file": "/s", "vrrp-track-file": "/t", "vrrp-state-dir": "/d", "instance-id": "i", "verbose": "true", "log-format": "json",
	"storage-prefix": "/p/q", "storage-addrs": "http://a:1,http://b:2", "storage-username": "u",
	"storage-password-file": "/pw", "storage-ca-file": "/ca", "storage-cert-file": "/ce", "storage-key-file": "/ke",
	"storage-cache": "/c", "metrics-addr": ":81", "graphite-addr": "h:2003/udp", "graphite-interval": "12s",
	"graphite-prefix": "a.b", "observer-name": "o", "http-addr": "127.0.0.1:82", "attempt-timeout": "13ms",
	"on-failure": "accept", "observer-timeout": "14s", "spill": "true", "weight": "3", "on-observer-loss": "serve",
	"timeout": "16s", "output": "yaml", "attempt-addr": "lb.example:5454", "config": "/dev/null",
}

// The spelling of every option in the environment, which is a promise to
// whoever deploys.
const (
	commonVariables = " LEVEE_INSTANCE_ID LEVEE_VERBOSE LEVEE_LOG_FORMAT LEVEE_STORAGE_PREFIX LEVEE_STORAGE_ADDRS" +
		" LEVEE_STORAGE_USERNAME LEVEE_STORAGE_PASSWORD_FILE LEVEE_STORAGE_CA_FILE LEVEE_STORAGE_CERT_FILE" +
		" LEVEE_STORAGE_KEY_FILE LEVEE_STORAGE_CACHE LEVEE_METRICS_ADDR LEVEE_GRAPHITE_ADDR LEVEE_GRAPHITE_INTERVAL" +
		" LEVEE_GRAPHITE_PREFIX LEVEE_CONFIG"
	servingVariables = "LEVEE_LISTEN_ADDR LEVEE_RESPONSE_HEADERS LEVEE_HEADER_TIMEOUT LEVEE_BODY_TIMEOUT" +
		" LEVEE_IDLE_TIMEOUT LEVEE_WRITE_TIMEOUT LEVEE_MAX_CONNECTIONS LEVEE_DRAIN_TIMEOUT"
)

var variables = map[string]string{
	limiterBinary: servingVariables + " LEVEE_STANDALONE LEVEE_GOSSIP_ADDR LEVEE_GOSSIP_KEY_FILE LEVEE_GOSSIP_FORGET" +
		" LEVEE_ON_PARTITION LEVEE_WEIGHT LEVEE_NO_QUOTA LEVEE_GC_MAX_KEYS LEVEE_GC_PERIOD LEVEE_GC_COLLECT LEVEE_MAX_KEYS" +
		" LEVEE_STATE_FILE LEVEE_VRRP_TRACK_FILE LEVEE_VRRP_STATE_DIR" + commonVariables,
	observerBinary: "LEVEE_OBSERVER_NAME LEVEE_HTTP_ADDR LEVEE_GOSSIP_KEY_FILE LEVEE_GOSSIP_FORGET" + commonVariables,
	proxyBinary: servingVariables + " LEVEE_ATTEMPT_TIMEOUT LEVEE_ON_FAILURE LEVEE_SPILL LEVEE_OBSERVER_TIMEOUT" +
		" LEVEE_ON_OBSERVER_LOSS LEVEE_GC_MAX_KEYS LEVEE_GC_PERIOD" + commonVariables,
	toolBinary: "LEVEE_TIMEOUT LEVEE_OUTPUT LEVEE_ATTEMPT_ADDR LEVEE_STORAGE_PREFIX LEVEE_STORAGE_ADDRS" +
		" LEVEE_STORAGE_USERNAME LEVEE_STORAGE_PASSWORD_FILE LEVEE_STORAGE_CA_FILE LEVEE_STORAGE_CERT_FILE" +
		" LEVEE_STORAGE_KEY_FILE LEVEE_CONFIG",
}

func TestVariables(t *testing.T) {
	for binary, want := range variables {
		var got []string
		for _, name := range fresh(t, binary).names(false) {
			got = append(got, variable(name))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s\n got %s\nwant %s", binary, strings.Join(got, " "), want)
		}
	}
}

// Each option gets its value from each source.
func TestEveryOptionFromEverySource(t *testing.T) {
	sources := map[string]func(s *set, name, value string){
		"environment": func(s *set, name, value string) {
			s.apply(s.readEnviron([]string{variable(name) + "=" + value}), everything)
		},
		"command line": func(s *set, name, value string) {
			s.apply(s.readArgs([]string{"--" + name + "=" + value}), everything)
		},
		"file": func(s *set, name, value string) {
			if name == "config" {
				value = "/dev/null"
				s.apply([]given{{name: name, value: value}}, everything)
				return
			}
			if strings.HasPrefix(value, ":") {
				value = `"` + value + `"`
			}
			if strings.HasPrefix(value, "[") {
				value = "'" + value + "'"
			}
			s.applyYAML("f", []byte(name+": "+value))
		},
	}
	for _, binary := range []string{limiterBinary, observerBinary, proxyBinary} {
		for _, name := range fresh(t, binary).names(false) {
			sample, ok := samples[name]
			if !ok {
				t.Errorf("no sample for %s", name)
				continue
			}
			for source, set := range sources {
				s := fresh(t, binary)
				set(s, name, sample)
				f := s.flags.Lookup(name)
				if got := f.Value.String(); s.err() != nil || got != sample || sample == f.DefValue {
					t.Errorf("%s: %s from the %s: %q, error %v; want %q and not the default", binary, name, source, got, s.err(), sample)
				}
			}
		}
	}
}

func everything(*pflag.Flag) bool { return true }

// A name means the same in every program: same kind of value, same effect of
// SIGHUP. The tool alone has a file that it reads unasked.
func TestSharedOptionsAgree(t *testing.T) {
	first := map[string]*pflag.Flag{}
	for _, s := range catalogue() {
		s.flags.VisitAll(func(f *pflag.Flag) {
			other := first[f.Name]
			if other == nil {
				first[f.Name] = f
				return
			}
			if f.Name == "config" && s.binary == toolBinary {
				return
			}
			if f.Value.Type() != other.Value.Type() || f.Usage != other.Usage || reloadOf(f) != reloadOf(other) {
				t.Errorf("%s differs in %s", f.Name, s.binary)
			}
		})
	}
}

// Every default is a value that could have been written, except where a value
// is required.
func TestDefaultsAreValid(t *testing.T) {
	for _, s := range catalogue() {
		s.flags.VisitAll(func(f *pflag.Flag) {
			if err := f.Value.(setting).valid(); err != nil {
				t.Errorf("%s: %s: %v", s.binary, f.Name, err)
			}
		})
	}
}
