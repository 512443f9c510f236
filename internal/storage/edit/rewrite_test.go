package edit

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/levee-project/levee/internal/storage/file"
)

func at[T any](v T) *T { return &v }

// changed makes changes to a text: "key=value" sets, "-key" removes.
func changed(t *testing.T, text string, what ...string) (string, error) {
	t.Helper()
	entries, err := file.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var changes []Change
	for _, w := range what {
		key, value, set := strings.Cut(w, "=")
		ch := Change{Key: strings.TrimPrefix(key, "-")}
		if old, ok := entries[ch.Key]; ok {
			ch.Old = &old
		}
		if set {
			ch.New = &value
		}
		changes = append(changes, ch)
	}
	out, err := rewrite([]byte(text), entries, changes)
	return string(out), err
}

const sample = `# Head of the file.

limit:
  # For all.
  key_default: {rate: 100, burst: 10}    # aligned

  key:
    # Photos.
    photos:
      quota: {rate: 50, burst: 5}

      sublimit:
        # Albums, read.
        albums/GET: {rate: 10, burst: 1}

        # Written.
        POST:
          rate: 2
          burst: 1

    # Mail.
    mail:
      quota: {rate: 60, burst: 9, per: 1m}

# The end.
factor: {default: 1}
`

func TestRewrite(t *testing.T) {
	const q = `{"rate": 7, "burst": 3}`
	for _, tt := range []struct {
		name     string
		changes  []string
		old, new string // what is replaced in the sample by what
	}{
		{
			"a value",
			[]string{"limit/key/photos/quota=" + q},
			"      quota: {rate: 50, burst: 5}\n", "      quota: {rate: 7, burst: 3}\n",
		},
		{
			"a value with a comment behind it",
			[]string{"limit/key_default=" + q},
			"{rate: 100, burst: 10}    # aligned", "{rate: 7, burst: 3} # aligned",
		},
		{
			"a value in lines",
			[]string{"limit/key/photos/sublimit/POST=" + q},
			"        POST:\n          rate: 2\n          burst: 1\n", "        POST: {rate: 7, burst: 3}\n",
		},
		{
			"another spelling",
			[]string{"-limit/key/photos/sublimit/albums/GET", "limit/key/photos/sublimit/albums%2FGET=" + q},
			"albums/GET: {rate: 10, burst: 1}", "albums%2FGET: {rate: 7, burst: 3}",
		},
		{
			"a new sub-limit",
			[]string{"limit/key/photos/sublimit/GET=" + q},
			"          burst: 1\n", "          burst: 1\n        GET: {rate: 7, burst: 3}\n",
		},
		{
			"a new resource",
			[]string{"limit/key/a%2Fb/quota=" + q},
			"per: 1m}\n", "per: 1m}\n    a%2Fb:\n      quota: {rate: 7, burst: 3}\n",
		},
		{
			"a new factor",
			[]string{"factor/key/photos=4"},
			"factor: {default: 1}\n", "factor: {default: 1, key: {photos: 4}}\n",
		},
		{
			"a new section",
			[]string{`observer/o-1={"gossip": "10.0.0.1:7373", "service": "[::1]:5454"}`},
			"factor: {default: 1}\n",
			"factor: {default: 1}\nobserver:\n  o-1: {gossip: \"10.0.0.1:7373\", service: \"[::1]:5454\"}\n",
		},
		{
			"removal with its comment",
			[]string{"-limit/key/photos/sublimit/albums/GET"},
			"        # Albums, read.\n        albums/GET: {rate: 10, burst: 1}\n\n", "",
		},
		{
			"removal of a resource",
			[]string{"-limit/key/mail/quota"},
			"\n    # Mail.\n    mail:\n      quota: {rate: 60, burst: 9, per: 1m}\n", "",
		},
		{
			"several",
			[]string{"limit/key/mail/quota=" + q, "factor/default=2"},
			"{rate: 60, burst: 9, per: 1m}\n\n# The end.\nfactor: {default: 1}", "{rate: 7, burst: 3}\n\n# The end.\nfactor: {default: 2}",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := changed(t, sample, tt.changes...)
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Replace(sample, tt.old, tt.new, 1); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// Texts that lines cannot be exchanged in are written anew, with what they say.
func TestRewriteOddTexts(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"empty":              {"", "limit:\n  key_default: {rate: 7, burst: 3}\n"},
		"comments":           {"# only\n# comments\n", "# only\n# comments\n\nlimit:\n  key_default: {rate: 7, burst: 3}\n"},
		"null":               {"---\n~\n", "limit:\n  key_default: {rate: 7, burst: 3}\n"},
		"an empty section":   {"limit:\n", "limit:\n  key_default: {rate: 7, burst: 3}\n"},
		"an empty mapping":   {"{}\n", "limit:\n  key_default: {rate: 7, burst: 3}\n"},
		"one line":           {"limit: {key: {a: {quota: {rate: 1, burst: 1}}}}", "limit: {key: {a: {quota: {rate: 1, burst: 1}}}, key_default: {rate: 7, burst: 3}}\n"},
		"four columns":       {"limit:\n    key: {}\nfactor:\n    default: 1\n", "limit:\n    key: {}\n    key_default: {rate: 7, burst: 3}\nfactor:\n    default: 1\n"},
		"a path as one key":  {"limit/key_default: {rate: 1, burst: 1} # c\n", "limit/key_default: {rate: 7, burst: 3} # c\n"},
		"quoted and aligned": {"limit:\n  'key_default':   {rate: 1, burst: 1}\n", "limit:\n  'key_default': {rate: 7, burst: 3}\n"},
		"CRLF":               {"factor:\r\n  default: 1\r\n", "factor:\r\n  default: 1\r\nlimit:\n  key_default: {rate: 7, burst: 3}\n"},
	} {
		got, err := changed(t, tt.text, `limit/key_default={"rate": 7, "burst": 3}`)
		if err != nil || got != tt.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, tt.want)
		}
	}
}

