package quota

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/gcra"
)

func rat(t testing.TB, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	return r
}

func parse(t testing.TB, text string) *Quota {
	t.Helper()
	q, err := ParseQuota(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return q
}

// goodValues are values that must be accepted, with the rate per second and the
// burst that they mean.
var goodValues = []struct {
	text, rate, burst string
	per               time.Duration
	shadow            bool
}{
	{`{"rate": 6600, "burst": 165}`, "6600", "165", time.Second, false}, // the manual's examples
	{`{"rate": 1000, "burst": 25}`, "1000", "25", time.Second, false},
	{`{"burst":0,"rate":0}`, "0", "0", time.Second, false},
	{`{"rate":0,"burst":5,"per":"366d"}`, "0", "5", 366 * 24 * time.Hour, false},
	{`{"rate":-0,"burst":0}`, "0", "0", time.Second, false},
	{`{"rate":0.1,"burst":0.3}`, "1/10", "3/10", time.Second, false}, // exact, not the nearest double
	{`{"rate":1e-7,"burst":1e9}`, "1/10000000", "1000000000", time.Second, false},
	{`{"rate":1E+9,"burst":1e-100}`, "1000000000", "1e-100", time.Second, false},
	{`{"rate":10,"burst":9,"per":"1h"}`, "1/360", "9", time.Hour, false},
	{`{"rate":20,"burst":1,"per":"3s"}`, "20/3", "1", 3 * time.Second, false},
	{`{"rate":1,"burst":1,"per":"1d12h"}`, "1/129600", "1", 36 * time.Hour, false},
	{`{"rate":1,"burst":1,"per":"0.5d"}`, "1/43200", "1", 12 * time.Hour, false},
	{`{"rate":1,"burst":1,"per":"1h30m"}`, "1/5400", "1", 90 * time.Minute, false},
	{`{"rate":1,"burst":1,"per":"1000µs"}`, "1000", "1", time.Millisecond, false},
	{`{"rate":1e6,"burst":1,"per":"1ms"}`, "1e9", "1", time.Millisecond, false},
	{`{"rate":3.16e16,"burst":1,"per":"366d"}`, "3.16e16/31622400", "1", 366 * 24 * time.Hour, false},
	{`{"rate":5,"burst":1,"shadow":true}`, "5", "1", time.Second, true},
	{`{"rate":5,"burst":1,"shadow":false}`, "5", "1", time.Second, false},
	{" \n{ \"r\\u0061te\" :\t5 , \"burst\":1 }\r\n", "5", "1", time.Second, false},
}

func TestGoodValues(t *testing.T) {
	for _, c := range goodValues {
		q, err := ParseQuota(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		rate, burst := fraction(t, c.rate), rat(t, c.burst)
		if q.Rate().Cmp(rate) != 0 || q.Burst().Cmp(burst) != 0 || q.Per() != c.per || q.Shadow() != c.shadow {
			t.Errorf("%s: rate %v, burst %v, per %v, shadow %v", c.text, q.Rate(), q.Burst(), q.Per(), q.Shadow())
		}
		if got, want := q.Limit(Whole), gcra.NewLimit(rate, burst, 1); got != want {
			t.Errorf("%s: limit %+v, want %+v", c.text, got, want)
		}
		if again := parse(t, q.String()); again.Value() != q.Value() {
			t.Errorf("%s comes back as %s", c.text, again)
		}
	}
}

// fraction reads a/b with exponents in both.
func fraction(t *testing.T, text string) *big.Rat {
	t.Helper()
	over, under, ok := strings.Cut(text, "/")
	if !ok {
		return rat(t, text)
	}
	return new(big.Rat).Quo(rat(t, over), rat(t, under))
}

// badValues are values that must be refused, with what the error must name.
var badValues = []struct{ text, named string }{
	{`{"rate":-1}`, "rate is -1; it must be a number: 0, or 1e-7 to 1e9 a second"},
	{`{"rate":-1,"burst":1}`, "rate is -1; it must be a number: 0, or 1e-7 to 1e9 a second"},
	{`{"rate":1,"burst":-0.001}`, "burst is -0.001; it must be a number from 0 to 1e9"},
	{`not json`, "`not json` is no quota; it must be an object"},
	{``, "it must be an object"},
	{`null`, "it must be an object"},
	{`5`, "it must be an object"},
	{`"{}"`, "it must be an object"},
	{`[{"rate":5,"burst":1}]`, "it must be an object"},
	{"\ufeff{\"rate\":5,\"burst\":1}", "it must be an object"},
	{`{}`, "rate is missing; it must be a number: 0, or 1e-7"},
	{`{"burst":1}`, "rate is missing"},
	{`{"rate":5}`, "burst is missing; it must be a number from 0 to 1e9"},
	{`{"rate":"5"}`, "rate is `\"5\"`; it must be a number"},
	{`{"rate":5,"burst":"1"}`, "burst is `\"1\"`; it must be a number"},
	{`{"rate":null,"burst":1}`, "rate is `null`; it must be a number"},
	{`{"rate":true,"burst":1}`, "rate is `true`; it must be a number"},
	{`{"rate":[5],"burst":1}`, "rate is `[5]`; it must be a number"},
	{`{"rate":{"rate":5},"burst":1}`, "rate is `{\"rate\":5}`; it must be a number"},
	{`{"rat":5}`, "`rat` is no field: did you mean \"rate\"?"},
	{`{"Rate":5,"burst":1}`, "`Rate` is no field: did you mean \"rate\"?"},
	{`{"rate":5,"BURST":1}`, "`BURST` is no field: did you mean \"burst\"?"},
	{`{"rate":5,"burst":1,"":1}`, "`` is no field: there are rate, burst, per and shadow"},
	{`{"rate":5,"burst":1,"comment":"x"}`, "`comment` is no field: there are rate, burst, per and shadow"},
	{`{"rate":5,"rate":5,"burst":1}`, "rate is given twice"},
	{`{"rate":5,"burst":1,"r\u0061te":6}`, "rate is given twice"},
	{`{"rate":5,"burst":1,"shadow":true,"shadow":true}`, "shadow is given twice"},
	{`{"rate":1e300}`, "rate is 1e300, with an exponent beyond ±100; it must be a number: 0, or 1e-7 to 1e9 a second"},
	{`{"rate":1e300,"burst":1}`, "rate is 1e300"},
	{`{"rate":1e999999999,"burst":1}`, "rate is 1e999999999, with an exponent beyond"},
	{`{"rate":1e-999999999,"burst":1}`, "rate is 1e-999999999, with an exponent beyond"},
	{`{"rate":1e99999999999999999999,"burst":1}`, "with an exponent beyond"},
	{`{"rate":1,"burst":1e300}`, "burst is 1e300, with an exponent beyond"},
	{`{"rate":1e100,"burst":1}`, "rate is 1e100: too high"},
	{`{"rate":1000000001,"burst":1}`, "rate is 1000000001: too high"},
	{`{"rate":9e-8,"burst":1}`, "rate is 9e-8: too low"},
	{`{"rate":1e7,"burst":1,"per":"1ms"}`, "rate is 1e7 per 1ms: too high"},
	{`{"rate":0.008,"burst":1,"per":"1d"}`, "rate is 0.008 per 1d: too low"},
	{`{"rate":1,"burst":1000000000.1}`, "burst is 1000000000.1; it must be a number from 0 to 1e9"},
	{`{"rate":` + strings.Repeat("1", 65) + `,"burst":1}`, "with more than 64 characters"},
	{`{"rate":NaN,"burst":1}`, "rate is not JSON: invalid character 'N'"},
	{`{"rate":Infinity,"burst":1}`, "rate is not JSON"},
	{`{"rate":.5,"burst":1}`, "rate is not JSON"},
	{`{"rate":+5,"burst":1}`, "rate is not JSON"},
	{`{"rate":05,"burst":1}`, "not JSON"},
	{`{"rate":0x10,"burst":1}`, "not JSON"},
	{`{"rate":1_0,"burst":1}`, "not JSON"},
	{`{"rate":5.,"burst":1}`, "not JSON"},
	{`{"rate":5,"burst":1,}`, "not JSON"},
	{`{,"rate":5,"burst":1}`, "not JSON"},
	{`{"rate":5 "burst":1}`, "not JSON"},
	{`{"rate" 5,"burst":1}`, "not JSON"},
	{`{'rate':5,"burst":1}`, "not JSON"},
	{`{rate:5,"burst":1}`, "not JSON"},
	{`{"rate":5,"burst":1`, "not JSON: unexpected EOF"},
	{`{"rate":5,"burst":1]`, "not JSON"},
	{`{"rate":5,"burst":1}x`, "there is more behind the closing brace"},
	{`{"rate":5,"burst":1}{}`, "there is more behind the closing brace"},
	{`{"rate":5,"burst":1},`, "there is more behind the closing brace"},
	{`{"rate":5,"burst":1,"per":"0s"}`, "per is `0s`, which is out of range; it must be a duration like \"1m\" or \"1d12h\", from 1ms to 366d"},
	{`{"rate":5,"burst":1,"per":"0"}`, "per is `0`"},
	{`{"rate":5,"burst":1,"per":""}`, "per is `\"\"`; it must be a duration"},
	{`{"rate":5,"burst":1,"per":60}`, "per is `60`; it must be a duration"},
	{`{"rate":5,"burst":1,"per":null}`, "per is `null`; it must be a duration"},
	{`{"rate":5,"burst":1,"per":"60"}`, "per is `60`, which lacks a unit"},
	{`{"rate":5,"burst":1,"per":"1m30"}`, "per is `1m30`, which lacks a unit"},
	{`{"rate":5,"burst":1,"per":"-1m"}`, "per is `-1m`, which is no duration"},
	{`{"rate":5,"burst":1,"per":"1 m"}`, "per is `1 m`, which is no duration"},
	{`{"rate":5,"burst":1,"per":"1w"}`, "per is `1w`, which is no duration"},
	{`{"rate":5,"burst":1,"per":"m"}`, "per is `m`, which is no duration"},
	{`{"rate":5,"burst":1,"per":"1..5m"}`, "per is `1..5m`, which is no duration"},
	{`{"rate":5,"burst":1,"per":"999µs"}`, "per is `999µs`, which is out of range"},
	{`{"rate":5,"burst":1,"per":"367d"}`, "per is `367d`, which is out of range"},
	{`{"rate":5,"burst":1,"per":"366d1ms"}`, "per is `366d1ms`, which is out of range"},
	{`{"rate":5,"burst":1,"per":"106751d"}`, "per is `106751d`, which is out of range"},
	{`{"rate":5,"burst":1,"per":"99999999999999999999d"}`, "which is no duration"},
	{`{"rate":5,"burst":1,"per":"` + strings.Repeat("366d", 200) + `"}`, "which is out of range"},
	{`{"rate":5,"burst":1,"shadow":"true"}`, "shadow is `\"true\"`; it must be true or false"},
	{`{"rate":5,"burst":1,"shadow":1}`, "shadow is `1`; it must be true or false"},
	{`{"rate":5,"burst":1,"shadow":null}`, "shadow is `null`; it must be true or false"},
	{`{"rate":5,"burst":1,"shadow":True}`, "shadow is not JSON"},
	{`{"rate":5,"burst":1` + strings.Repeat(" ", 5000) + `}`, "at most 4096 are allowed"},
}

func TestBadValues(t *testing.T) {
	for _, c := range badValues {
		q, err := ParseQuota(c.text)
		if err == nil {
			t.Errorf("%s: accepted as %s", c.text, q)
			continue
		}
		if !strings.Contains(err.Error(), c.named) {
			t.Errorf("%s: the error %q does not say %q", c.text, err, c.named)
		}
		if len(err.Error()) > 250 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error is no short line: %q", c.text, err)
		}
	}
}

func TestNewChecksEveryField(t *testing.T) {
	if _, err := New(Value{Rate: "10", Burst: "1", Per: "1m", Shadow: true}); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		v     Value
		named string
	}{
		{Value{Rate: " 5", Burst: "1"}, "rate"},
		{Value{Rate: "5 ", Burst: "1"}, "rate"},
		{Value{Rate: "1/2", Burst: "1"}, "rate"},
		{Value{Rate: "0x10", Burst: "1"}, "rate"},
		{Value{Rate: "Inf", Burst: "1"}, "rate"},
		{Value{Rate: "true", Burst: "1"}, "rate"},
		{Value{Rate: "5", Burst: "[1]"}, "burst"},
		{Value{Rate: "5", Burst: "1}, {"}, "burst"},
		{Value{Rate: "5", Burst: "1", Per: `1m", "shadow": true`}, "per"},
	} {
		if q, err := New(c.v); err == nil || !strings.HasPrefix(err.Error(), c.named+" ") {
			t.Errorf("%+v: %v, %v; want an error that names %s", c.v, q, err, c.named)
		}
	}
}

