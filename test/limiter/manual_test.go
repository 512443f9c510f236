package limiter

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

// The examples of the manual, as printed there.
const (
	manualHTTP1 = `curl -v --request POST http://<ХОСТ>:<ПОРТ>/attempt \
    -H 'X-Resource: <РЕСУРС>' \
    -H 'X-Prefix: <ПРЕФИКС>' \
    -H 'X-Method: <МЕТОД>' \
    -H 'X-Req-Id: <ID_ТРАССИРОВКИ>'`
	manualHTTP2 = `curl -v --http2-prior-knowledge --request POST http://<ХОСТ>:<ПОРТ>/attempt \
    -H 'X-Resource: <РЕСУРС>' \
    -H 'X-Prefix: <ПРЕФИКС>' \
    -H 'X-Method: <МЕТОД>' \
    -H 'X-Req-Id: <ID_ТРАССИРОВКИ>'`
)

var manualExamples = []struct{ name, command, proto string }{
	{"HTTP/1.1", manualHTTP1, "HTTP/1.1"},
	{"HTTP/2", manualHTTP2, "HTTP/2"},
}

// statusLine is how curl -v shows the answer's status. curl may have written how
// far it is, without an end of line, just before.
var statusLine = regexp.MustCompile(`< (HTTP/\S+) (\d{3})`)

// curl runs an example of the manual with its places filled in.
func curl(t *testing.T, command, addr, resource, id string) (proto, status, body string) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	command = strings.NewReplacer("<ХОСТ>", host, "<ПОРТ>", port, "<РЕСУРС>", resource,
		"<ПРЕФИКС>", "albums", "<МЕТОД>", "GET", "<ID_ТРАССИРОВКИ>", id).Replace(command)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, stderr.String())
	}
	m := statusLine.FindStringSubmatch(stderr.String())
	if m == nil {
		t.Fatalf("curl shows no answer:\n%s", stderr.String())
	}
	return m[1], m[2], stdout.String()
}

func TestManualExamples(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{
		ownSublimit("photos", "albums/GET"): fits(1),
		ownSublimit("videos", "albums/GET"): fits(1),
	}, "--verbose")
	for i, example := range manualExamples {
		resource := []string{"photos", "videos"}[i]
		for _, status := range []string{"200", "429"} {
			id := "trace-" + resource + status
			proto, got, body := curl(t, example.command, r.Addr, resource, id)
			if proto != example.proto || got != status || body != "" {
				t.Errorf("%s: got %s %s %q, want %s %s without a body", example.name, proto, got, body, example.proto, status)
			}
			r.WaitLog(t, 5*time.Second, "the request's X-Req-Id", func(l harness.Line) bool { return l.Mentions(id, resource) })
		}
	}
}

// Before the shared tree is loaded an attempt fails, and says why.
func TestManualExamplesBeforeTheTree(t *testing.T) {
	t.Parallel()
	l := harness.LaunchLimiter(t, harness.Command{Args: []string{"--storage-addrs=http://" + closedPort(t)}})
	for _, example := range manualExamples {
		proto, got, body := curl(t, example.command, l.Addr, "photos", "trace-1")
		if proto != example.proto || got != "500" || !isLine(body) {
			t.Errorf("%s: got %s %s %q, want %s 500 and a line", example.name, proto, got, body, example.proto)
		}
	}
	if n := l.Scrape(t).Sum("levee_attempts_total", "result", "failed"); n != float64(len(manualExamples)) {
		t.Errorf("%v attempts count as failed, want %d", n, len(manualExamples))
	}
}

// closedPort is an address at which nothing listens.
func closedPort(t testing.TB) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// isLine reports whether a body is one line of text.
func isLine(body string) bool {
	text, ended := strings.CutSuffix(body, "\n")
	return ended && strings.TrimSpace(text) != "" && !strings.ContainsAny(text, "\r\n\x00")
}
