package console

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/topology"
)

// answered is what came back.
type answered struct {
	code   int
	header http.Header
	body   string
}

func fetch(t *testing.T, url string, header http.Header) answered {
	t.Helper()
	return do(t, http.MethodGet, url, header)
}

func do(t *testing.T, method, url string, header http.Header) answered {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		req.Header = header
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{res.StatusCode, res.Header, string(text)}
}

func serveConsole(t *testing.T, w *world) (*Console, string) {
	t.Helper()
	c := New(w.source())
	t.Cleanup(c.client.Close)
	s := httptest.NewServer(c.Handler())
	t.Cleanup(s.Close)
	return c, s.URL
}

func TestHeadersOfAllPages(t *testing.T) {
	_, base := serveConsole(t, newWorld(t, own))
	for _, path := range []string{"/", "/console/group?resource=r", "/console/group", "/console/uplot.js", "/console/style.css", "/nothing"} {
		res := fetch(t, base+path, nil)
		for name, want := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		} {
			if got := res.header.Get(name); got != want {
				t.Errorf("%s: %s: %q, want %q", path, name, got, want)
			}
		}
		if res.header["Set-Cookie"] != nil {
			t.Errorf("%s sets cookies", path)
		}
		if res := do(t, http.MethodPost, base+path, nil); res.code != http.StatusMethodNotAllowed && path != "/nothing" {
			t.Errorf("POST %s: %d", path, res.code)
		}
		if res := do(t, http.MethodHead, base+path, nil); res.body != "" {
			t.Errorf("HEAD %s has a body", path)
		}
	}
	if res := do(t, http.MethodHead, base+"/console/events", nil); res.code != http.StatusOK || res.body != "" {
		t.Errorf("HEAD of the events: %d", res.code)
	}
}

func TestOtherSitesCannotAsk(t *testing.T) {
	_, base := serveConsole(t, newWorld(t, own))
	other := http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"no-cors"}}
	for _, path := range []string{"/console/events", "/console/group?resource=r"} {
		if res := fetch(t, base+path, other); res.code != http.StatusForbidden {
			t.Errorf("%s: %d", path, res.code)
		}
	}
	link := http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}}
	if res := fetch(t, base+"/", link); res.code != http.StatusOK {
		t.Errorf("a link from elsewhere: %d", res.code)
	}
}

// The page has nothing inline, and all that it loads is as it says.
func TestPageIsWhatItsPolicyAllows(t *testing.T) {
	_, base := serveConsole(t, newWorld(t, own))
	text := fetch(t, base+"/", nil).body
	for _, bad := range []string{"<style", " style=", " onclick=", "javascript:", "http://", "https://", "//cdn"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, script := range regexp.MustCompile(`<script[^>]*>[^<]*`).FindAllString(text, -1) {
		if !strings.Contains(script, " src=") || !strings.HasSuffix(script, ">") {
			t.Errorf("an inline script: %s", script)
		}
	}
	for _, list := range [][]*asset{scripts, styles} {
		for _, a := range list {
			if !strings.Contains(strings.ReplaceAll(text, "&#43;", "+"), a.Path()+`" integrity="`+a.check) {
				t.Errorf("%s is not loaded with its check", a.name)
			}
			first := fetch(t, base+"/"+a.Path(), nil)
			if first.header.Get("Content-Type") != a.kind || first.body != string(a.text) {
				t.Errorf("%s: %v", a.name, first.header)
			}
			again := fetch(t, base+"/"+a.Path(), http.Header{"If-None-Match": {first.header.Get("ETag")}})
			if again.code != http.StatusNotModified || again.body != "" {
				t.Errorf("%s again: %d", a.name, again.code)
			}
		}
	}
}

// Scripts put text into the document as text.
func TestScriptsMakeNoMarkup(t *testing.T) {
	for _, a := range scripts[1:] {
		for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "createContextualFragment", "srcdoc"} {
			if strings.Contains(string(a.text), bad) {
				t.Errorf("%s uses %s", a.name, bad)
			}
		}
	}
}

var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onfocus=alert(1) autofocus '`, `{{.ID}}`, "</title>", "\x00\xff", "javascript:alert(1)",
}

func TestHostileNames(t *testing.T) {
	w := newWorld(t, own)
	w.self.ID = `<script>alert("id")</script>`
	_, base := serveConsole(t, w)
	clean := fetch(t, base+"/", nil).body
	for _, name := range hostile {
		q := url.Values{"resource": {name}, "prefix": {name}, "method": {name}}.Encode()
		text := fetch(t, base+"/?"+q, nil).body
		for _, mark := range []string{"<script", "<img", "<title", " onerror", " onfocus", "</title"} {
			attribute := regexp.MustCompile(`"[^"]*"`).ReplaceAllString(text, `""`)
			if strings.Count(attribute, mark) != strings.Count(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(clean, `""`), mark) {
				t.Errorf("%q adds %q to the page", name, mark)
			}
		}
		res := fetch(t, base+"/console/group?"+q, nil)
		raw := res.body
		if kind := res.header.Get("Content-Type"); kind != "application/json" || strings.ContainsAny(raw, "<>") {
			t.Errorf("%q: %s %s", name, kind, raw)
		}
		var p picture
		if err := json.Unmarshal([]byte(raw), &p); err != nil || p.Explanation.Resource != strings.ToValidUTF8(name, "\uFFFD") {
			t.Errorf("%q: %+v, %v", name, p.Explanation, err)
		}
	}
}

