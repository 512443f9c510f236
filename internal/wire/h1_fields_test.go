package wire

import (
	"strings"
	"testing"

	"github.com/levee-project/levee/internal/attempt"
)

func TestHost(t *testing.T) {
	const invalid = "400 host: Host is not a host and port | closed"
	try(t, []exchange{
		{"missing", bare("POST /attempt HTTP/1.1", "X-Resource: a"), "400 host: Host is missing | closed", ""},
		{"missing beside an absolute target", bare("POST http://h/attempt HTTP/1.1", "X-Resource: a"), "400 host: Host is missing | closed", ""},
		{"missing in 1.0", bare("POST /attempt HTTP/1.0", "X-Resource: a"), "200 | closed", "a"},
		{"given twice", ask("Host: h"), "400 host: Host is given more than once | closed", ""},
		{"given twice in 1.0", request("POST /attempt HTTP/1.0", "Host: h"), "400 host: Host is given more than once | closed", ""},
		{"empty", bare("POST /attempt HTTP/1.1", "Host:", "X-Resource: a"), "200 | open", "a"},
		{"name and port", bare("POST /attempt HTTP/1.1", "Host: levee.example.com:5454", "X-Resource: a"), "200 | open", "a"},
		{"IPv6 address", bare("POST /attempt HTTP/1.1", "Host: [::1]:5454", "X-Resource: a"), "200 | open", "a"},
		{"with a space", bare("POST /attempt HTTP/1.1", "Host: a b", "X-Resource: a"), invalid, ""},
		{"with a slash", bare("POST /attempt HTTP/1.1", "Host: a/b", "X-Resource: a"), invalid, ""},
		{"with a user", bare("POST /attempt HTTP/1.1", "Host: u@h", "X-Resource: a"), invalid, ""},
		{"not ASCII", bare("POST /attempt HTTP/1.1", "Host: é", "X-Resource: a"), invalid, ""},
		{"two in a list", bare("POST /attempt HTTP/1.1", "Host: a, b", "X-Resource: a"), invalid, ""},
	})
}

func TestFields(t *testing.T) {
	const noName = "400 field: a field has no name | closed"
	const badName = "400 field: a field's name has a character that names cannot have | closed"
	const badValue = "400 field: a field's value has a control character | closed"
	const folded = "400 field: a field is continued on a second line | closed"
	const lfAlone = "400 field: a line ends with LF alone | closed"
	try(t, []exchange{
		{"unknown ones", ask("Accept: */*", "User-Agent: x", "X-Resources: b"), "200 | open", "a"},
		{"an empty value", ask("X-Empty:"), "200 | open", "a"},
		{"any case", bare("POST /attempt HTTP/1.1", "hOST: h", "x-rESOURCE: a", "X-HITS: 2"), "200 | open", "a hits=2"},
		{"white space around values", ask("X-Prefix: \t p q \t ", "X-Method:GET"), "200 | open", "a prefix=p q method=GET"},
		{"no colon", ask("X-Prefix"), noName, ""},
		{"an empty name", ask(": x"), noName, ""},
		{"space before the colon", ask("X-Prefix : x"), badName, ""},
		{"tab before the colon", ask("X-Prefix\t: x"), badName, ""},
		{"space in the name", ask("X Prefix: x"), badName, ""},
		{"NUL in the name", ask("X\x00Prefix: x"), badName, ""},
		{"bare CR in the name", ask("X\rPrefix: x"), badName, ""},
		{"parenthesis in the name", ask("X(Prefix): x"), badName, ""},
		{"not ASCII in the name", ask("X-Préfix: x"), badName, ""},
		{"NUL in a value", ask("X-Prefix: a\x00b"), badValue, ""},
		{"NUL in an unknown value", ask("Accept: a\x00b"), badValue, ""},
		{"DEL in a value", ask("X-Prefix: a\x7fb"), badValue, ""},
		{"escape in a value", ask("X-Prefix: a\x1bb"), badValue, ""},
		{"bare CR in a value", ask("X-Prefix: a\rX-Hits: 0"), badValue, ""},
		{"bare CR before the line end", ask("X-Prefix: a\r"), badValue, ""},
		{"tab in a value", ask("X-Prefix: a\tb"), "200 | open", "a prefix=a\tb"},
		{"bare LF after a field", "POST /attempt HTTP/1.1\r\nHost: h\nX-Resource: a\r\n\r\n", lfAlone, ""},
		{"bare LF at the end", "POST /attempt HTTP/1.1\r\nHost: h\r\nX-Resource: a\r\n\n", lfAlone, ""},
		{"bare LF twice", "POST /attempt HTTP/1.1\r\nHost: h\r\nX-Resource: a\n\n", lfAlone, ""},
		{"CR CR LF at the end", "POST /attempt HTTP/1.1\r\nHost: h\r\nX-Resource: a\r\n\r\r\n\r\n", noName, ""},
		{"folded with a space", ask("X-Prefix: a", " b"), folded, ""},
		{"folded with a tab", ask("X-Prefix: a", "\tb"), folded, ""},
		{"folded to nothing", ask("X-Prefix: a", " "), folded, ""},
		{"a space before the first", bare("POST /attempt HTTP/1.1", " Host: h", "X-Resource: a"), folded, ""},
		{"no fields at all", bare("POST /attempt HTTP/1.1"), "400 host: Host is missing | closed", ""},
	})
}

