package gossip

import (
	"log"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := new(output)
		out := log.New(&lines{log: slog.New(slog.NewTextHandler(said, &slog.HandlerOptions{Level: slog.LevelDebug}))}, "", 0)
		last := func(line string) string {
			out.Print(line)
			all := strings.Split(strings.TrimSpace(said.String()), "\n")
			_, rest, _ := strings.Cut(all[len(all)-1], "level=")
			return rest
		}
		for _, c := range []struct{ line, want string }{
			{"[DEBUG] memberlist: Stream connection from=1.2.3.4:5", `DEBUG msg="memberlist: Stream connection from=1.2.3.4:5"`},
			{"[INFO] memberlist: Suspect a has failed, no acks received", `DEBUG msg="memberlist: Suspect a has failed, no acks received"`},
			{"[WARN] memberlist: handler queue full, dropping message (3) from=x", `WARN msg="memberlist: handler queue full, dropping message (3) from=x"`},
			{"[ERR] memberlist: Decrypt packet failed: no from=1.2.3.4:5", `WARN msg="memberlist: Decrypt packet failed: no from=1.2.3.4:5"`},
			{"[ERR] memberlist: Decrypt packet failed: no from=1.2.3.4:6", `DEBUG msg="memberlist: Decrypt packet failed: no from=1.2.3.4:6"`},
			{"[ERROR] memberlist: Failed to encrypt local state: x", `WARN msg="memberlist: Failed to encrypt local state: x"`},
			{"[ERR] memberlist: Failed to send gossip to 1.2.3.4: x", `DEBUG msg="memberlist: Failed to send gossip to 1.2.3.4: x"`},
			{"[ERR] memberlist: Push/Pull with a failed: x", `DEBUG msg="memberlist: Push/Pull with a failed: x"`},
			{"[WARN] memberlist: Got ping for unexpected node a", `DEBUG msg="memberlist: Got ping for unexpected node a"`},
			{"[ERR] Failed to shutdown transport: x", `WARN msg="memberlist: Failed to shutdown transport: x"`},
			{"Err: Could not set the deadline: x", `WARN msg="memberlist: Err: Could not set the deadline: x"`},
			{"x", `WARN msg="memberlist: x"`},
			{"", `WARN msg="memberlist: "`},
		} {
			if got := last(c.line); got != c.want {
				t.Errorf("%q becomes %s, want %s", c.line, got, c.want)
			}
		}
		const again = "[ERR] memberlist: Decrypt packet failed: again"
		for _, wait := range []struct {
			time.Duration
			want string
		}{{repeatAfter - time.Second, "DEBUG"}, {time.Second, "WARN"}, {time.Second, "DEBUG"}} {
			time.Sleep(wait.Duration) //nolint:forbidigo // the bubble's clock
			if got, _, _ := strings.Cut(last(again), " "); got != wait.want {
				t.Errorf("repeated after another %v at %s, want %s", wait.Duration, got, wait.want)
			}
		}
		for i := range 3 * maxBeginnings {
			out.Printf("[ERR] memberlist: fault%d", i)
		}
		l := out.Writer().(*lines)
		if len(l.last) > maxBeginnings {
			t.Errorf("%d beginnings are remembered", len(l.last))
		}
	})
}
