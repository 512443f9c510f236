package ctl

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/levee-project/levee/internal/adminapi"
)

func TestTopTable(t *testing.T) {
	l := look{Daemons: []string{"a", "b", "c", "d"}, Top: &adminapi.Top{
		HalfLife: 60, Seconds: 10, AttemptsTotal: 123_456_780,
		Attempts: []adminapi.Key{
			{Resource: "photos", Method: "GET", Level: "method", Count: 98_765_432.1, Error: 55},
			{Resource: "a b\x1b[2J", Prefix: "p", Level: "full", Count: 1234},
			{Resource: "long", Digest: "00ff", Level: "resource", Count: 15, Error: 3},
			{Resource: "r", Level: "none", Count: 1},
		},
	}}
	p := &top{}
	const want = `attempts: 12,345,678/s at 4 limiters, half-life 60 s

RATE/S     ±      SHARE   LEVEL     RESOURCE      PREFIX  METHOD
9,876,543  5.50   80.0 %  method    photos                GET
123        0      0.0 %   full      "a b\x1b[2J"  p
1.50       0.300  0.0 %   resource  long~00ff
0.100      0      0.0 %   none      r
`
	if got := string(p.frame(&l, nil)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	l.rejections, l.Faults = true, []string{"limiter-2 is away"}
	if got := string(p.frame(&l, nil)); !strings.HasPrefix(got, "limiter-2 is away\nrejections: 0/s") || !strings.HasSuffix(got, "\nnone\n") {
		t.Errorf("got\n%s", got)
	}
}

// terminal returns the two ends of one.
func terminal(t *testing.T, rows, columns uint16) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	fd := int(person.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}); err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	if err := person.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Log(err) // then the test's own deadline has to do
	}
	return person, program
}

// On a terminal each table takes the place of the last, and no line is longer than
// a row.
func TestScreenOnATerminal(t *testing.T) {
	person, program := terminal(t, 4, 10)
	s := newScreen(program)
	if s.terminal == nil {
		t.Fatal("the terminal is not seen as one")
	}
	for _, text := range []string{"first\nlonger than a row\nthird\nfourth\n", "±±±±±±±±±±±±\n"} {
		if err := s.show([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	want := "\x1b[2J\x1b[Hfirst\x1b[K\r\nlonger tha\x1b[K\r\nthird\x1b[K\r\n\x1b[J" +
		"\x1b[H±±±±±±±±±±\x1b[K\r\n\x1b[J"
	// The terminal makes "\r\n" of each "\n".
	want = strings.ReplaceAll(want, "\r\n", "\r\r\n")
	got := make([]byte, len(want))
	for n, r := 0, bufio.NewReader(person); n < len(got); {
		more, err := r.Read(got[n:])
		if err != nil {
			t.Fatal(err)
		}
		n += more
	}
	if string(got) != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

// Elsewhere one comes after the other.
func TestScreenInAFile(t *testing.T) {
	var b bytes.Buffer
	s := newScreen(&b)
	for range 2 {
		if err := s.show([]byte("table\n")); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.String(); got != "table\n\ntable\n" {
		t.Errorf("%q", got)
	}
}

// With a storage file it is the limiter on this host that is asked, whether there is
// one or not.
func TestTopOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "storage.yaml")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := run(t.Context(), []string{"--config=", "--storage-addrs=file://" + path, "top", "--once"}, nil, strings.NewReader(""), &out, io.Discard)
	if text := fmt.Sprint(err, &out); !strings.Contains(text, "127.0.0.1:9454") {
		t.Errorf("%s", text)
	}
}

// A limiter that cannot be asked is named, and is no reason not to show the others.
func TestTopNamesWhoIsMissing(t *testing.T) {
	s := httptest.NewServer(adminapi.Page(func() adminapi.Top { return adminapi.Top{AttemptsTotal: 5} }))
	defer s.Close()
	p := &top{client: adminapi.NewClient()}
	defer p.client.Close()
	tops, faults := p.ask(t.Context(), []source{
		{name: "l-1", addr: netip.MustParseAddrPort(s.Listener.Addr().String())},
		{name: "l-2", why: "it has no admin port"},
		{name: "l-3", addr: netip.MustParseAddrPort("127.0.0.1:1")},
	})
	if faults[0] != nil || tops[0].AttemptsTotal != 5 || reason(faults[1]) != "it has no admin port" || reason(faults[2]) != "connect: connection refused" {
		t.Errorf("%v, %v", tops, faults)
	}
}