func TestPictureOfAGroup(t *testing.T) {
	a, b, l := startProcess(t, "limiter", "a"), startProcess(t, "limiter", "b"), startProcess(t, "limiter", "c")
	w := newWorld(t, a.member(), b.member(), l.member(), own)
	c, base := serveConsole(t, w)
	var p picture
	if err := json.Unmarshal([]byte(fetch(t, base+"/console/group?resource=r&prefix=p", nil).body), &p); err != nil {
		t.Fatal(err)
	}
	if p.Explanation.Level != "resource" || p.Revision != 5 || len(p.Places) != 3 || p.Bucket != "resource r" {
		t.Fatalf("%+v", p)
	}
	order := w.view.AppendRank(nil, []byte("r"), 3)
	for i, at := range p.Places {
		want := adminapi.Bucket{Level: "resource", Debt: 1.5, AtOnce: 9, Remaining: 7}
		switch {
		case at.ID != w.view.Serving()[order[i]].ID || at.Decides != (i < 2):
			t.Errorf("place %d: %+v", i, at)
		case at.Decides && (at.Bucket == nil || *at.Bucket != want):
			t.Errorf("place %d holds %+v", i, at.Bucket)
		case !at.Decides && at.Bucket != nil:
			t.Errorf("place %d was asked", i)
		}
	}
	for path, code := range map[string]int{"": 400, "?resource=": 400, "?resource=" + strings.Repeat("x", 2000): 400} {
		if res := fetch(t, base+"/console/group"+path, nil); res.code != code {
			t.Errorf("%.20s: %d", path, res.code)
		}
	}
	for range maxPictures {
		c.pictures <- struct{}{}
	}
	if res := fetch(t, base+"/console/group?resource=r", nil); res.code != http.StatusServiceUnavailable || res.header.Get("Retry-After") == "" {
		t.Errorf("one too many: %d", res.code)
	}
	w.conf = nil
	<-c.pictures
	if res := fetch(t, base+"/console/group?resource=r", nil); res.code != http.StatusServiceUnavailable {
		t.Errorf("without a configuration: %d", res.code)
	}
}

func TestBoundOnViewers(t *testing.T) {
	c, base := serveConsole(t, newWorld(t, own))
	for range maxViewers {
		if c.viewers.add() == nil {
			t.Fatal("a viewer too few")
		}
	}
	if res := fetch(t, base+"/console/events", nil); res.code != http.StatusServiceUnavailable || res.header.Get("Retry-After") == "" {
		t.Errorf("a viewer too many: %d", res.code)
	}
}

func TestSlowViewerHoldsNobodyUp(t *testing.T) {
	vs := newViewers()
	slow, quick := vs.add(), vs.add()
	for _, f := range []string{"1", "2", "3"} {
		vs.show([]byte(f))
		if got := string(<-quick.frames); got != f {
			t.Errorf("the quick one gets %s, want %s", got, f)
		}
	}
	if got := string(<-slow.frames); got != "3" {
		t.Errorf("the slow one gets %s, want the latest", got)
	}
	if late := vs.add(); string(<-late.frames) != "3" {
		t.Error("a new one does not get the latest at once")
	}
	vs.remove(slow)
	vs.show([]byte("4"))
	if len(slow.frames) > 0 {
		t.Error("one that has gone gets more")
	}
	vs.close()
	<-quick.frames
	if _, more := <-quick.frames; more {
		t.Error("the end is not told")
	}
}

// A limiter that is alone shows itself.
func TestAlone(t *testing.T) {
	w := newWorld(t)
	w.self.Role, w.self.ID, w.self.Attempts = "limiter", "me", &adminapi.Attempts{}
	s := w.source()
	s.View = nil
	s.Top = func() adminapi.Top {
		return adminapi.Top{HalfLife: 60, Seconds: 10, Attempts: []adminapi.Key{{Resource: "<b>", Level: "resource", Count: 50, Error: 1}}}
	}
	client := adminapi.NewClient()
	defer client.Close()
	f := newCollector(s, client).next(t)
	if len(f.Members) != 1 || f.Members[0].State != string(topology.Serving) || f.Members[0].Health != healthy || !f.Members[0].Here || f.Limiters != nil {
		t.Errorf("%+v", f)
	}
	if len(f.Hottest) != 1 || f.Hottest[0].Rate != 5 || f.Rejected == nil {
		t.Errorf("the keys are %+v and %+v", f.Hottest, f.Rejected)
	}
}
