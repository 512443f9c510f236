package hpack

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"
	oracle "golang.org/x/net/http2/hpack"
)

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"x-resource": true, "a": true, "0": true, "a_b": true, "!#$%&'*+-.^_`|~": true,
		":path": true, ":x-unknown": true,
		"": false, ":": false, "::path": false, "a:": false, "a:b": false, "path:": false,
		"X-Resource": false, ":Path": false, "xA": false,
		" a": false, "a ": false, "a b": false, "a\tb": false, "a\x00": false, "a\r": false, "a\n": false,
		"a\x7f": false, "a\x80": false, "é": false, "a(": false, "a/b": false, "a@": false, "\"a\"": false,
		"a=b": false, "a,b": false, "a;b": false, "a?": false, "[a]": false, "{a}": false, "a\\b": false, "<a>": false,
	} {
		if got := validName([]byte(name)); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
		if got := plainlyValidName(name); got != want {
			t.Errorf("%q: the fuzz targets would want %v", name, got)
		}
	}
}

// plainlyValidName is another spelling of what Emit says about names.
func plainlyValidName(name string) bool {
	token := strings.TrimPrefix(name, ":")
	return httpguts.ValidHeaderFieldName(token) && token == strings.ToLower(token)
}

func TestValidValue(t *testing.T) {
	for value, want := range map[string]bool{
		"": true, "a": true, "a b": true, "a\tb": true, "\x01": true, "\x7f": true, "é": true, "\xff\xfe": true,
		"tenant-000123": true, "photos of a summer by the sea": true, "\vvertical": true,
		" ": false, "\t": false, " a": false, "a ": false, "\ta": false, "a\t": false,
		"\x00": false, "a\x00b": false, "a\rb": false, "a\nb": false, "\r\n": false,
		"a line that is long\n and goes on": false, "a tab\tbefore\nthe fault": false,
	} {
		if got := validValue([]byte(value)); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

// Each byte at each place of values of all lengths around the eight bytes that
// are looked at together.
func TestValidValueEverywhere(t *testing.T) {
	for length := 1; length <= 25; length++ {
		for at := range length {
			for c := range 256 {
				for _, filler := range []byte{'x', 0xff, 0x1f} {
					value := bytes.Repeat([]byte{filler}, length)
					value[at] = byte(c)
					if got, want := validValue(value), plainlyValidValue(string(value)); got != want {
						t.Fatalf("%q: %v, want %v", value, got, want)
					}
				}
			}
		}
	}
}

// plainlyValidValue is another spelling of what Emit says about values.
func plainlyValidValue(value string) bool {
	return strings.Trim(value, " \t") == value && !strings.ContainsAny(value, "\x00\r\n")
}

func TestNames(t *testing.T) {
	for name, want := range map[string]Name{
		":method": Method, ":path": Path, ":scheme": Scheme, ":authority": Authority, ":status": Status,
		":protocol": OtherPseudo, ":": OtherPseudo, ":Path": OtherPseudo,
		"connection": Connection, "transfer-encoding": TransferEncoding, "keep-alive": KeepAlive,
		"proxy-connection": ProxyConnection, "upgrade": Upgrade,
		"x-resource": XResource, "x-prefix": XPrefix, "x-method": XMethod, "x-hits": XHits, "x-req-id": XReqID,
		"content-length": ContentLength, "expect": Expect, "host": Host, "retry-after": RetryAfter,
		"te": TE, "trailer": Trailer,
		"": Other, "accept": Other, "X-Resource": Other, "x-resourc": Other, "x-resources": Other, "method": Other,
	} {
		if got := classify([]byte(name)); got != want {
			t.Errorf("%q: class %d, want %d", name, got, want)
		}
		if got, want := want.Pseudo(), strings.HasPrefix(name, ":"); got != want {
			t.Errorf("%q: pseudo %v, want %v", name, got, want)
		}
	}
	specific := map[Name]bool{
		Connection: true, TransferEncoding: true, KeepAlive: true, ProxyConnection: true, Upgrade: true,
	}
	for n := Other; n <= Trailer; n++ {
		if n.ConnectionSpecific() != specific[n] {
			t.Errorf("class %d: connection-specific %v", n, !specific[n])
		}
	}
}

func TestStaticTable(t *testing.T) {
	for i := byte(1); i <= staticSize; i++ {
		fields, err := collect(New(), []byte{indexed | i}, 1<<10)
		if err != nil {
			t.Fatalf("index %d: %v", i, err)
		}
		want, err := oracle.NewDecoder(0, nil).DecodeFull([]byte{indexed | i})
		if err != nil {
			t.Fatal(err)
		}
		got := fields[0]
		if got.name != want[0].Name || got.value != want[0].Value {
			t.Errorf("index %d: %q, want %v", i, got.line(), want[0])
		}
		if !got.valid || got.class != classify([]byte(got.name)) {
			t.Errorf("index %d: valid %v, class %d", i, got.valid, got.class)
		}
	}
}

// What an entry remembers: its name's validity goes to each field that takes the
// name from it, its value's only to the entry itself.
func TestValidityOfEntries(t *testing.T) {
	want := []field{
		{Other, "a", "b", true},  // stored
		{Other, "a", " ", false}, // its name, a bad value, stored
		{Other, "a", " ", false}, // that entry
		{Other, "a", "c", true},  // its name, a good value
		{Other, "A", "b", false}, // a bad name, stored
		{Other, "A", "c", false}, // its name
		{XHits, "x-hits", "1", true},
		{XHits, "x-hits", "1 ", false},
	}
	got, err := collect(New(), unhex(t, `
		4001610162 7e0120 be 0f2f0163 4001410162 0f2f0163
		4006782d68697473 0131 0f2f023120`), 1<<20)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}
