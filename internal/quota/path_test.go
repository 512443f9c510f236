package quota

import (
	"strings"
	"testing"

	"github.com/levee-project/levee/internal/attempt"
)

func TestParsePath(t *testing.T) {
	long := strings.Repeat("k", attempt.MaxKeyPart)
	for key, want := range map[string]Path{
		"limit/key_default":                    {Kind: KindKeyDefault},
		"limit/subkey_default/GET":             {KindSubkeyDefault, "", "GET"},
		"limit/subkey_default/a/b%2Fc":         {KindSubkeyDefault, "", "a/b/c"},
		"limit/subkey_default/quota":           {KindSubkeyDefault, "", "quota"},
		"limit/key/photos/quota":               {KindKeyQuota, "photos", ""},
		"limit/key/photos/sublimit/albums/GET": {KindKeySublimit, "photos", "albums/GET"},
		"limit/key/photos/sublimit/GET":        {KindKeySublimit, "photos", "GET"},
		"factor/default":                       {Kind: KindFactorDefault},
		"factor/key/photos":                    {KindFactorKey, "photos", ""},

		// A plain slash in a KEY, where there is one reading.
		"limit/key/a/b/quota":         {KindKeyQuota, "a/b", ""},
		"limit/key/a/b/sublimit/c/d":  {KindKeySublimit, "a/b", "c/d"},
		"limit/key//a/quota":          {KindKeyQuota, "/a", ""},
		"limit/key/a//quota":          {KindKeyQuota, "a/", ""},
		"limit/key/a/sublimit//b":     {KindKeySublimit, "a", "/b"},
		"factor/key/a/b":              {KindFactorKey, "a/b", ""},
		"factor/key/quota":            {KindFactorKey, "quota", ""}, // nothing to confuse it with
		"factor/key/default":          {KindFactorKey, "default", ""},
		"limit/key/key_default/quota": {KindKeyQuota, "key_default", ""},

		// Encoding.
		"limit/key/a%2Fb/quota":                 {KindKeyQuota, "a/b", ""},
		"limit/key/a%2fb/quota":                 {KindKeyQuota, "a/b", ""},
		"limit/key/%71uota/quota":               {KindKeyQuota, "quota", ""},
		"limit/key/a/%73ublimit/quota":          {KindKeyQuota, "a/sublimit", ""},
		"limit/key/a/sublimit/%71uota":          {KindKeySublimit, "a", "quota"},
		"limit/key/a%2Fsublimit%2Fb/quota":      {KindKeyQuota, "a/sublimit/b", ""},
		"limit/key/a/sublimit/b%2Fc":            {KindKeySublimit, "a", "b/c"},
		"limit/key/%00%ff/quota":                {KindKeyQuota, "\x00\xff", ""},
		"limit/key/квота/quota":                 {KindKeyQuota, "квота", ""},
		"limit/key/a%2525/quota":                {KindKeyQuota, "a%25", ""},
		"factor/key/%7B%7D":                     {KindFactorKey, "{}", ""},
		"limit/key/a/sublimit/sublimit":         {KindKeySublimit, "a", "sublimit"},
		"limit/key/a/sublimit/quota/b":          {KindKeySublimit, "a", "quota/b"},
		"limit/key/quotas/sublimit/sublimits/x": {KindKeySublimit, "quotas", "sublimits/x"},

		// The longest that can match.
		"limit/key/" + long + "/quota":                             {KindKeyQuota, long, ""},
		"limit/key/" + strings.Repeat("%6b", len(long)) + "/quota": {KindKeyQuota, long, ""},
		"limit/key/a/sublimit/" + long + "/" + long:                {KindKeySublimit, "a", long + "/" + long},
	} {
		got, err := ParsePath(key)
		if err != nil || got != want {
			t.Errorf("ParsePath(%.80q) = %+v, %v, want %+v", key, got, err, want)
			continue
		}
		if again, err := ParsePath(got.String()); err != nil || again != want {
			t.Errorf("%.80q is spelled %.80q, which reads as %+v, %v", key, got, again, err)
		}
	}
}

