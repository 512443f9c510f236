package load

import (
	"bytes"
	"fmt"
	"testing"

	"golang.org/x/net/http2/hpack"
)

// block encodes fields, name and value in turn.
func block(e *hpack.Encoder, out *bytes.Buffer, sensitive bool, fields ...string) []byte {
	out.Reset()
	for i := 0; i < len(fields); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1], Sensitive: sensitive})
	}
	return bytes.Clone(out.Bytes())
}

// Statuses are right whatever goes through the table between them.
func TestStatusDecoder(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	e := hpack.NewEncoder(&out)
	d := newStatusDecoder()
	for round := range 300 {
		for _, c := range []struct {
			status    string
			sensitive bool
		}{{"200", false}, {"200", false}, {"429", false}, {"200", true}, {"200", true}, {"429", true}, {"204", false}} {
			fields := []string{":status", c.status, "date", fmt.Sprint("Mon ", round/3), "content-length", "0"}
			got, err := d.decode(block(e, &out, c.sensitive, fields...))
			if err != nil || fmt.Sprint(got) != c.status {
				t.Fatalf("round %d: got %d, %v, want %s", round, got, err, c.status)
			}
		}
	}
}

func TestStatusDecoderRefuses(t *testing.T) {
	t.Parallel()
	for name, in := range map[string][]byte{
		"nothing":             nil,
		"index out of table":  {0xff, 0x7f},
		"text cut short":      {0x48, 0x03, '2'},
		"no number":           {0x48, 0x03, 'a', 'b', 'c'},
		"not a status at all": {0x48, 0x03, '9', '9', '9'},
	} {
		if status, err := newStatusDecoder().decode(in); err == nil {
			t.Errorf("%s: read as %d", name, status)
		}
	}
}

func TestChangesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		block []byte
		want  bool
	}{
		{"indexed", []byte{0x88, 0xbe}, true},
		{"indexed far", []byte{0xff, 0x80, 0x01, 0x88}, true},
		{"not inserted", []byte{0x88, 0x0f, 0x0d, 0x01, '0'}, true},
		{"not inserted, name spelled", []byte{0x00, 0x01, 'a', 0x01, 'b'}, true},
		{"never to be inserted", []byte{0x10, 0x01, 'a', 0x01, 'b'}, true},
		{"inserted", []byte{0x88, 0x5c, 0x01, '0'}, false},
		{"inserted behind a text that looks harmless", []byte{0x00, 0x01, 0x88, 0x01, 0x88, 0x40, 0x01, 'a', 0x01, 'b'}, false},
		{"resized", []byte{0x20, 0x88}, false},
	} {
		if got := changesNothing(c.block); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// No octets make the decoder panic.
func FuzzStatusDecoder(f *testing.F) {
	f.Add([]byte{0x88, 0x0f, 0x0d, 0x01, '0'}, []byte{0x48, 0x03, '2', '0', '0'})
	f.Add([]byte{0xff, 0x80, 0x80}, []byte{0x00, 0x7f})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		d := newStatusDecoder()
		for _, in := range [][]byte{first, second, second} {
			status, err := d.decode(in)
			if err != nil {
				return
			}
			if status > 599 {
				t.Errorf("status %d", status)
			}
		}
	})
}
