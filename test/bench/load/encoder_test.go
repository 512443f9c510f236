package load

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"golang.org/x/net/http2/hpack"
)

// reference encodes the same questions with x/net's encoder.
type reference struct {
	out     bytes.Buffer
	encoder *hpack.Encoder
}

func newReference() *reference {
	r := &reference{}
	r.encoder = hpack.NewEncoder(&r.out)
	return r
}

func (r *reference) question(authority string, key int, id uint64) []byte {
	r.out.Reset()
	for _, f := range []hpack.HeaderField{
		{Name: ":method", Value: "POST"},
		{Name: ":scheme", Value: "http"},
		{Name: ":path", Value: "/attempt"},
		{Name: ":authority", Value: authority},
		{Name: "x-resource", Value: fmt.Sprintf("tenant-%06d", key)},
		{Name: "x-prefix", Value: "checkout-api"},
		{Name: "x-method", Value: "GET"},
		{Name: "x-req-id", Value: fmt.Sprintf("%016x", id)},
	} {
		_ = r.encoder.WriteField(f)
	}
	return r.out.Bytes()
}

// The encoder's octets are those of hpack.Encoder, also when keys come again
// while they are in the table, and when the server shrinks it.
func TestEncoderIsExact(t *testing.T) {
	t.Parallel()
	const authority = "127.0.0.1:5454"
	for _, keys := range []int{1, 20, 60, 100_000} {
		for _, table := range []uint32{defaultTable, 1000, 300, 53, 31, 0} {
			t.Run(fmt.Sprintf("%d keys, table of %d", keys, table), func(t *testing.T) {
				t.Parallel()
				want, e := newReference(), newEncoder(authority)
				random := rand.New(rand.NewPCG(uint64(keys), uint64(table)))
				for n := range 3000 {
					if n == 500 && table < defaultTable {
						e.limit(table)
						want.encoder.SetMaxDynamicTableSize(table)
					}
					key, id := random.IntN(keys), uint64(n)*0x9e3779b97f4a7c15
					got := e.question(nil, key, id)
					if reference := want.question(authority, key, id); !bytes.Equal(got, reference) {
						t.Fatalf("question %d:\n got %x\nwant %x", n, got, reference)
					}
				}
			})
		}
	}
}

// A table is never made larger than it was announced to be first.
func TestEncoderKeepsSmallTable(t *testing.T) {
	t.Parallel()
	e := newEncoder("host")
	e.limit(1 << 20)
	if e.update {
		t.Error("a larger table than the default was taken")
	}
	e.limit(100)
	e.limit(4096)
	if e.max != 100 {
		t.Errorf("the table has %d octets", e.max)
	}
}

func BenchmarkQuestion(b *testing.B) {
	e := newEncoder("127.0.0.1:5454")
	random := rand.New(rand.NewPCG(1, 2))
	var out []byte
	b.ReportAllocs()
	for n := range b.N {
		out = e.question(out[:0], random.IntN(100_000), uint64(n))
	}
}
