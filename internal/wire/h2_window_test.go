package wire

import (
	"strings"
	"testing"

	xhttp2 "golang.org/x/net/http2"

	"github.com/levee-project/levee/internal/attempt"
)

// Texts wait for the windows of the stream and of the connection; answers to
// attempts have none.
func TestHTTP2Windows(t *testing.T) {
	initial := func(n uint32) xhttp2.Setting {
		return xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: n}
	}
	other := replaced(":path", "/")
	const text = "there is nothing here; ask POST /attempt\n"
	converse(t, []dialogue{
		{
			name: "none",
			send: func(w *script) {
				w.settings(initial(0))
				w.headers(1, true, other...)
				w.ask(3, "x-resource", "r")
				w.headers(5, true, replaced(":method", "HEAD", ":path", "/")...)
			},
			want: "1: 404 | 3: " + accepted + " | 5: 404 end", asked: "r", bad: "path | path",
		},
		{
			name: "opened by the setting",
			send: func(w *script) {
				w.settings(initial(0))
				w.headers(1, true, other...)
				w.headers(3, true, other...)
				w.settings(initial(5))
				w.settings(initial(4)) // the windows are now below zero
				w.settings(initial(8))
				w.settings(initial(1000))
			},
			want: `1: 404, "there", " is", " nothing here; ask POST /attempt\n" end | ` +
				`3: 404, "there", " is", " nothing here; ask POST /attempt\n" end`, bad: "path | path",
		},
		{
			name: "opened by the setting before the answer",
			send: func(w *script) {
				w.settings(initial(0))
				w.ask(1, "x-resource", "failed")
				w.settings(initial(1000))
				w.ask(3, "x-resource", "failed")
			},
			want: `1: 500, "the quotas are not loaded\n" end | 3: 500, "the quotas are not loaded\n" end`, asked: "failed | failed",
		},
		{
			name: "opened by updates",
			send: func(w *script) {
				w.settings(initial(2))
				w.headers(1, true, other...)
				w.headers(3, true, other...)
				w.update(3, 3)
				w.update(1, 1)
				w.update(1, uint32(len(text)-3))
			},
			want: `1: 404, "th", "e", "re is nothing here; ask POST /attempt\n" end | 3: 404, "th", "ere"`, bad: "path | path",
		},
		{
			name: "opened before the answer",
			send: func(w *script) {
				w.settings(initial(0))
				w.headers(1, false, other...)
				w.update(1, 1000)
				w.data(1, true, 1)
				w.head(3, "x-resource", "failed")
				w.update(3, 1000)
				w.data(3, true, 1)
				w.ask(5, "x-resource", "failed")
				w.update(5, 1000)
			},
			want: `1: 404, "there is nothing here; ask POST /attempt\n" end | 3: 500, "the quotas are not loaded\n" end | ` +
				`5: 500, "the quotas are not loaded\n" end`,
			asked: "failed | failed", bad: "path",
		},
		{
			name: "of nothing more",
			send: func(w *script) {
				w.settings(initial(0))
				w.headers(1, true, other...)
				w.update(1, 0)
				w.ask(3, "x-resource", "r")
			},
			want: "1: 404, RST PROTOCOL_ERROR | 3: " + accepted, asked: "r", bad: "path | h2_stream",
		},
		{
			name: "above 2^31-1 on a stream",
			send: func(w *script) {
				w.settings(initial(1))
				w.headers(1, true, other...)
				w.update(1, maxWindow)
				w.head(3)
				w.update(3, maxWindow)
				w.ask(5, "x-resource", "r")
			},
			want:  `1: 404, "t", "here is nothing here; ask POST /attempt\n" end | 3: RST FLOW_CONTROL_ERROR | 5: ` + accepted,
			asked: "r", bad: "path | h2_flow_control",
		},
		{
			name: "above 2^31-1 by the setting",
			send: func(w *script) {
				w.settings(initial(0))
				w.head(1)
				w.update(1, maxWindow)
				w.settings(initial(1))
			},
			want: "GOAWAY 1 FLOW_CONTROL_ERROR, closed", bad: "h2_flow_control",
		},
		{
			name: "of a stream that is reset",
			send: func(w *script) {
				w.settings(initial(0))
				w.headers(1, true, other...)
				w.headers(3, true, other...)
				w.reset(1)
				w.update(1, 1000)
				w.update(3, 1000)
			},
			want: `1: 404 | 3: 404, "there is nothing here; ask POST /attempt\n" end`, bad: "path | path",
		},
	})
}

// verbose is a Decider that fails with a long text.
type verbose struct{ text string }

func (v verbose) Attempt(int64, *attempt.Attempt, attempt.Later) (attempt.Outcome, bool) {
	return attempt.Outcome{Failure: v.text}, true
}

// A long text is cut into frames, and into what the connection's window allows.
func TestHTTP2WindowOfTheConnection(t *testing.T) {
	s := serve(t, func(o *Options) { o.Decider = verbose{strings.Repeat("x", 39999)} })
	w := newScript()
	for id := range uint32(3) {
		w.ask(2*id+1, "x-resource", "r")
	}
	c := s.dialHTTP2(t, w).settle()
	const whole = "500, 16384 bytes, 16384 bytes, 7232 bytes end"
	if got, want := c.transcript(), "1: "+whole+" | 3: 500, 16384 bytes, 9151 bytes | 5: 500"; got != want {
		t.Fatalf("received\n\t%s, want\n\t%s", got, want)
	}
	w.update(0, 20000)
	c.send(w)
	if got, want := c.settle().transcript(), "3: 14465 bytes end | 5: 5535 bytes"; got != want {
		t.Fatalf("received\n\t%s, want\n\t%s", got, want)
	}
	w.update(0, maxWindow)
	c.send(w)
	if got, want := c.settle().transcript(), "5: 16384 bytes, 16384 bytes, 1697 bytes end"; got != want {
		t.Fatalf("received\n\t%s, want\n\t%s", got, want)
	}
}
