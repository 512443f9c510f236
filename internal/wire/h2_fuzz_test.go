package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// FuzzHTTP2 sends anything after the preface. Whatever it is, the server answers
// with frames that a client understands, no stream more than once, and ends when
// the client does.
func FuzzHTTP2(f *testing.F) {
	for _, seed := range fuzzSeeds() {
		f.Add(seed)
	}
	late := &tardy{recorder: &recorder{}}
	s := serve(f, runningClock, func(o *Options) { o.Decider = late })
	f.Fuzz(func(t *testing.T, sent []byte) {
		c := s.dial(t)
		var received bytes.Buffer
		read := make(chan error, 1)
		go func() {
			_, err := io.Copy(&received, c)
			read <- err
		}()
		_, err := c.Write(append([]byte(preface), sent...))
		if err == nil {
			err = c.CloseWrite()
		}
		if err != nil && !isLost(err) {
			t.Fatal(err)
		}
		if err := <-read; err != nil && !isLost(err) {
			t.Fatalf("the server did not end: %v", err)
		}
		if err := understandable(&received); err != nil {
			t.Fatal(err)
		}
		s.awaitConnections(t, 0)
		late.wg.Wait()
		late.take()
		s.told()
	})
}

// understandable checks all that a server has sent on a connection.
func understandable(received io.Reader) error {
	framer := xhttp2.NewFramer(nil, received)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	ended := map[uint32]bool{}
	for first := true; ; first = false {
		f, err := framer.ReadFrame()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("a client does not understand it: %w (%w)", err, framer.ErrorDetail())
		}
		id := f.Header().StreamID
		switch f := f.(type) {
		case *xhttp2.SettingsFrame:
		case *xhttp2.MetaHeadersFrame:
			if ended[id] {
				return fmt.Errorf("stream %d is answered after its end", id)
			}
			if f.PseudoValue("status") == "" {
				return fmt.Errorf("stream %d is answered without a status", id)
			}
			ended[id] = f.StreamEnded()
		case *xhttp2.DataFrame:
			if end, begun := ended[id]; end || !begun {
				return fmt.Errorf("a text on stream %d before its fields, or after its end", id)
			}
			ended[id] = f.StreamEnded()
		default:
			if first {
				return fmt.Errorf("the first frame is %v", f)
			}
		}
	}
}

// fuzzSeeds are sessions as clients have them, and the shapes of known floods.
func fuzzSeeds() (seeds [][]byte) {
	add := func(build func(w *script)) {
		w := bareScript()
		w.settings()
		build(w)
		seeds = append(seeds, slices.Clone(w.sent.Bytes()))
	}
	add(func(w *script) {
		w.ask(1, "x-resource", "r", "x-prefix", "p", "x-method", "GET", "x-hits", "3", "x-req-id", "1")
		w.ask(3, "x-resource", "rejected", "x-prefix", "p")
		w.ask(5, "x-resource", "failed")
		w.headers(7, true, health...)
		w.headers(9, true, replaced(":method", "HEAD")...)
	})
	add(func(w *script) {
		w.head(1, "x-resource", "r", "content-length", "10", "expect", "100-continue")
		w.head(3, "x-resource", "s")
		w.data(1, false, 4)
		must(w.WriteDataPadded(3, false, []byte("abc"), make([]byte, 5)))
		w.data(1, true, 6)
		w.headers(3, true, "x", "y")
	})
	add(func(w *script) {
		w.settings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 5}, xhttp2.Setting{ID: xhttp2.SettingMaxFrameSize, Val: 1 << 20})
		w.headers(1, true, replaced(":path", "/")...)
		w.update(1, 3)
		w.settings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1})
		w.update(0, 100)
		w.settings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 100})
	})
	add(func(w *script) {
		block := w.fields(append(usual, "x-resource", "r")...)
		must(w.WriteHeaders(xhttp2.HeadersFrameParam{
			StreamID: 1, EndStream: true, BlockFragment: block[:9], PadLength: 3, Priority: xhttp2.PriorityParam{StreamDep: 3},
		}))
		must(w.WriteContinuation(1, false, block[9:12]))
		must(w.WriteContinuation(1, true, block[12:]))
		must(w.WriteGoAway(1, xhttp2.ErrCodeNo, []byte("bye")))
		must(w.WritePriority(3, xhttp2.PriorityParam{StreamDep: 1}))
		w.frame(0xee, 1, 1, "unknown")
	})
	add(func(w *script) {
		for id := uint32(1); id < 520; id += 2 {
			w.head(id, "x-resource", "r")
		}
		w.ask(601, "x-resource", "r", "x", string(make([]byte, 17000)))
	})
	for _, flood := range floods {
		add(func(w *script) {
			w.headers(1, true, health...)
			w.head(3, "x-resource", "r")
			for id := uint32(5); id < 100; id += 2 {
				flood.unit(w, id)
			}
		})
	}
	return seeds
}
