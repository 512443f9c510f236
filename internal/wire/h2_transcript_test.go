package wire

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// dialogue is a row of the tables about HTTP/2: what a client sends on one
// connection, and what must come of it.
type dialogue struct {
	name string
	send func(w *script)
	// want is what the client receives, stream by stream, as transcript spells it.
	want string
	// asked is what the Decider is asked, in any order, separated by " | ".
	asked string
	// bad are the reasons counted, separated by " | ".
	bad string
	// cuts says that it matters what the server reads at once; it is then only
	// tried in one piece.
	cuts bool
}

// converse tries each dialogue with each kind of Decider, and in pieces: how the
// bytes are cut changes nothing.
func converse(t *testing.T, dialogues []dialogue) {
	t.Helper()
	for _, d := range dialogues {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			for _, kind := range []string{"alone", "batching", "tardy"} {
				for _, piece := range []int{1 << 20, 1, 7} {
					if d.cuts && piece < 1<<20 {
						continue
					}
					if err := d.run(t, kind, piece); err != nil {
						t.Errorf("%s, in pieces of %d: %v", kind, piece, err)
						return
					}
				}
			}
		})
	}
}

func (d *dialogue) run(t *testing.T, kind string, piece int) error {
	late := &tardy{recorder: &recorder{}}
	s := serve(t, func(o *Options) {
		switch kind {
		case "alone":
			o.Decider = late.recorder
		case "batching":
			o.Decider = batching{late.recorder}
		case "tardy":
			o.Decider = late
		}
	})
	w := newScript()
	d.send(w)
	sent := slices.Clone(w.sent.Bytes())
	w.sent.Reset()
	c := s.dialHTTP2(t, w)
	if len(sent) > longDialogue {
		piece = max(piece, len(sent)/100)
	}
	for i := 0; i < len(sent); i += piece {
		w.sent.Write(sent[i:min(i+piece, len(sent))])
		c.send(w)
	}
	c.settle()
	late.wg.Wait() // for nothing, or for all there are to come
	got := c.settle().transcript()
	if got != d.want {
		return fmt.Errorf("received\n\t%s\nwanted\n\t%s", got, d.want)
	}
	if asked := sorted(late.take()); asked != sorted(strings.Split(d.asked, " | ")) {
		return fmt.Errorf("asked %q, wanted %q", asked, d.asked)
	}
	var bad []string
	reasons, _ := s.told()
	for _, r := range reasons {
		bad = append(bad, r.String())
	}
	if got := strings.Join(bad, " | "); got != d.bad {
		return fmt.Errorf("counted as bad %q, wanted %q", got, d.bad)
	}
	return nil
}

// longDialogue is the length above which there are only so many pieces.
const longDialogue = 4000

func sorted(s []string) string {
	s = slices.Clone(s)
	slices.Sort(s)
	return strings.Join(s, " | ")
}

// The answers that the tables spell often.
const (
	accepted = "200 end"
	malform  = "RST PROTOCOL_ERROR"
	healthy  = `200, "all is well\n" end`
)
