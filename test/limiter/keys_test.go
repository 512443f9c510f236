package limiter

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/levee-project/levee/test/harness"
)

// wantApart wants each of the keys to have a bucket of its own, in a tree where
// every bucket passes one hit.
func wantApart(t *testing.T, c *harness.Client, keys ...[]string) {
	t.Helper()
	for _, round := range []int{http.StatusOK, http.StatusTooManyRequests} {
		for _, k := range keys {
			if a := c.Attempt(t, k[0], k[1:]...); a.Status != round {
				t.Errorf("%.60q: got %v, want %d", k, a, round)
			}
		}
	}
}

// Keys are tuples: what looks the same joined with slashes is not.
func TestTuplesNeverMix(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{
		subkeyDefault("c"): fits(1), subkeyDefault("b"): fits(1), subkeyDefault("b/c"): fits(1),
		keyDefault: fits(1),
	})
	wantApart(t, r.Client(t, harness.HTTP1),
		[]string{"a/b", "", "c"}, []string{"a", "b", "c"}, []string{"a", "b/c"},
		[]string{"a", "b"}, []string{"a", "", "b"}, []string{"a/b"}, []string{"a/b/c"}, []string{"a"},
		[]string{"a", "", "b/c"}, []string{"a//b"}, []string{"/a"}, []string{"a/"}, []string{"a b"},
		[]string{"A"}, []string{"a%2Fb"},
		[]string{"x", "b", "c"}, []string{"xb", "", "c"}, []string{"x", "", "c"})
}

// Methods are opaque and case-sensitive.
func TestMethodsAreCaseSensitive(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{ownSublimit("r", "GET"): fits(1), ownSublimit("r", "get"): fits(1), ownQuota("r"): fits(1)})
	wantApart(t, r.Client(t, harness.H2C), []string{"r", "", "GET"}, []string{"r", "", "get"}, []string{"r", "", "Get"})
}

// Slashes at both ends of a prefix do not count; nothing else is normalised.
func TestPrefixSlashes(t *testing.T) {
	t.Parallel()
	tree := entries{keyDefault: plenty}
	for _, subkey := range []string{"a/b/GET", "a//b/GET", "A/b/GET", "a/./b/GET", "GET"} {
		tree[subkeyDefault(url.PathEscape(subkey))] = fits(1)
	}
	r := onFile(t, tree)
	each(t, r.Limiter, func(t *testing.T, c *harness.Client) {
		key := string(c.Protocol)
		wantApart(t, c,
			[]string{key, "a/b", "GET"}, []string{key, "a//b", "GET"}, []string{key, "A/b", "GET"},
			[]string{key, "a/./b", "GET"}, []string{key, "", "GET"})
		for _, same := range []string{"/a/b", "a/b/", "/a/b/", "///a/b///", "/", "///"} {
			wantAccepted(t, c, 1, 0, key, same, "GET")
		}
	})
}

// Long keys that differ in their last byte only are different keys, in each
// part.
func TestLongKeysNeverMix(t *testing.T) {
	t.Parallel()
	tree := entries{keyDefault: fits(1)}
	long := func(n int, last string) string { return strings.Repeat("k", n-1) + last }
	for _, n := range []int{64, 200, 1000, 1024} {
		for _, last := range []string{"x", "y"} {
			tree[subkeyDefault(long(n, last))] = fits(1)
			tree[subkeyDefault(long(n, last)+"/"+long(n, last))] = fits(1)
		}
	}
	r := onFile(t, tree)
	each(t, r.Limiter, func(t *testing.T, c *harness.Client) {
		p := string(c.Protocol)
		for _, n := range []int{64, 200, 1000, 1024} {
			x, y := long(n, "x"), long(n, "y")
			wantApart(t, c,
				[]string{x[len(p):] + p}, []string{y[len(p):] + p}, []string{p + x[len(p):]}, []string{p + y[len(p):]},
				[]string{p, x}, []string{p, y}, []string{p, "", x}, []string{p, "", y}, []string{p, x, x}, []string{p, y, y})
		}
	})
}

// Keys are octets: UTF-8 or not, they are taken as they are, and the tree can
// name each of them.
func TestKeysAreOctets(t *testing.T) {
	t.Parallel()
	octets := []string{"ключ", "ключи", "日本", "é", "Ã©", "\xe9", "\xff", "\xfe", "\xff\xfe", "\x80", "\uFFFD", "a\tb", "a b", "%FF", "\"", "ÿ"}
	tree := entries{keyDefault: nothing, ownQuota("кириллица"): fits(3)}
	for _, key := range octets {
		tree[ownQuota(escape(key))] = fits(1)
		tree[ownSublimit("r", escape(key))] = fits(1)
	}
	r := onFile(t, tree)
	each(t, r.Limiter, func(t *testing.T, c *harness.Client) {
		if c.Protocol != harness.Protocols[0] { // the buckets are the same, and used up
			for _, key := range octets {
				wantRetry(t, c.Attempt(t, key), 3600)
				wantRetry(t, c.Attempt(t, "r", "", key), 3600)
			}
			return
		}
		var keys [][]string
		for _, key := range octets {
			keys = append(keys, []string{key}, []string{"r", "", key})
		}
		wantApart(t, c, keys...)
		wantAccepted(t, c, 5, 3, "кириллица")
	})
}

// escape writes octets in percent-encoding.
func escape(key string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for _, octet := range []byte(key) {
		b.WriteString(string([]byte{'%', hex[octet>>4], hex[octet&15]}))
	}
	return b.String()
}