// What is shared by reference is not changed behind the operator's back.
func TestRewriteRefusesReferences(t *testing.T) {
	const text = "limit:\n  key:\n    a: &a {quota: {rate: 1, burst: 1}}\n    b: *a\n"
	for _, change := range []string{`limit/key/a/quota={"rate": 2, "burst": 1}`, `limit/key/b/quota={"rate": 2, "burst": 1}`, "-limit/key/b/quota"} {
		if got, err := changed(t, text, change); err == nil || !strings.Contains(err.Error(), "by hand") {
			t.Errorf("%s: %v\n%s", change, err, got)
		}
	}
}

// Every entry of the example file can be set and removed, each with little
// changed around it.
func TestRewriteExample(t *testing.T) {
	text, err := os.ReadFile("../../../configs/storage.yaml")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := file.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for key := range entries {
		value := `{"rate": 9, "burst": 9}`
		if strings.HasPrefix(key, "factor") {
			value = "9"
		}
		set, err := changed(t, string(text), key+"="+value)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := strings.Count(set, "\n"), strings.Count(string(text), "\n"); a != b {
			t.Errorf("%s: %d lines were %d", key, a, b)
		}
		removed, err := changed(t, string(text), "-"+key)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := strings.Count(removed, "\n"), strings.Count(string(text), "\n"); a >= b || a < b-8 {
			t.Errorf("%s: %d lines were %d:\n%s", key, a, b, removed)
		}
	}
}

