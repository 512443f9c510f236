package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	wire "github.com/levee-project/levee/internal/wire"
)

// told is what curl is to print of each transfer: the status, the version that
// was spoken, the connections that were opened for it, and the bytes of body
// that were sent, with the frame of a chunk.
const told = "%{http_code} %{http_version} %{num_connects} %{size_upload}\n"

// file writes a file of so many bytes.
func file(t *testing.T, size int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(name, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestCurl(t *testing.T) {
	small, large := file(t, 60_000), file(t, 3_000_000)
	const url = "http://SERVER/attempt"
	tests := []struct {
		name, args, want string
	}{
		{"once", "-X POST " + url, "200 1.1 1 0"},
		{"twice on a connection", "-X POST " + url + " " + url, "200 1.1 1 0, 200 1.1 0 0"},
		{"1.0 twice", "-0 -X POST " + url + " " + url, "200 1.1 1 0, 200 1.1 1 0"},
		{"1.0 keep-alive twice", "-0 -H Connection:keep-alive -X POST " + url + " " + url, "200 1.1 1 0, 200 1.1 0 0"},
		{"close twice", "-H Connection:close -X POST " + url + " " + url, "200 1.1 1 0, 200 1.1 1 0"},
		{"upgrade to HTTP/2 is not taken", "--http2 -X POST " + url + " " + url, "200 1.1 1 0, 200 1.1 0 0"},
		{"a proxy's target", "-X POST --proxy http://SERVER http://example.com/attempt", "200 1.1 1 0"},
		{"query", "-X POST " + url + "?a=b", "200 1.1 1 0"},
		{"form", "-d a=b " + url + " " + url, "200 1.1 1 3, 200 1.1 0 3"},
		{"body", "--data-binary @" + small + " " + url + " " + url, "200 1.1 1 60000, 200 1.1 0 60000"},
		{"body that waits for leave", "-H Expect:100-continue --data-binary @" + small + " " + url + " " + url, "200 1.1 1 60000, 200 1.1 0 60000"},
		{"body with 1.0", "-0 --data-binary @" + small + " " + url, "200 1.1 1 60000"},
		{"chunks", "-H Transfer-Encoding:chunked -H Expect: --data-binary @" + small + " " + url + " " + url, "200 1.1 1 60013, 200 1.1 0 60013"},
		{"chunks that wait for leave", "-H Transfer-Encoding:chunked -H Expect:100-continue --data-binary @" + small + " " + url, "200 1.1 1 60013"},
		// curl asks for leave by itself above 1 MB; it is refused before anything is sent.
		{"a large body that waits for leave", "--data-binary @" + large + " " + url, "413 1.1 1 0"},
		{"GET", url, "405 1.1 1 0"},
		{"HEAD", "-I " + url + " " + url, "405 1.1 1 0, 405 1.1 0 0"},
		{"health", "http://SERVER/healthz", "200 1.1 1 0"},
		{"another path", "-X POST http://SERVER/ " + url, "404 1.1 1 0, 200 1.1 0 0"},
		{"rejected", "-X POST -H X-Resource:rejected " + url, "429 1.1 1 0"},
		{"an empty resource", "-X POST -H X-Resource; " + url + " " + url, "400 1.1 1 0, 400 1.1 0 0"},
		{"two", "-X POST -H X-Resource:a -H X-Resource:b " + url, "400 1.1 1 0"},
		{"a long header", "-X POST -H X-Long:" + strings.Repeat("x", 20_000) + " " + url, "431 1.1 1 0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t)
			args := strings.Fields(strings.ReplaceAll(test.args, "SERVER", s.addr))
			if !strings.Contains(test.args, "X-Resource") {
				args = append(args, "-H", "X-Resource: фото/照片")
			}
			args = append(args, "-q", "-sS", "-o", os.DevNull, "-o", os.DevNull, "-w", told)
			got := strings.Split(strings.TrimSpace(run(t, "", "curl", args...)), "\n")
			if want := strings.Split(test.want, ", "); !equal(got, want) {
				t.Errorf("curl %s\ntold %q, want %q", test.args, got, want)
			}
			if passed, n := strings.Count(test.want, "200 "), s.decided("фото/照片"); n != passed && test.name != "health" {
				t.Errorf("%d attempts were decided, want %d", n, passed)
			}
		})
	}
}

func equal(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") }

// TestCurlSeesAnswers holds what a person at a terminal sees.
func TestCurlSeesAnswers(t *testing.T) {
	s := serve(t)
	out := run(t, "", "curl", "-q", "-sS", "-i", "-H", "X-Resource: a", "-H", "Expect: 100-continue", "-d", "x", "http://"+s.addr+"/attempt")
	for _, want := range []string{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n", "\r\nDate: ", "\r\nContent-Length: 0\r\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
	out = run(t, "", "curl", "-q", "-sS", "-X", "POST", "-H", "X-Resource: a", "-H", "X-Hits: many", "http://"+s.addr+"/attempt")
	if out != "X-Hits is not a whole number from 0 to 1000000\n" {
		t.Errorf("the error reads %q", out)
	}
}

// TestCurlThatSendsOn: clients that do not ask for leave see the refusal of their
// body, which they are still sending.
func TestCurlThatSendsOn(t *testing.T) {
	for name, coding := range map[string]string{"a length": "Accept:", "chunks": "Transfer-Encoding: chunked"} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			for range 20 {
				out := run(t, strings.Repeat("b", 900_000), "curl", "-q", "-sS", "-o", os.DevNull, "-w", "%{http_code}",
					"-X", "POST", "-H", "X-Resource: a", "-H", "Expect:", "-H", coding, "--data-binary", "@-", "http://"+s.addr+"/attempt")
				if out != "413" {
					t.Fatalf("curl saw %q, want 413", out)
				}
			}
			if s.decided("a") > 0 {
				t.Error("a refused request was decided")
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.bad[wire.ReasonBodyTooLarge] != 20 {
				t.Errorf("bad requests: %v, want 20 times %v", s.bad, wire.ReasonBodyTooLarge)
			}
		})
	}
}

// TestCurlUploads sends a file of a length that curl does not know.
func TestCurlUploads(t *testing.T) {
	s := serve(t)
	for body, want := range map[string]string{
		"":                           "200",
		"hello":                      "200",
		strings.Repeat("b", 65_536):  "200",
		strings.Repeat("b", 65_537):  "413",
		strings.Repeat("b", 500_000): "413",
	} {
		out := run(t, body, "curl", "-q", "-sS", "-o", os.DevNull, "-w", "%{http_code}", "-T", "-", "-X", "POST", "-H", "X-Resource: a", "http://"+s.addr+"/attempt")
		if out != want {
			t.Errorf("%d bytes: curl saw %q, want %s", len(body), out, want)
		}
	}
}
