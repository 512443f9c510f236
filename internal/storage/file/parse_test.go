package file

import (
	"maps"
	"slices"
	"testing"
)

// TestParse lists what a storage file means, entry by entry.
func TestParse(t *testing.T) {
	tests := []struct {
		name string
		text string
		want map[string]string
	}{
		{"nothing", "", nil},
		{"comments only", "# nothing yet\n", nil},
		{"null", "---\n~\n", nil},
		{"empty levels", "limit:\n  key:\n    photos:\n      sublimit:\n  subkey_default: {}\nfactor:\n  key: {}\nobserver:\n", nil},
		{
			"the manual's tree",
			`
limit:
  key_default: {rate: 100, burst: 10}
  subkey_default:
    GET: {rate: 7, burst: 1}
  key:
    photos:
      quota: {rate: 50, burst: 5}
      sublimit:
        albums/GET: {rate: 10, burst: 1}
factor:
  default: 2
  key: {photos: 3}
observer:
  obs-1: {gossip: "1.2.3.4:7373", service: "1.2.3.4:5454"}
`,
			map[string]string{
				"limit/key_default":                    `{"rate":100,"burst":10}`,
				"limit/subkey_default/GET":             `{"rate":7,"burst":1}`,
				"limit/key/photos/quota":               `{"rate":50,"burst":5}`,
				"limit/key/photos/sublimit/albums/GET": `{"rate":10,"burst":1}`,
				"factor/default":                       "2",
				"factor/key/photos":                    "3",
				"observer/obs-1":                       `{"gossip":"1.2.3.4:7373","service":"1.2.3.4:5454"}`,
			},
		},
		{
			"nested subkeys", `limit: {key: {p: {sublimit: {albums: {GET: {rate: 1, burst: 0}, x: {POST: {rate: 2, burst: 0}}}}}}, subkey_default: {a: {b: {rate: 3, burst: 0}}}}`,
			map[string]string{
				"limit/key/p/sublimit/albums/GET":    `{"rate":1,"burst":0}`,
				"limit/key/p/sublimit/albums/x/POST": `{"rate":2,"burst":0}`,
				"limit/subkey_default/a/b":           `{"rate":3,"burst":0}`,
			},
		},
		{
			"a part with slashes is as good as nested parts", `limit/key/a/b/quota: {rate: 1, burst: 0}`,
			map[string]string{"limit/key/a/b/quota": `{"rate":1,"burst":0}`},
		},
		{
			"a nested key", `limit: {key: {a: {b: {quota: {rate: 1, burst: 0}}}}}`,
			map[string]string{"limit/key/a/b/quota": `{"rate":1,"burst":0}`},
		},
		{
			"escapes pass unchanged", `limit: {key: {"a%2Fb": {sublimit: {"c%20d/%25": {rate: 1, burst: 0}}}}}`,
			map[string]string{"limit/key/a%2Fb/sublimit/c%20d/%25": `{"rate":1,"burst":0}`},
		},
		{
			"levels of one path in two places", "limit: {key: {a: {quota: {rate: 1, burst: 0}}}}\nlimit/key: {b: {quota: {rate: 2, burst: 0}}}",
			map[string]string{"limit/key/a/quota": `{"rate":1,"burst":0}`, "limit/key/b/quota": `{"rate":2,"burst":0}`},
		},
		{
			"keys named like words of the tree", `limit: {key: {sublimit: {quota: {rate: 1, burst: 0}, sublimit: {quota: {rate: 2, burst: 0}}}}}`,
			map[string]string{"limit/key/sublimit/quota": `{"rate":1,"burst":0}`, "limit/key/sublimit/sublimit/quota": `{"rate":2,"burst":0}`},
		},
		{
			"keys that YAML would read as something else", `factor: {key: {null: 1, true: 2, 0x10: 3, 1.0: 4, 2001-01-01: 5, "": 6, Ключ: 7}}`,
			map[string]string{"factor/key/null": "1", "factor/key/true": "2", "factor/key/0x10": "3", "factor/key/1.0": "4", "factor/key/2001-01-01": "5", "factor/key/": "6", "factor/key/Ключ": "7"},
		},
		{
			"numbers keep their spelling", `limit: {key_default: {rate: 0.1, burst: 1e3, a: -0, b: 10.50, c: 100000000000000000000001}}`,
			map[string]string{"limit/key_default": `{"rate":0.1,"burst":1e3,"a":-0,"b":10.50,"c":100000000000000000000001}`},
		},
		{
			"numbers that JSON cannot spell", `limit: {key_default: {a: 1_000, b: .5, c: +7, d: 0x10, e: 5., f: 0o17}}`,
			map[string]string{"limit/key_default": `{"a":1000,"b":0.5,"c":7,"d":16,"e":5,"f":15}`},
		},
		{
			"numbers for the quota's owner to reject", `limit: {key_default: {a: .nan, b: .inf, c: -.Inf, d: 010, e: 00.5}}`,
			map[string]string{"limit/key_default": `{"a":NaN,"b":Infinity,"c":-Infinity,"d":010,"e":00.5}`},
		},
		{
			"other scalars", `limit: {key_default: {a: yes, b: True, c: "1", d: ~, e: 1m, f: '<&>', g: [1, x, {y: }], h: 2001-01-01, i: !!str 1}}`,
			map[string]string{"limit/key_default": `{"a":"yes","b":true,"c":"1","d":null,"e":"1m","f":"<&>","g":[1,"x",{"y":null}],"h":"2001-01-01","i":"1"}`},
		},
		{
			"a value as JSON text, as in etcd", `limit: {key_default: '{"rate": 1, "burst": 0}'}`,
			map[string]string{"limit/key_default": `{"rate": 1, "burst": 0}`},
		},
		{
			"mistakes at a value's place are seen", `
limit:
  key_default:
  subkey_default: {GET: , POST: {}, a: {PUT: , GET: {rate: 1, burst: 0}}, b: {PUT: }}
  key: {photos: {quota: {}, sublimit: {x: 5}}, videos: {quota: [1]}}
factor: {default: , key: {photos: {rate: 1}}}
observer: {a: , b: x, c: {}}
`,
			map[string]string{
				"limit/key_default":           "null",
				"limit/subkey_default/GET":    "null",
				"limit/subkey_default/POST":   "{}",
				"limit/subkey_default/a/PUT":  "null",
				"limit/subkey_default/a/GET":  `{"rate":1,"burst":0}`,
				"limit/subkey_default/b":      `{"PUT":null}`,
				"limit/key/photos/quota":      "{}",
				"limit/key/photos/sublimit/x": "5",
				"limit/key/videos/quota":      "[1]",
				"factor/default":              "null",
				"factor/key/photos":           `{"rate":1}`,
				"observer/a":                  "null",
				"observer/b":                  "x",
				"observer/c":                  "{}",
			},
		},
		{
			"mistakes at a level's place are seen", "limit: {key: 5, subkey_default: [1], key/photos: {rate: 1, burst: 2}}\nlimits: {key_default: {rate: 1}}\nfactor: x",
			map[string]string{
				"limit/key": "5", "limit/subkey_default": "[1]", "limit/key/photos/rate": "1", "limit/key/photos/burst": "2",
				"limits/key_default/rate": "1", "factor": "x",
			},
		},
		{
			"anchors, aliases and merges", `
limit:
  key_default: &std {rate: 10, burst: 1}
  key:
    a: &a {quota: *std, sublimit: {GET: *std}}
    b: *a
    c: {quota: {<<: *std, burst: 5}}
    d: {<<: *a, quota: {rate: 1, burst: 1}}
    e: {quota: {<<: [{rate: 2}, *std]}}
factor: {key: {&name x: 2}, *name : 1}
`,
			map[string]string{
				"limit/key_default":        `{"rate":10,"burst":1}`,
				"limit/key/a/quota":        `{"rate":10,"burst":1}`,
				"limit/key/a/sublimit/GET": `{"rate":10,"burst":1}`,
				"limit/key/b/quota":        `{"rate":10,"burst":1}`,
				"limit/key/b/sublimit/GET": `{"rate":10,"burst":1}`,
				"limit/key/c/quota":        `{"burst":5,"rate":10}`,
				"limit/key/d/quota":        `{"rate":1,"burst":1}`,
				"limit/key/d/sublimit/GET": `{"rate":10,"burst":1}`,
				"limit/key/e/quota":        `{"rate":2,"burst":1}`,
				"factor/key/x":             "2",
				"factor/x":                 "1",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantEntries(t, tt.text, tt.want) })
	}
}

func wantEntries(t *testing.T, text string, want map[string]string) {
	t.Helper()
	got, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if value, ok := want[key]; !ok || value != got[key] {
			t.Errorf("%s = %s, want %q", key, got[key], value)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[key]; !ok {
			t.Errorf("%s is missing, want %s", key, want[key])
		}
	}
}