// Random changes of random trees, in texts of several forms, leave the tree that
// is wanted: rewrite checks that itself, so that no error is all there is to see.
func TestRewriteRandomly(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	keys := []string{
		"limit/key_default", "limit/subkey_default/a%2Fb", "limit/subkey_default/a/b", "limit/key/a/quota",
		"limit/key/a%2Fb/quota", "limit/key/a/b/quota", "limit/key/a/sublimit/x", "limit/key/a/sublimit/x/y", "limit/key/b/sublimit/x%2Fy",
		"factor/default", "factor/key/a", "factor/key/a%2Fb", "observer/o", "odd/er",
	}
	value := func(key string) string {
		if strings.HasPrefix(key, "factor") {
			return fmt.Sprint(1 + rng.IntN(9))
		}
		if rng.IntN(10) == 0 {
			return []string{"junk", "", "null", "- x", `{"a": {"b": 1}}`, `{"a": 1, "a": 2}`, "#", "5", "[1]", "a: b"}[rng.IntN(10)]
		}
		return fmt.Sprintf(`{"rate": %d, "burst": 1, "per": "1m"}`, rng.IntN(99))
	}
	for range 500 {
		entries := map[string]string{}
		for _, key := range keys {
			if rng.IntN(2) == 0 {
				entries[key] = value(key)
			}
		}
		text, err := Render(entries)
		if err != nil {
			t.Fatalf("%v: %v", entries, err)
		}
		entries, _ = file.Parse(text)
		var changes []Change
		for _, i := range rng.Perm(len(keys))[:3] {
			ch := Change{Key: keys[i]}
			if old, ok := entries[ch.Key]; ok {
				ch.Old = &old
			}
			if ch.Old == nil || rng.IntN(2) == 0 {
				ch.New = at(value(ch.Key))
			}
			changes = append(changes, ch)
		}
		if _, err := rewrite(text, entries, changes); err != nil {
			for _, ch := range changes {
				t.Logf("%s: %v to %v", ch.Key, ch.Old != nil, ch.New)
			}
			t.Fatalf("%v\n%s", err, text)
		}
	}
}

func TestRender(t *testing.T) {
	long := strings.Repeat("x", 1024)
	entries := map[string]string{
		"limit/key_default":                       `{"rate": 100, "burst":1e1}`,
		"limit/key/" + long + "/quota":            `{"rate":1,"burst":0,"per":"1d"}`,
		"limit/key/a%2Fb/sublimit/albums%2FGET":   `{"rate":1,"burst":0,"shadow":true}`,
		"limit/key/a/sublimit/albums/GET":         `junk`,
		"limit/key/%D0%BA%D0%B2/quota":            `{"rate":1,"rate":2}`,
		"limit/key/null/quota":                    `null`,
		"limit/subkey_default/a/b":                `{"rate": {"x": 1}}`,
		"factor/default":                          `4`,
		"factor/key/no":                           ` 04`,
		"observer/o":                              `{"gossip": "[::1]:7373", "service": "10.0.0.1:1"}`,
		"x":                                       `{"a": 1}`,
		"x/y":                                     "two\nlines\x00",
		"limit/key/1/quota":                       `[1]`,
		"limit/key/a/quota/b":                     "",
		"limit/subkey_default/" + long + "%2Fend": `{"rate":0,"burst":0}`,
	}
	text, err := Render(entries)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Render(maps.Collect(maps.All(entries)))
	if err != nil || string(again) != string(text) {
		t.Errorf("not the same text twice: %v", err)
	}
	if !strings.Contains(string(text), "\n    ? "+long+"\n    : quota:") {
		t.Errorf("the long key is not in the form of ? key:\n%s", text)
	}
	for _, want := range []string{"  default: 4\n", `no: ' 04'`, `o: {gossip: "[::1]:7373", service: "10.0.0.1:1"}`, "albums%2FGET: {rate: 1, burst: 0, shadow: true}"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	lines := strings.Split(string(text), "\n")
	if i, j := slices.Index(lines, "factor:"), slices.Index(lines, "limit:"); i != 0 || j < i {
		t.Errorf("not sorted:\n%s", text)
	}
	if _, err := Render(map[string]string{"a\xff": "1"}); err == nil {
		t.Error("octets that are no text were rendered")
	}
}