func TestParsePathErrors(t *testing.T) {
	long := strings.Repeat("k", attempt.MaxKeyPart+1)
	for key, said := range map[string][]string{
		"limit/key/a/sublimit/quota": {
			"can be read in two ways", `the quota of the KEY "a/sublimit"`, `limit/key/a%2Fsublimit/quota`,
			`the sublimit "quota" of the KEY "a"`, `limit/key/a/sublimit/%71uota`,
		},
		"limit/key/a/sublimit/b/quota":        {"can be read in two ways", "limit/key/a%2Fsublimit%2Fb/quota", "limit/key/a/sublimit/b%2Fquota"},
		"limit/key/a/sublimit/sublimit/x":     {"can be read in two ways", "limit/key/a/sublimit/sublimit%2Fx", "limit/key/a%2Fsublimit/sublimit/x"},
		"limit/key/a/sublimit/b/sublimit/c":   {"can be read in two ways"},
		"limit/key/a/sublimit/sublimit/quota": {"can be read in 3 ways"},
		"limit/key/a/sublimit/%zz/quota":      {`"%zz" is no percent-encoding`},

		"limit/key/quota/quota":               {`the word "quota"`, "must be encoded", "limit/key/%71uota/quota"},
		"limit/key/sublimit/quota":            {`the word "sublimit"`, "must be encoded", "limit/key/%73ublimit/quota"},
		"limit/key/a/quota/sublimit/x":        {`the word "quota"`, "must be encoded", "limit/key/a%2Fquota/sublimit/x"},
		"limit/key/sublimit/a/quota":          {`the word "sublimit"`, "must be encoded"},
		"limit/key/sublimit/sublimit/x":       {`the word "sublimit"`, "must be encoded"},
		"limit/key/quota/a/quota":             {`the word "quota"`, "must be encoded"},
		"limit/key/a/quota/%2F/quota/b/quota": {`the word "quota"`, "must be encoded"},

		"limit/key//quota":                              {"the KEY is empty"},
		"limit/key/quota":                               {"the KEY is empty"},
		"limit/key/%20/quota":                           {"the KEY is empty"},
		"limit/key/sublimit/x":                          {"the KEY is empty"},
		"limit/key//sublimit/x":                         {"the KEY is empty"},
		"limit/key/a/sublimit/":                         {"the SUBKEY is empty"},
		"limit/key/a/sublimit/%09":                      {"the SUBKEY is empty"},
		"limit/subkey_default/":                         {"the SUBKEY is empty"},
		"factor/key/":                                   {"the KEY is empty"},
		"limit/key/%zz/quota":                           {"the KEY is not well encoded", `"%zz"`},
		"limit/key/a/sublimit/%":                        {"the SUBKEY is not well encoded", `"%"`},
		"limit/subkey_default/a%2":                      {"the SUBKEY is not well encoded"},
		"factor/key/%0x":                                {"the KEY is not well encoded"},
		"limit/key/" + long + "/quota":                  {"the KEY has 1025 bytes", "no attempt matches more than 1024"},
		"factor/key/" + long:                            {"the KEY has 1025 bytes"},
		"limit/key/a/sublimit/" + long + "/" + long[1:]: {"the SUBKEY has 2050 bytes", "no attempt matches more than 2049"},
		"limit/subkey_default/" + long + "/" + long[1:]: {"the SUBKEY has 2050 bytes"},
		"limit/key/" + strings.Repeat("/", 1<<20):       {"unknown entry", "1048586 bytes"},

		"limt/key_default":        {"unknown entry", "limit/key_default?"},
		"limit/key-default":       {"unknown entry", "limit/key_default?"},
		"limit/key/x":             {"unknown entry", "limit/key/<KEY>/quota?"},
		"limit/key/a/b/quotas":    {"unknown entry", "limit/key/<KEY>/quota?"},
		"limit/key/a/Quota":       {"unknown entry", "limit/key/<KEY>/quota?"},
		"limit/key/a/quota/":      {"unknown entry", "limit/key/<KEY>/quota?"},
		"limit/key/a/sublimit":    {"unknown entry", "limit/key/<KEY>/sublimit/<SUBKEY>?"},
		"limit/key/a/sublimits/b": {"unknown entry", "limit/key/<KEY>/sublimit/<SUBKEY>?"},
		"limit/subkey_default":    {"unknown entry", "limit/subkey_default/<SUBKEY>?"},
		"limit/subkeydefault/a":   {"unknown entry", "limit/subkey_default/<SUBKEY>?"},
		"limit":                   {"unknown entry", "limit/key/<KEY>/quota?"},
		"limits/key/a/quota":      {"unknown entry", "limit/key/<KEY>/quota?"},
		"factor/defalt":           {"unknown entry", "factor/default?"},
		"factor/keys/a":           {"unknown entry", "factor/key/<KEY>?"},
		"Factor/key/a":            {"unknown entry", "factor/key/<KEY>?"},
		"observers/a":             {"unknown entry", "observer/<NAME>?"},
		"observer":                {"unknown entry", "observer/<NAME>?"},
		"":                        {"unknown entry", "limit/, factor/ and observer/"},
		"config/a":                {"unknown entry", "limit/, factor/ and observer/"},
		"/limit/key_default":      {"unknown entry", "limit/, factor/ and observer/"},
	} {
		got, err := ParsePath(key)
		if err == nil {
			t.Errorf("ParsePath(%.80q) = %+v, want an error", key, got)
			continue
		}
		if got != (Path{}) {
			t.Errorf("ParsePath(%.80q) = %+v beside an error", key, got)
		}
		for _, part := range said {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("ParsePath(%.80q): the error %q does not say %q", key, err, part)
			}
		}
	}
}

