package config

import (
	"strings"
	"testing"
	"time"
)

// The values that a kind accepts, each with how it is written back, and those
// that it does not.
func TestKinds(t *testing.T) {
	tests := []struct {
		name   string
		v      setting
		accept map[string]string
		refuse []string
	}{
		{
			"address", &value[string]{address(), new(string)},
			map[string]string{
				"0.0.0.0:5454": "0.0.0.0:5454", "[::]:5454": "[::]:5454", "[0::1]:0": "[::1]:0", ":5454": ":5454",
				"1.2.3.4:65535": "1.2.3.4:65535", "[fe80::1%eth0]:1": "[fe80::1%eth0]:1", ":0": ":0",
			},
			[]string{
				"", "5454", "1.2.3.4", "1.2.3.4:", "1.2.3.4:65536", "1.2.3.4:-1", "localhost:5454", "::1:5454", "[::]",
				"1.2.3:5454", "1.2.3.4:http", ":", ":x", ":65536", "http://1.2.3.4:5454", " 1.2.3.4:5454", "[1.2.3.4]:1",
			},
		},
		{
			"optional address", &value[string]{optionalAddress(), new(string)},
			map[string]string{"": "", ":1": ":1", "127.0.0.1:9454": "127.0.0.1:9454"},
			[]string{"off", "localhost:1"},
		},
		{
			"member address", bindMember(),
			map[string]string{"": "", "10.0.0.1:7373": "10.0.0.1:7373", "[fd00::1]:0": "[fd00::1]:0"},
			[]string{":7373", "host:7373", "10.0.0.1"},
		},
		{
			"collector", &value[Collector]{collector(), new(Collector)},
			map[string]string{
				"": "", "127.0.0.1:2003": "127.0.0.1:2003/tcp", "127.0.0.1:2003/tcp": "127.0.0.1:2003/tcp",
				"[::1]:2003/udp": "[::1]:2003/udp", "graphite.example.org:1": "graphite.example.org:1/tcp", "h_1-x:65535/udp": "h_1-x:65535/udp",
			},
			[]string{
				"127.0.0.1", "127.0.0.1/udp", "127.0.0.1:2003/", "127.0.0.1:2003/sctp", "127.0.0.1:2003/UDP", ":2003", "h:0",
				"h:65536", "1.2.3:2003", "a b:1", "::1:2003", "h:2003/tcp/udp", "/udp",
			},
		},
		{
			"endpoint", &list{endpoint(), new([]string)},
			map[string]string{
				"": "", "http://127.0.0.1:2379": "http://127.0.0.1:2379", "https://[::1]:2379/": "https://[::1]:2379/",
				"http://etcd-1:2379,http://etcd-2:2379": "http://etcd-1:2379,http://etcd-2:2379", "file:///a/b.yaml": "file:///a/b.yaml",
			},
			[]string{
				"127.0.0.1:2379", "http://etcd", "http://:2379", "http://e:0", "http://e:2379/v3", "http://e:2379?x", "http://e:2379?",
				"http://e:2379#x", "http://u@e:2379", "http://u:p@e:2379", "ftp://e:1", "file://a", "file:///", "file://h/a",
				"unix:///x", "file:///a/", "file:", "file:/a", "HTTP://a:1", "FILE:///a", "file:a.yaml", "http://a:1,", ",", "http://a:1, http://b:1", "http://a b:1", "http://%zz:1",
			},
		},
		{
			"tree root", &value[string]{treeRoot(), new(string)},
			map[string]string{"/levee": "/levee", "/a/b": "/a/b"},
			[]string{"", "/", "levee", "/levee/", "//levee", "/a//b", "/a\nb", "/\xff"},
		},
		{
			"identifier", &value[string]{identifier(), new(string)},
			map[string]string{"": "", "limiter1": "limiter1", "h.example.org": "h.example.org", "ü": "ü", strings.Repeat("x", 128): strings.Repeat("x", 128)},
			[]string{" ", "a b", "a/b", "a\n", "\xff", "a\u200b", strings.Repeat("x", 129)},
		},
		{
			"graphite path", &value[string]{graphitePath(), new(string)},
			map[string]string{"": "", "a": "a", "a.b-c_d": "a.b-c_d"},
			[]string{".", "a.", ".a", "a..b", "a b", "a;b=c", "ü"},
		},
		{
			"duration", &value[time.Duration]{duration(time.Millisecond), new(time.Duration)},
			map[string]string{
				"1ms": "1ms", "15s": "15s", "60s": "1m", "90s": "1m30s", "60m": "1h", "24h": "24h", "1h30m": "1h30m", "1h0m1s": "1h0m1s", "10s": "10s", "10m": "10m",
			},
			[]string{"", "0", "0s", "999us", "-1s", "15", "1d", "1 s", "s"},
		},
		{
			"duration from 0", &value[time.Duration]{duration(0), new(time.Duration)},
			map[string]string{"0": "0s", "0s": "0s", "1ns": "1ns"},
			[]string{"", "-1ns"},
		},
		{
			"count", &value[int]{count(), new(int)},
			map[string]string{"0": "0", "10000000": "10000000", "010": "10"},
			[]string{"", "-1", "1.0", "1e3", "1_000", "0x1", " 1", "9223372036854775808"},
		},
		{
			"boolean", &value[bool]{boolean(), new(bool)},
			map[string]string{"true": "true", "false": "false", "1": "true", "0": "false", "TRUE": "true"},
			[]string{"", "yes", "on", "2"},
		},
		{
			"word", &value[NoQuota]{oneOf(NoQuotaAccept, NoQuotaReject), new(NoQuota)},
			map[string]string{"accept": "accept", "reject": "reject"},
			[]string{"", "fail", "Accept"},
		},
	}
	for _, tt := range tests {
		for in, want := range tt.accept {
			if err := tt.v.Set(in); err != nil || tt.v.String() != want {
				t.Errorf("%s: Set(%q) gives %q, error %v; want %q", tt.name, in, tt.v, err, want)
			}
			if err := tt.v.valid(); err != nil {
				t.Errorf("%s: %q was accepted and is not valid: %v", tt.name, in, err)
			}
		}
		before := tt.v.String()
		for _, in := range tt.refuse {
			if err := tt.v.Set(in); err == nil || tt.v.String() != before {
				t.Errorf("%s: Set(%q) = %v, and the value is %q; want an error and %q as before", tt.name, in, err, tt.v, before)
			}
		}
	}
}

