package wire

import (
	"strings"
	"testing"
)

// TestContentLength and TestTransferEncoding hold the shapes of request smuggling:
// two readers of one connection that disagree about where a request ends.
func TestContentLength(t *testing.T) {
	const not = "400 content_length: Content-Length is not one whole number | closed"
	body := func(value, body string) string { return ask("Content-Length:"+value) + body }
	try(t, []exchange{
		{"a body", body(" 5", "hello"), "200 | open", "a"},
		{"an empty body", body(" 0", ""), "200 | open", "a"},
		{"leading zeros", body(" 0000000000000000000000005", "hello"), "200 | open", "a"},
		{"white space around", body("\t 5 \t", "hello"), "200 | open", "a"},
		{"a body that looks like a request", body(" 25", "GET /x HTTP/1.1\r\nHost:\r\n\r\n"[:25]), "200 | open", "a"},
		{"a body with NUL, CR and LF", body(" 6", "\x00\r\n\n\r\n"), "200 | open", "a"},
		{"with GET", request("GET /healthz HTTP/1.1", "Content-Length: 5") + "hello", "healthy | open", ""},
		{"in 1.0", request("POST /attempt HTTP/1.0", "Content-Length: 5", "Connection: keep-alive") + "hello", "200 | open", "a"},
		{"none in 1.0: no body", request("POST /attempt HTTP/1.0", "Connection: keep-alive"), "200 | open", "a"},
		{"after a fault of the question", ask("X-Hits: x", "Content-Length: 5") + "hello", "400 hits: X-Hits | open", ""},
		{"twice, the same", ask("Content-Length: 5", "Content-Length: 5") + "hello", not, ""},
		{"twice, different", ask("Content-Length: 5", "Content-Length: 6") + "hello", not, ""},
		{"twice, one empty", ask("Content-Length:", "Content-Length: 5") + "hello", not, ""},
		{"a list of equals", body(" 5, 5", "hello"), not, ""},
		{"a list of different ones", body(" 5,6", "hello"), not, ""},
		{"a list that ends with a comma", body(" 5,", "hello"), not, ""},
		{"empty", body("", "hello"), not, ""},
		{"plus", body(" +5", "hello"), not, ""},
		{"minus", body(" -5", "hello"), not, ""},
		{"hexadecimal", body(" 0x5", "hello"), not, ""},
		{"hexadecimal digit", body(" a", "hello"), not, ""},
		{"fraction", body(" 5.0", "hello"), not, ""},
		{"two numbers", body(" 5 5", "hello"), not, ""},
		{"quoted", body(" \"5\"", "hello"), not, ""},
		{"vertical tab", body(" \x0b5", "hello"), "400 field: a field's value has a control character | closed", ""},
		{"form feed after", body(" 5\x0c", "hello"), "400 field: a field's value has a control character | closed", ""},
		{"no-break space", body(" \u00a05", "hello"), not, ""},
		{"space before the colon", ask("Content-Length : 5") + "hello", "400 field: a field's name | closed", ""},
		{"folded", ask("Content-Length:", " 5") + "hello", "400 field: a field is continued | closed", ""},
		{"one more than 64 bits hold", body(" 18446744073709551621", "hello"), "413 body_too_large: the body is longer than 64 KiB | closed", ""},
	})
}

