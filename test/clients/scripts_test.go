package clients

import (
	"strings"
	"testing"
)

func TestPython(t *testing.T) {
	s := serve(t)
	compare(t, run(t, "", "python3", "testdata/client.py", s.addr), `
plain 200 0 ''
body 200 0 ''
long body 200 0 ''
chunks 200 0 ''
latin 200 0 ''
rejected 429 0 ''
empty 400 31 'X-Resource is missing or empty\n'
hits 400 47 'X-Hits is not a whole number from 0 to 1000000\n'
head 405 28 ''
get 405 28 'attempts are made with POST\n'
elsewhere 404 41 'there is nothing here; ask POST /attempt\n'
health 200 6 'ready\n'
one connection True
too large 413 31 'the body is longer than 64 KiB\n'
closed True
again 200 0 ''
`)
	if n := s.decided("a"); n != 5 {
		t.Errorf("%d attempts were decided, want 5", n)
	}
	if n := s.decided("a/caf\xe9"); n != 1 {
		t.Errorf("%d attempts with a method in Latin-1, want 1", n)
	}
}

func TestNode(t *testing.T) {
	s := serve(t)
	compare(t, run(t, "", "node", "testdata/client.js", s.addr), `
plain 200 0 ""
body 200 0 ""
long body 200 0 ""
chunks 200 0 ""
expect may go on
expect 200 0 ""
rejected 429 0 ""
repeated 400 33 "X-Prefix is given more than once\n"
head 405 28 ""
put 405 28 "attempts are made with POST\n"
health 200 6 "ready\n"
sockets 1
many 400
`)
	if n := s.decided("a"); n != 405 {
		t.Errorf("%d attempts were decided, want 405", n)
	}
}

// compare compares what a client tells with what it should, line by line.
func compare(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Split(strings.TrimSpace(got), "\n"), strings.Split(strings.TrimSpace(want), "\n")
	for i := range max(len(g), len(w)) {
		switch {
		case i >= len(g):
			t.Errorf("line %d is missing: %s", i+1, w[i])
		case i >= len(w):
			t.Errorf("line %d is one too many: %s", i+1, g[i])
		case g[i] != w[i]:
			t.Errorf("line %d: %s\n   want: %s", i+1, g[i], w[i])
		}
	}
}
