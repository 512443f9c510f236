package hpack

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	oracle "golang.org/x/net/http2/hpack"
)

// Every symbol, at every place relative to the window's refills, alone and with
// neighbours whose codes are short and long.
func TestHuffmanSymbols(t *testing.T) {
	for symbol := range 256 {
		for _, neighbour := range []string{"0", "x", "&", "<", "\n", "\xff"} {
			for n := range 20 {
				text := bytes.Repeat([]byte(neighbour), n)
				text = append(text, byte(symbol))
				text = append(text, neighbour[:n%2]...)
				got, ok := appendHuffman([]byte("before"), oracle.AppendHuffmanString(nil, string(text)))
				if !ok || string(got) != "before"+string(text) {
					t.Fatalf("%q decodes to %q, %v", text, got, ok)
				}
			}
		}
	}
}

// The sum of 2^-length over a prefix code that wastes nothing is 1, so a wrong
// length can hardly hide.
func TestHuffmanLengths(t *testing.T) {
	sum := 0
	for symbol, length := range huffmanLengths {
		sum += 1 << (longestCode - length)
		if symbol == endOfString {
			continue
		}
		// Eight symbols take as many bytes as one takes bits.
		if got := oracle.HuffmanEncodeLength(string(bytes.Repeat([]byte{byte(symbol)}, 8))); got != uint64(length) {
			t.Errorf("symbol %d has %d bits, want %d", symbol, length, got)
		}
	}
	if sum != 1<<longestCode {
		t.Errorf("codes fill %d of %d", sum, 1<<longestCode)
	}
}

// The room for what is decoded is taken from a bound on its length. The shortest
// codes reach it, and nothing is written beyond.
func TestHuffmanRoom(t *testing.T) {
	for n := range 200 {
		text := string(bytes.Repeat([]byte("0"), n))
		got, ok := appendHuffman(make([]byte, 0, n), oracle.AppendHuffmanString(nil, text))
		if !ok || string(got) != text {
			t.Fatalf("%d zeros decode to %d bytes, %v", n, len(got), ok)
		}
	}
}

// FuzzHuffman compares with the oracle on any input: equal, or both refuse.
func FuzzHuffman(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		text := make([]byte, n)
		for i := range text {
			text[i] = byte(random.Uint32())
		}
		f.Add(oracle.AppendHuffmanString(nil, string(text)))
		f.Add(text)
		f.Add(bytes.Repeat([]byte{0xff}, n))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		want, err := oracle.HuffmanDecodeToString(in)
		got, ok := appendHuffman(nil, in)
		if ok != (err == nil) {
			t.Fatalf("%x: decodes to %q, %v; want %q, %v", in, got, ok, want, err)
		}
		if ok && string(got) != want {
			t.Fatalf("%x: decodes to %q, want %q", in, got, want)
		}
	})
}

// BenchmarkHuffman is one string of 16 random hexadecimal digits.
func BenchmarkHuffman(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var coded [1024][]byte
	for i := range coded {
		coded[i] = oracle.AppendHuffmanString(nil, fmt.Sprintf("%016x", random.Uint64()))
	}
	out := make([]byte, 0, 64)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		got, ok := appendHuffman(out, coded[i%len(coded)])
		if !ok || len(got) != 16 {
			b.Fatal(got, ok)
		}
	}
}