func TestTransferEncoding(t *testing.T) {
	const both = "400 transfer_encoding: both Content-Length and Transfer-Encoding are given | closed"
	const other = "501 transfer_encoding: the only transfer coding understood here is chunked | closed"
	const twice = "400 transfer_encoding: Transfer-Encoding is given more than once | closed"
	const badName = "400 field: a field's name has a character | closed"
	const badValue = "400 field: a field's value has a control character | closed"
	const chunk = "5\r\nhello\r\n0\r\n\r\n"
	coded := func(fields ...string) string { return ask(fields...) + chunk }
	try(t, []exchange{
		{"chunked", coded("Transfer-Encoding: chunked"), "200 | open", "a"},
		{"in any case", coded("tRANSFER-eNCODING: CHUNked"), "200 | open", "a"},
		{"white space around", coded("Transfer-Encoding: \t chunked \t "), "200 | open", "a"},
		{"CL.TE", coded("Content-Length: 15", "Transfer-Encoding: chunked"), both, ""},
		{"TE.CL", coded("Transfer-Encoding: chunked", "Content-Length: 3"), both, ""},
		{"with a length of 0", coded("Transfer-Encoding: chunked", "Content-Length: 0"), both, ""},
		{"with a broken length", coded("Transfer-Encoding: chunked", "Content-Length: x"), "400 content_length: Content-Length is not | closed", ""},
		{"twice", coded("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), twice, ""},
		{"twice, the second unknown", coded("Transfer-Encoding: chunked", "Transfer-Encoding: x"), twice, ""},
		{"twice, the first unknown", coded("Transfer-Encoding: x", "Transfer-Encoding: chunked"), twice, ""},
		{"a list of two", coded("Transfer-Encoding: gzip, chunked"), other, ""},
		{"chunked twice in a list", coded("Transfer-Encoding: chunked, chunked"), other, ""},
		{"a list with an empty member", coded("Transfer-Encoding: , chunked"), other, ""},
		{"chunked is not last", coded("Transfer-Encoding: chunked, identity"), other, ""},
		{"identity", coded("Transfer-Encoding: identity"), other, ""},
		{"gzip", coded("Transfer-Encoding: gzip"), other, ""},
		{"empty", coded("Transfer-Encoding:"), other, ""},
		{"unknown", coded("Transfer-Encoding: xchunked"), other, ""},
		{"a part of the word", coded("Transfer-Encoding: chunke"), other, ""},
		{"with a parameter", coded("Transfer-Encoding: chunked;q=1"), other, ""},
		{"quoted", coded("Transfer-Encoding: \"chunked\""), other, ""},
		{"behind a no-break space", coded("Transfer-Encoding: \u00a0chunked"), other, ""},
		{"with a letter like a k", coded("Transfer-Encoding: chun\u212aed"), other, ""},
		{"behind a vertical tab", coded("Transfer-Encoding: \x0bchunked"), badValue, ""},
		{"behind a bare CR", coded("Transfer-Encoding: \rchunked"), badValue, ""},
		{"before NUL", coded("Transfer-Encoding: chunked\x00"), badValue, ""},
		{"space before the colon", coded("Transfer-Encoding : chunked"), badName, ""},
		{"tab before the colon", coded("Transfer-Encoding\t: chunked"), badName, ""},
		{"NUL in the name", coded("Transfer\x00-Encoding: chunked"), badName, ""},
		{"space before the name", coded(" Transfer-Encoding: chunked"), "400 field: a field is continued | closed", ""},
		{"folded value", coded("Transfer-Encoding:", " chunked"), "400 field: a field is continued | closed", ""},
		{"behind a bare LF", coded("X-Y: z\nTransfer-Encoding: chunked"), "400 field: a line ends with LF alone | closed", ""},
		{"behind a bare CR in another field", coded("X-Y: z\rTransfer-Encoding: chunked"), badValue, ""},
		{"another name", ask("Transfer_Encoding: chunked"), "200 | open", "a"},
		{"in 1.0", request("POST /attempt HTTP/1.0", "Transfer-Encoding: chunked", "Connection: keep-alive") + chunk, "400 transfer_encoding: HTTP/1.0 has no Transfer-Encoding | closed", ""},
		{"with GET", request("GET /healthz HTTP/1.1", "Transfer-Encoding: chunked") + chunk, "healthy | open", ""},
		{"TE is another field", ask("TE: chunked"), "200 | open", "a"},
	})
}

func TestChunks(t *testing.T) {
	const lfAlone = "400 chunk: a line of the chunked body ends with LF alone | closed"
	const noNumber = "400 chunk: a chunk's size is not a hexadecimal number | closed"
	const noSize = "400 chunk: a chunk has no size | closed"
	const noEnd = "400 chunk: a chunk is not followed by a line end | closed"
	const control = "400 chunk: a chunk extension has a control character | closed"
	chunked := func(body string) string { return ask("Transfer-Encoding: chunked") + body }
	try(t, []exchange{
		{"none", chunked("0\r\n\r\n"), "200 | open", "a"},
		{"some", chunked("1\r\nx\r\n2\r\nxy\r\n0\r\n\r\n"), "200 | open", "a"},
		{"both cases of digits", chunked("a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n"), "200 | open", "a"},
		{"leading zeros", chunked("0000000000000005\r\nhello\r\n0000\r\n\r\n"), "200 | open", "a"},
		{"too many digits", chunked("00000000000000005\r\nhello\r\n0\r\n\r\n"), "400 chunk: a chunk's size has too many digits | closed", ""},
		{"content that looks like a last chunk", chunked("7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n"), "200 | open", "a"},
		{"content of LF", chunked("2\r\n\n\n\r\n0\r\n\r\n"), "200 | open", "a"},
		{"size more than 64 bits hold", chunked("fffffffffffffffff\r\n"), "413 body_too_large: the body | closed", ""},
		{"size that wraps around to a small one", chunked("10000000000000005\r\nhello\r\n0\r\n\r\n"), "413 body_too_large: the body | closed", ""},
		{"no size", chunked("\r\nhello\r\n0\r\n\r\n"), noSize, ""},
		{"only an extension", chunked(";x\r\nhello\r\n0\r\n\r\n"), noSize, ""},
		{"prefix 0x", chunked("0x5\r\nhello\r\n0\r\n\r\n"), noNumber, ""},
		{"plus", chunked("+5\r\nhello\r\n0\r\n\r\n"), noNumber, ""},
		{"minus", chunked("-5\r\nhello\r\n0\r\n\r\n"), noNumber, ""},
		{"letter", chunked("g\r\nhello\r\n0\r\n\r\n"), noNumber, ""},
		{"underscore", chunked("1_0\r\nhello\r\n0\r\n\r\n"), noNumber, ""},
		{"space before the size", chunked(" 5\r\nhello\r\n0\r\n\r\n"), noNumber, ""},
		{"space after the size", chunked("5 \r\nhello\r\n0\r\n\r\n"), noNumber, ""},
		{"tab after the size", chunked("5\t\r\nhello\r\n0\r\n\r\n"), noNumber, ""},
		{"space before an extension", chunked("5 ;x\r\nhello\r\n0\r\n\r\n"), noNumber, ""},
		{"bare CR in the size", chunked("5\r5\r\nhello\r\n0\r\n\r\n"), noNumber, ""},
		{"NUL after the size", chunked("5\x00\r\nhello\r\n0\r\n\r\n"), noNumber, ""},
		{"bare LF after the size", chunked("5\nhello\r\n0\r\n\r\n"), lfAlone, ""},
		{"bare LF after the last size", chunked("5\r\nhello\r\n0\n\r\n"), lfAlone, ""},
		{"bare LF after the content", chunked("5\r\nhello\n0\r\n\r\n"), noEnd, ""},
		{"bare CR after the content", chunked("5\r\nhello\r0\r\n\r\n"), noEnd, ""},
		{"nothing after the content", chunked("5\r\nhello0\r\n\r\n"), noEnd, ""},
		{"size too small", chunked("4\r\nhello\r\n0\r\n\r\n"), noEnd, ""},
		{"size too large", chunked("6\r\nhello\r\n0\r\n\r\n"), noEnd, ""},
		{"size too large by the line end", chunked("7\r\nhello\r\n0\r\n\r\n"), noEnd, ""},
		{"extensions", chunked("5;x\r\nhello\r\n0;y=1;z=\"a;b\"\r\n\r\n"), "200 | open", "a"},
		{"an empty extension", chunked("5;\r\nhello\r\n0;\r\n\r\n"), "200 | open", "a"},
		{"extension with a tab", chunked("5;\tx\r\nhello\r\n0\r\n\r\n"), "200 | open", "a"},
		{"extension with bare CR", chunked("5;x\r\r\nhello\r\n0\r\n\r\n"), control, ""},
		{"extension with bare CR and a size", chunked("5;x\r0\r\nhello\r\n0\r\n\r\n"), control, ""},
		{"extension with NUL", chunked("5;\x00\r\nhello\r\n0\r\n\r\n"), control, ""},
		{"extension with bare LF", chunked("5;x\nhello\r\n0\r\n\r\n"), lfAlone, ""},
		{"extension with bare LF in quotes", chunked("5;x=\"\n\"\r\nhello\r\n0\r\n\r\n"), lfAlone, ""},
		{"a fault after good chunks", chunked("5\r\nhello\r\n5\r\nhello\r\nx\r\n"), noNumber, ""},
		{"a fault of the question", ask("X-Hits: x", "Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n", "400 hits: X-Hits | open", ""},
	})
}

func TestTrailers(t *testing.T) {
	trailed := func(fields ...string) string {
		return ask("Transfer-Encoding: chunked", "Trailer: X-Prefix") + "5\r\nhello\r\n0\r\n" + bare(fields...)
	}
	try(t, []exchange{
		{"ignored", trailed("X-Foo: bar", "Expires: never"), "200 | open", "a"},
		{"never supply a key", trailed("X-Resource: b", "X-Prefix: p", "X-Method: m", "X-Hits: 0", "X-Req-Id: 1"), "200 | open", "a"},
		{
			"never supply the resource",
			bare("POST /attempt HTTP/1.1", "Host: h", "Transfer-Encoding: chunked") + "0\r\n" + bare("X-Resource: b"),
			"400 no_resource: X-Resource is missing | open", "",
		},
		{"never end the connection", trailed("Connection: close"), "200 | open", "a"},
		{"never say a length", trailed("Content-Length: 5", "Transfer-Encoding: chunked"), "200 | open", "a"},
		{"no colon", trailed("X-Foo"), "400 field: a field has no name | closed", ""},
		{"space before the colon", trailed("X-Foo : bar"), "400 field: a field's name | closed", ""},
		{"folded", trailed("X-Foo: bar", " baz"), "400 field: a field is continued | closed", ""},
		{"NUL", trailed("X-Foo: \x00"), "400 field: a field's value | closed", ""},
		{"bare CR", trailed("X-Foo: a\rb"), "400 field: a field's value | closed", ""},
		{"bare LF", trailed("X-Foo: a\nX-Bar: b"), "400 chunk: a line of the chunked body ends with LF alone | closed", ""},
		{"bare LF at the end", ask("Transfer-Encoding: chunked") + "0\r\n\n", "400 chunk: a line of the chunked body ends with LF alone | closed", ""},
		{"CR CR LF at the end", ask("Transfer-Encoding: chunked") + "0\r\n\r\r\n\r\n", "400 field: a field has no name | closed", ""},
	})
}

// TestBounds holds each bound exactly, and passed by one byte.
func TestBounds(t *testing.T) {
	const header = "431 header_too_large: the request line and fields are longer than 16 KiB | closed"
	const extensions = "431 header_too_large: the chunk extensions are longer than 16 KiB | closed"
	const trailers = "431 header_too_large: the trailers are longer than 16 KiB | closed"
	const body = "413 body_too_large: the body is longer than 64 KiB | closed"
	sized := func(line string, size int) string { // a request of size bytes
		fixed := request(line, "X-Fill: ")
		return request(line, "X-Fill: "+strings.Repeat("f", size-len(fixed)))
	}
	chunked := func(parts ...string) string {
		return ask("Transfer-Encoding: chunked") + strings.Join(parts, "")
	}
	of := strings.Repeat
	many := of("GET / HTTP/1.1\r\nHost: h\r\n\r\n", 1000)
	try(t, []exchange{
		{"longest header", sized("POST /attempt HTTP/1.1", MaxHeader), "200 | open", "a"},
		{"header one byte longer", sized("POST /attempt HTTP/1.1", MaxHeader+1), header, ""},
		{"header of twice the bound", sized("POST /attempt HTTP/1.1", 2*MaxHeader), header, ""},
		{"longest header with an empty line before it", "\r\n" + sized("POST /attempt HTTP/1.1", MaxHeader-2), "200 | open", "a"},
		{"longest target", sized("POST /attempt?"+of("q", MaxHeader-80)+" HTTP/1.1", MaxHeader), "200 | open", "a"},
		{"a line that does not end", of("a", MaxHeader+1), header, ""},
		{"a field that does not end", "POST /attempt HTTP/1.1\r\nX: " + of("a", MaxHeader), header, ""},
		{"many short fields", "POST /attempt HTTP/1.1\r\n" + of("X: y\r\n", MaxHeader/6), header, ""},
		{"LF alone beyond the bound", "POST /attempt HTTP/1.1\r\nX: " + of("a", MaxHeader) + "\n\n", header, ""},
		{"a header of another request does not count", ask() + sized("POST /attempt HTTP/1.1", MaxHeader), "200 | 200 | open", "a | a"},
		{"longest body", ask("Content-Length: 65536") + of("b", MaxBody), "200 | open", "a"},
		{"body one byte longer", ask("Content-Length: 65537"), body, ""},
		{"longest header and body", sized("POST /attempt HTTP/1.1\r\nContent-Length: 65536", MaxHeader) + of("b", MaxBody), "200 | open", "a"},
		{"one chunk of the longest body", chunked("10000\r\n", of("b", MaxBody), "\r\n0\r\n\r\n"), "200 | open", "a"},
		{"one chunk too large", chunked("10001\r\n"), body, ""},
		{"chunks of the longest body", chunked(of("800\r\n"+of("b", 2048)+"\r\n", 32), "0\r\n\r\n"), "200 | open", "a"},
		{"chunks too large together", chunked(of("800\r\n"+of("b", 2048)+"\r\n", 32), "1\r\n"), body, ""},
		{"longest extension", chunked("1;", of("e", MaxHeader-1), "\r\nb\r\n0\r\n\r\n"), "200 | open", "a"},
		{"longest extension after the longest size", chunked("0000000000000001;", of("e", MaxHeader-1), "\r\nb\r\n0\r\n\r\n"), "200 | open", "a"},
		{"extension one byte longer", chunked("1;", of("e", MaxHeader), "\r\n"), extensions, ""},
		{"extension that does not end", chunked("1;", of("e", 2*MaxHeader)), extensions, ""},
		{"longest extensions in sum", chunked(of("1;"+of("e", 1023)+"\r\nb\r\n", 16), "0\r\n\r\n"), "200 | open", "a"},
		{"extensions too long in sum", chunked(of("1;"+of("e", 1023)+"\r\nb\r\n", 16), "0;\r\n"), extensions, ""},
		{"size of more zeros than a line holds", chunked(of("0", MaxHeader+100), "\r\n\r\n"), extensions, ""},
		{"size of very many zeros", chunked(of("0", 2*MaxHeader)), extensions, ""},
		{"size of many zeros", chunked(of("0", MaxHeader-100), "\r\n\r\n"), "400 chunk: a chunk's size has too many digits | closed", ""},
		{"longest trailer", chunked("0\r\nX: ", of("t", MaxHeader-5), "\r\n\r\n"), "200 | open", "a"},
		{"trailer one byte longer", chunked("0\r\nX: ", of("t", MaxHeader-4), "\r\n\r\n"), trailers, ""},
		{"trailer that does not end", chunked("0\r\nX: ", of("t", 2*MaxHeader)), trailers, ""},
		{"longest trailers in sum", chunked("0\r\n", of("X: "+of("t", 1019)+"\r\n", 16), "\r\n"), "200 | open", "a"},
		{"trailers too long in sum", chunked("0\r\n", of("X: "+of("t", 1019)+"\r\n", 16), "X:\r\n\r\n"), trailers, ""},
		{"very many requests at once", many, of("404 path: there | ", 1000) + "open", ""},
	})
}