// What an error tells to write must be read as it says.
func TestReadingsAsTold(t *testing.T) {
	for key, want := range map[string]Path{
		"limit/key/a%2Fsublimit/quota":      {KindKeyQuota, "a/sublimit", ""},
		"limit/key/a/sublimit/%71uota":      {KindKeySublimit, "a", "quota"},
		"limit/key/a/sublimit/b%2Fquota":    {KindKeySublimit, "a", "b/quota"},
		"limit/key/a/sublimit/sublimit%2Fx": {KindKeySublimit, "a", "sublimit/x"},
	} {
		if got, err := ParsePath(key); err != nil || got != want {
			t.Errorf("ParsePath(%q) = %+v, %v, want %+v", key, got, err, want)
		}
	}
}

func TestCanonicalKeys(t *testing.T) {
	parts := []string{"photos", "quota", "sublimit", "a/b", "/", "a/quota", "sublimit/x", "100%", "%zz", "é", "\x00\xff\n", "key_default", strings.Repeat("/", attempt.MaxKeyPart)}
	check := func(key string, want Path) {
		t.Helper()
		if got, err := ParsePath(key); err != nil || got != want || got.String() != key {
			t.Errorf("%.80q reads as %+v (%.80q), %v, want %+v", key, got, got, err, want)
		}
	}
	check(KeyDefault, Path{Kind: KindKeyDefault})
	check(FactorDefault, Path{Kind: KindFactorDefault})
	for _, k := range parts {
		check(ForKey(k), Path{KindKeyQuota, k, ""})
		check(FactorFor(k), Path{KindFactorKey, k, ""})
		check(SubkeyDefault(k), Path{KindSubkeyDefault, "", k})
		for _, p := range parts {
			check(ForSubkey(k, p, ""), Path{KindKeySublimit, k, p})
			check(ForSubkey(k, "", p), Path{KindKeySublimit, k, p})
			for _, m := range parts {
				check(ForSubkey(k, p, m), Path{KindKeySublimit, k, p + "/" + m})
				check(SubkeyDefault(Subkey(p, m)), Path{KindSubkeyDefault, "", p + "/" + m})
			}
		}
	}
	if got := (Path{}).String(); got != "" {
		t.Errorf("the path of nothing is spelled %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          int
	}{
		{"", "", 0},
		{"abc", "abc", 0},
		{"abc", "", 3},
		{"", "abc", 3},
		{"kitten", "sitting", 3},
		{"a*c", "abc", 0},
		{"a*c", "abbbc", 0},
		{"a*c", "ac", 1},
		{"*", "", 1},
		{"*", "x", 0},
		{"a*", "b", 1},
		{"a*", "", 2},
		{"*/x", "a/b/x", 0},
		{"*/x", "a/b/y", 1},
	} {
		if got := distance(c.pattern, c.text); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.pattern, c.text, got, c.want)
		}
	}
}
