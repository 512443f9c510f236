package hpack

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	oracle "golang.org/x/net/http2/hpack"
)

// client is how a client spells its requests.
type client struct {
	name   string
	fields []oracle.HeaderField // the same in every request
	plain  string               // the name of the field that is never put into the table
}

func constantFields(more ...oracle.HeaderField) []oracle.HeaderField {
	return append([]oracle.HeaderField{
		{Name: ":authority", Value: "127.0.0.1:5454"},
		{Name: ":method", Value: "POST"},
		{Name: ":path", Value: "/attempt"},
		{Name: ":scheme", Value: "http"},
		{Name: "x-prefix", Value: "albums"},
		{Name: "x-method", Value: "GET"},
	}, more...)
}

// clients are the ones met most, and a bare one that sends nothing beside the
// attempt. All of them use Huffman coding where it is shorter; libnghttp2 keeps
// :path out of the table, and curl is built on it.
var clients = []client{
	{name: "bare", fields: constantFields()},
	{name: "go", fields: constantFields(
		oracle.HeaderField{Name: "accept-encoding", Value: "gzip"},
		oracle.HeaderField{Name: "user-agent", Value: "Go-http-client/2.0"})},
	{name: "nghttp2", fields: constantFields(), plain: ":path"},
	{name: "curl", plain: ":path", fields: constantFields(
		oracle.HeaderField{Name: "user-agent", Value: "curl/8.14.1"},
		oracle.HeaderField{Name: "accept", Value: "*/*"})},
}

// session is the header blocks of one connection: each request has another
// resource and another id, unless same.
func (c client) session(requests int, same bool) [][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	var out bytes.Buffer
	enc := oracle.NewEncoder(&out)
	blocks := make([][]byte, requests)
	for i := range blocks {
		out.Reset()
		for _, f := range c.fields {
			if f.Name == c.plain {
				out.Write([]byte{0x04, 0x80 | byte(oracle.HuffmanEncodeLength(f.Value))})
				out.Write(oracle.AppendHuffmanString(nil, f.Value))
				continue
			}
			mustWrite(enc, f)
		}
		resource := "tenant-000123"
		if !same {
			resource = fmt.Sprintf("tenant-%06d", random.IntN(1e6))
			mustWrite(enc, oracle.HeaderField{Name: "x-req-id", Value: fmt.Sprintf("%016x", random.Uint64())})
		}
		mustWrite(enc, oracle.HeaderField{Name: "x-resource", Value: resource})
		blocks[i] = bytes.Clone(out.Bytes())
	}
	return blocks
}

func mustWrite(enc *oracle.Encoder, f oracle.HeaderField) {
	if err := enc.WriteField(f); err != nil {
		panic(err)
	}
}

// request is what a server keeps of the fields.
type request struct {
	post, path, good bool
	text             [256]byte
	resource         []byte
	prefix           []byte
	method           []byte
	id               []byte
}

func (r *request) field(name Name, _, value []byte, valid bool) {
	r.good = r.good && valid
	switch name {
	case Method:
		r.post = string(value) == "POST"
	case Path:
		r.path = string(value) == "/attempt"
	case XResource:
		r.resource = append(r.text[:0:64], value...)
	case XPrefix:
		r.prefix = append(r.text[64:64:128], value...)
	case XMethod:
		r.method = append(r.text[128:128:192], value...)
	case XReqID:
		r.id = append(r.text[192:192], value...)
	}
}

func (r *request) oracleField(f oracle.HeaderField) {
	switch f.Name {
	case ":method":
		r.post = f.Value == "POST"
	case ":path":
		r.path = f.Value == "/attempt"
	case "x-resource":
		r.resource = append(r.text[:0:64], f.Value...)
	case "x-prefix":
		r.prefix = append(r.text[64:64:128], f.Value...)
	case "x-method":
		r.method = append(r.text[128:128:192], f.Value...)
	case "x-req-id":
		r.id = append(r.text[192:192], f.Value...)
	}
}

func (r *request) check(b *testing.B) {
	if !r.post || !r.path || len(r.resource) != 13 || string(r.prefix) != "albums" || string(r.method) != "GET" {
		b.Fatalf("decoded to %+v", r)
	}
}

// BenchmarkDecode is one request of a busy connection.
func BenchmarkDecode(b *testing.B) {
	const requests = 1024
	for _, c := range clients {
		for _, same := range []bool{true, false} {
			blocks := c.session(requests, same)
			kind := map[bool]string{true: "same", false: "changing"}[same]
			b.Run(c.name+"/"+kind+"/levee", func(b *testing.B) { benchLevee(b, blocks) })
			b.Run(c.name+"/"+kind+"/oracle", func(b *testing.B) { benchOracle(b, blocks) })
		}
	}
}

func benchLevee(b *testing.B, blocks [][]byte) {
	var r request
	emit := r.field
	d := New()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i == len(blocks) {
			d.Reset()
			i = 0
		}
		r.good = true
		if err := d.Decode(blocks[i], 16<<10, emit); err != nil || !r.good {
			b.Fatal(err)
		}
	}
	r.check(b)
}

func benchOracle(b *testing.B, blocks [][]byte) {
	var r request
	d := oracle.NewDecoder(DefaultTableSize, r.oracleField)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i == len(blocks) {
			d = oracle.NewDecoder(DefaultTableSize, r.oracleField)
			i = 0
		}
		if _, err := d.Write(blocks[i]); err != nil {
			b.Fatal(err)
		}
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
	r.check(b)
}

// BenchmarkFirst is the first request of a connection: an empty table, and
// everything spelt out.
func BenchmarkFirst(b *testing.B) {
	block := clients[1].session(1, false)[0]
	b.Run("levee", func(b *testing.B) {
		var r request
		emit := r.field
		b.ReportAllocs()
		for b.Loop() {
			if err := New().Decode(block, 16<<10, emit); err != nil {
				b.Fatal(err)
			}
		}
		r.check(b)
	})
	b.Run("oracle", func(b *testing.B) {
		var r request
		b.ReportAllocs()
		for b.Loop() {
			d := oracle.NewDecoder(DefaultTableSize, r.oracleField)
			if _, err := d.Write(block); err != nil {
				b.Fatal(err)
			}
		}
		r.check(b)
	})
}