func TestValueString(t *testing.T) {
	for want, v := range map[string]Value{
		`{"rate": 6600, "burst": 165}`:                            {Rate: "6600", Burst: "165"},
		`{"rate": 1e-3, "burst": 0.5, "per": "1d"}`:               {Rate: "1e-3", Burst: "0.5", Per: "1d"},
		`{"rate": 5, "burst": 1, "shadow": true}`:                 {Rate: "5", Burst: "1", Shadow: true},
		`{"rate": 5, "burst": 1, "per": "100µs", "shadow": true}`: {Rate: "5", Burst: "1", Per: "100µs", Shadow: true},
		`{"rate": 5, "burst": 1, "per": "\"", "shadow": true}`:    {Rate: "5", Burst: "1", Per: `"`, Shadow: true},
	} {
		if got := v.String(); got != want || !json.Valid([]byte(got)) {
			t.Errorf("%+v is spelled %s, want %s", v, got, want)
		}
	}
}

func TestParseFactor(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "4": 4, " 12\n": 12, "\t65535 ": MaxFactor, "007": 7} {
		if got, err := ParseFactor(text); err != nil || got != want {
			t.Errorf("ParseFactor(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", " ", "0", "-1", "+1", "1.0", "1e3", "0x4", "1_000", "65536", "18446744073709551617", "four", "4 4", `"4"`, "٤",
		strings.Repeat("9", 5000),
	} {
		got, err := ParseFactor(text)
		if err == nil || !strings.Contains(err.Error(), "must be a whole number from 1 to 65535") || len(err.Error()) > 150 {
			t.Errorf("ParseFactor(%.20q) = %d, %v; want an error that names the range", text, got, err)
		}
	}
}