func TestKeyParts(t *testing.T) {
	const none = "400 no_resource: X-Resource is missing or empty | open"
	longest := strings.Repeat("k", attempt.MaxKeyPart)
	try(t, []exchange{
		{"all", ask("X-Prefix: p/q", "X-Method: GET", "X-Hits: 7", "X-Req-Id: 42"), "200 | open", "a prefix=p/q method=GET hits=7 id=42"},
		{"rejected", bare("POST /attempt HTTP/1.1", "Host: h", "X-Resource: rejected"), "429 | open", "rejected"},
		{"failed", bare("POST /attempt HTTP/1.1", "Host: h", "X-Resource: failed"), "500 : the quotas are not loaded | open", "failed"},
		{"no resource", bare("POST /attempt HTTP/1.1", "Host: h"), none, ""},
		{"empty resource", bare("POST /attempt HTTP/1.1", "Host: h", "X-Resource:"), none, ""},
		{"a resource of white space", bare("POST /attempt HTTP/1.1", "Host: h", "X-Resource: \t "), none, ""},
		{"a resource of a no-break space", bare("POST /attempt HTTP/1.1", "Host: h", "X-Resource: \u00a0"), "200 | open", "\u00a0"},
		{"a resource in UTF-8", bare("POST /attempt HTTP/1.1", "Host: h", "X-Resource: фото/照片"), "200 | open", "фото/照片"},
		{"a resource of other octets", bare("POST /attempt HTTP/1.1", "Host: h", "X-Resource: \xff\xfe\x80"), "200 | open", "\xff\xfe\x80"},
		{"nothing is decoded", bare("POST /attempt HTTP/1.1", "Host: h", "X-Resource: a%2Fb, \"c\""), "200 | open", "a%2Fb, \"c\""},
		{"slashes around a prefix", ask("X-Prefix: //p//q/"), "200 | open", "a prefix=p//q"},
		{"a prefix of slashes", ask("X-Prefix: ///"), "200 | open", "a"},
		{"an empty prefix and method", ask("X-Prefix:", "X-Method:"), "200 | open", "a"},
		{"slashes around a method", ask("X-Method: /GET/"), "200 | open", "a method=/GET/"},
		{"resource twice", ask("X-Resource: a"), "400 repeated_field: X-Resource is given more than once | open", ""},
		{"prefix twice", ask("X-Prefix: p", "X-Prefix: p"), "400 repeated_field: X-Prefix is given more than once | open", ""},
		{"method twice", ask("X-Method:", "X-Method: GET"), "400 repeated_field: X-Method is given more than once | open", ""},
		{"hits twice", ask("X-Hits: 1", "x-hits: 1"), "400 repeated_field: X-Hits is given more than once | open", ""},
		{"trace id twice", ask("X-Req-Id: 1", "X-Req-Id: 2"), "200 | open", "a id=2"},
		{"longest resource", bare("POST /attempt HTTP/1.1", "Host: h", "X-Resource: "+longest), "200 | open", longest},
		{"resource too long", bare("POST /attempt HTTP/1.1", "Host: h", "X-Resource: k"+longest), "400 key_too_long: X-Resource is longer than 1024 bytes | open", ""},
		{"longest prefix", ask("X-Prefix: " + longest), "200 | open", "a prefix=" + longest},
		{"prefix too long", ask("X-Prefix: k" + longest), "400 key_too_long: X-Prefix is longer than 1024 bytes | open", ""},
		{"longest method", ask("X-Method: " + longest), "200 | open", "a method=" + longest},
		{"method too long", ask("X-Method: k" + longest), "400 key_too_long: X-Method is longer than 1024 bytes | open", ""},
		{"white space does not count", ask("X-Method: " + strings.Repeat(" ", 99) + longest + strings.Repeat("\t", 99)), "200 | open", "a method=" + longest},
		{"the first fault is told", ask("X-Hits: x", "X-Method: k"+longest), "400 hits: X-Hits is not | open", ""},
	})
}

func TestHits(t *testing.T) {
	const not = "400 hits: X-Hits is not a whole number from 0 to 1000000 | open"
	try(t, []exchange{
		{"peek", ask("X-Hits: 0"), "200 | open", "a hits=0"},
		{"one", ask("X-Hits: 1"), "200 | open", "a"},
		{"leading zeros", ask("X-Hits: 00000000000000000005"), "200 | open", "a hits=5"},
		{"most", ask("X-Hits: 1000000"), "200 | open", "a hits=1000000"},
		{"one too many", ask("X-Hits: 1000001"), not, ""},
		{"more than 32 bits hold", ask("X-Hits: 4294967297"), not, ""},
		{"more than 64 bits hold", ask("X-Hits: 18446744073709551617"), not, ""},
		{"empty", ask("X-Hits:"), not, ""},
		{"plus", ask("X-Hits: +1"), not, ""},
		{"minus", ask("X-Hits: -1"), not, ""},
		{"fraction", ask("X-Hits: 1.0"), not, ""},
		{"exponent", ask("X-Hits: 1e3"), not, ""},
		{"hexadecimal", ask("X-Hits: 0x10"), not, ""},
		{"underscore", ask("X-Hits: 1_000"), not, ""},
		{"list", ask("X-Hits: 1, 1"), not, ""},
		{"space within", ask("X-Hits: 1 0"), not, ""},
		{"other digits", ask("X-Hits: ٣"), not, ""},
	})
}