func bindMember() setting {
	l := new(Limiter)
	return bind(limiterBinary, l).flags.Lookup("gossip-addr").Value.(setting)
}

func TestParseCollector(t *testing.T) {
	for in, want := range map[string]Collector{
		"127.0.0.1:2003":     {"tcp", "127.0.0.1:2003"},
		"127.0.0.1:2003/udp": {"udp", "127.0.0.1:2003"},
		"[::1]:2003/tcp":     {"tcp", "[::1]:2003"},
		"":                   {},
	} {
		if got, ok := parseCollector(in); !ok || got != want {
			t.Errorf("%q: %+v, %v; want %+v", in, got, ok, want)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"":                        `""`,
		"a\nb\x00":                `"a\nb\x00"`,
		"http://u:p@h:1":          `"http://***@h:1"`,
		"http://u:p@q@h:1":        `"http://***@h:1"`,
		"http://u:p w@h":          `"http://***@h"`,
		"u@h":                     `"u@h"`,
		strings.Repeat("x", 64):   `"` + strings.Repeat("x", 64) + `"`,
		strings.Repeat("x", 1000): `"` + strings.Repeat("x", 64) + `…"`,
	} {
		if got := quote(in); got != want {
			t.Errorf("quote(%q) = %s, want %s", in, got, want)
		}
	}
}
