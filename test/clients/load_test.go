package clients

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// number returns the number that a pattern finds in a program's output.
func number(t *testing.T, out, pattern string) int {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no %q in\n%s", pattern, out)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestApacheBench speaks HTTP/1.0, with and without keep-alive.
func TestApacheBench(t *testing.T) {
	const requests = 3000
	for name, keep := range map[string][]string{"keep-alive": {"-k"}, "a connection for each": nil} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			body := file(t, 5)
			args := append([]string{}, keep...)
			args = append(args, "-q", "-n", strconv.Itoa(requests), "-c", "16", "-p", body, "-T", "text/plain",
				"-H", "X-Resource: a", "http://"+s.addr+"/attempt")
			out := run(t, "", "ab", args...)
			if n := number(t, out, `Complete requests: +(\d+)`); n != requests {
				t.Errorf("%d requests are complete, want %d", n, requests)
			}
			if n := number(t, out, `Failed requests: +(\d+)`); n > 0 || strings.Contains(out, "Non-2xx") {
				t.Errorf("requests failed:\n%s", out)
			}
			if keep != nil && number(t, out, `Keep-Alive requests: +(\d+)`) != requests {
				t.Errorf("connections were not kept:\n%s", out)
			}
			if n := s.decided("a"); n != requests {
				t.Errorf("%d attempts were decided, want %d", n, requests)
			}
			s.checkNothingBad(t)
		})
	}
}

// The scripts tell wrk to make attempts, one at a time and 16 together.
const (
	oneByOne = `
wrk.method = "POST"
wrk.headers["X-Resource"] = "a"
wrk.headers["X-Prefix"] = "p"
`
	pipelined = oneByOne + `
init = function(args)
  local r = {}
  for i = 1, 16 do r[i] = wrk.format("POST", "/attempt") end
  request_text = table.concat(r)
end
request = function() return request_text end
`
)

// TestWrk speaks HTTP/1.1, and pipelines. It leaves in the middle of everything,
// so a few attempts are decided whose answers it does not count.
func TestWrk(t *testing.T) {
	const connections, depth = 16, 16
	for name, script := range map[string]string{"one at a time": oneByOne, "pipelined": pipelined} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			lua := filepath.Join(t.TempDir(), "attempt.lua")
			if err := os.WriteFile(lua, []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			out := run(t, "", "wrk", "-t", "1", "-c", strconv.Itoa(connections), "-d", "1s", "-s", lua, "http://"+s.addr+"/attempt")
			if strings.Contains(out, "Non-2xx") || strings.Contains(out, "Socket errors") {
				t.Errorf("requests failed:\n%s", out)
			}
			answered := number(t, out, `(\d+) requests in`)
			if answered == 0 {
				t.Errorf("nothing was answered:\n%s", out)
			}
			if n := s.decided("a/p"); n < answered || n > answered+connections*depth {
				t.Errorf("%d attempts were decided, wrk counts %d answers", n, answered)
			}
			s.checkNothingBad(t)
		})
	}
}
