package console

import (
	"encoding/json"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/levee-project/levee/test/etcdtest"
	"github.com/levee-project/levee/test/harness"
)

// hostile is a resource that a page without care would run.
const hostile = `<img src=x onerror="document.title='taken'"><script>alert(1)</script>`

// tree has quotas at all levels, and an entry without effect.
var tree = map[string]string{
	"limit/key_default":                         `{"rate": 2000, "burst": 300}`,
	"limit/subkey_default/DELETE":               `{"rate": 20, "burst": 4}`,
	"limit/key/photos/quota":                    `{"rate": 300, "burst": 60}`,
	"limit/key/photos/sublimit/albums%2FUPLOAD": `{"rate": 60, "burst": 12}`,
	"limit/key/mail/quota":                      `{"rate": 90, "burst": 9, "per": "1m"}`,
	"limit/key/wrong/quota":                     `{"rate": "<b>many</b>"}`,
	"factor/default":                            "2",
	"factor/key/photos":                         "3",
}

// startCluster starts a cluster with a load, and opens its console.
func startCluster(t *testing.T, path string) (*harness.Cluster, *browser, string) {
	t.Helper()
	s := etcdtest.Start(t, etcdtest.Options{})
	c := harness.StartCluster(t, s, harness.ClusterOptions{
		Observers: 2, Limiters: 4, Proxies: 2, Observer: harness.Command{Args: []string{"--http-addr=127.0.0.1:0"}},
	}, tree)
	for i, p := range c.ProxyAddrs() {
		harness.StartCallers(t, p, 3+i, harness.AttemptText("photos", "X-Method", "GET"))
		harness.StartCallers(t, p, 1, harness.AttemptText("photos", "X-Prefix", "albums", "X-Method", "UPLOAD"))
		harness.StartCallers(t, p, 1, harness.AttemptText("mail"))
		harness.StartCallers(t, p, 1, harness.AttemptText(hostile))
		harness.StartCallers(t, p, 1, harness.AttemptText("orders", "X-Method", "DELETE"))
	}
	return c, open(t, consoleOf(t, c.Observers[0]), path), s.Endpoint()
}

// members are the rows of the table: role, id and health.
const members = `[...document.querySelectorAll("#members [data-id]")].map((r) => [r.dataset.role, r.dataset.id, r.dataset.health].join(" "))`

func TestConsole(t *testing.T) {
	c, b, store := startCluster(t, "/")
	b.until(patience, "all members are listed, and well", `(`+members+`).length === 8 && document.querySelectorAll("#members [data-health=good]").length === 16`)
	want := []string{
		"limiter limiter-1 good", "limiter limiter-2 good", "limiter limiter-3 good", "limiter limiter-4 good",
		"client-proxy proxy-1 good", "client-proxy proxy-2 good", "observer observer-1 good", "observer observer-2 good",
	}
	if got := eval[[]string](b, members); !reflect.DeepEqual(got, want) {
		t.Errorf("the members are %q, want %q", got, want)
	}
	b.until(patience, "one revision is in force everywhere", `document.getElementById("store").innerText.includes("in force on 8 of 8")`)
	b.until(patience, "the fault is told", `document.getElementById("faults").innerText.includes("limit/key/wrong/quota")`)
	b.until(patience, "rates are shown", `parseFloat(document.getElementById("accepted").textContent) > 100`)
	b.until(patience, "hot keys are shown", `["photos", "mail"].every((key) => [...document.querySelectorAll("#hottest [data-key]")].some((e) => e.textContent === key)) &&
		[...document.querySelectorAll("#most-rejected [data-key]")].some((e) => e.textContent === "mail")`)
	b.run(chromedp.Evaluate(`window.mark = "not loaded again"`, nil))

	for _, a := range [][]string{
		{"photos", "", ""},
		{"photos", "albums", "UPLOAD"},
		{"photos", "a/b", "GET"},
		{"orders", "", "DELETE"},
		{"mail", "", ""},
		{"wrong", "", ""},
		{hostile, hostile, hostile},
		{`a/b "c"`, "ä", "%2F"},
	} {
		b.explains(store, a[0], a[1], a[2])
	}
	if title := eval[string](b, "document.title"); !strings.HasPrefix(title, "observer-1") {
		t.Errorf("the title has become %q", title)
	}
	b.run(chromedp.Evaluate(`[...document.querySelectorAll("#hottest [data-key]")].find((e) => e.textContent.startsWith("<img")).click()`, nil))
	b.until(patience, "a hot key is explained", `document.querySelector("#picture .verdict b").textContent.includes("<img src=x")`)
	b.explains(store, "photos", "albums", "UPLOAD")
	b.shootAll("cluster")

	c.Limiters[1].Kill()
	took := b.until(8*time.Second, "the killed limiter is red, and said to be in trouble",
		`document.querySelector("[data-id=limiter-2]").dataset.health === "bad" &&
		/silent|no answer/.test(document.querySelector("[data-id=limiter-2]").innerText) &&
		/limiter-2/.test(document.getElementById("problems").innerText)`)
	t.Logf("a killed limiter is red after %v", took.Round(10*time.Millisecond))
	color := eval[string](b, `getComputedStyle(document.querySelector("[data-id=limiter-2] .pill")).color`)
	if color == eval[string](b, `getComputedStyle(document.querySelector("[data-id=limiter-1] .pill")).color`) {
		t.Errorf("its colour is that of the others: %s", color)
	}
	if title := eval[string](b, "document.title"); !strings.HasPrefix(title, "1 in trouble") {
		t.Errorf("the title does not tell the trouble: %q", title)
	}
	c.Limiters[3].Freeze(t)
	took = b.until(8*time.Second, "the frozen limiter is red", `document.querySelector("[data-id=limiter-4]").dataset.health === "bad"`)
	t.Logf("a frozen limiter is red after %v", took.Round(10*time.Millisecond))
	c.Limiters[3].Thaw(t)
	b.until(patience, "the limiter that goes on is well", `document.querySelector("[data-id=limiter-4]").dataset.health === "good"`)
	c.Proxies[1].Kill()
	b.until(8*time.Second, "the killed proxy is red", `document.querySelector("[data-id=proxy-2]").dataset.health === "bad"`)
	b.until(patience, "the overlay has found out", `document.getElementById("serving").textContent === "3"`)
	b.explains(store, "photos", "", "")
	b.shootAll("killed")
	if got := eval[string](b, "window.mark"); got != "not loaded again" {
		t.Error("the page was loaded anew")
	}
	b.clean()
}

// explains asks for a picture, and compares it with what the tool says.
func (b *browser) explains(store, resource, prefix, method string) {
	b.t.Helper()
	b.run(chromedp.Evaluate(`document.querySelectorAll("#ask input").forEach((e) => e.value = "")`, nil))
	for name, part := range map[string]string{"resource": resource, "prefix": prefix, "method": method} {
		if part != "" {
			b.run(chromedp.SendKeys(`#ask [name=`+name+`]`, part, chromedp.ByQuery))
		}
	}
	b.run(chromedp.Evaluate(`document.getElementById("picture").replaceChildren()`, nil),
		chromedp.SendKeys(`#ask [name=resource]`, kb.Enter, chromedp.ByQuery))
	b.until(patience, "a picture", `document.querySelector("#picture .picture")`)
	type explained struct {
		Places []struct{ Level, Entry, Quota, Fault string }
		Entry  string
		Group  struct {
			Members  []string
			StandIns []string `json:"stand_ins"`
		}
	}
	cmd := exec.Command(harness.Binary(b.t, "leveectl"), "--storage-addrs="+store, "explain", "--cluster", "--output=json",
		"--prefix="+prefix, "--method="+method, "--", resource)
	out, err := cmd.Output()
	if err != nil {
		b.t.Fatalf("leveectl: %v\n%s", err, out)
	}
	var want explained
	if err := json.Unmarshal(out, &want); err != nil {
		b.t.Fatal(err)
	}
	var entries []string
	for _, p := range want.Places {
		line := p.Level + "|" + p.Entry + "|" + p.Quota
		if p.Quota == "" {
			line += "no entry"
		}
		if p.Entry == want.Entry {
			line += "|applies"
		}
		entries = append(entries, line)
	}
	decide, stand := want.Group.Members, want.Group.StandIns
	got := eval[[]string](b, `[...document.querySelectorAll("#picture .rung")].map((e) => [e.querySelector(".level").textContent,
		e.querySelector(".code").textContent, e.querySelector(".quota").textContent].join("|") + (e.querySelector(".applies") ? "|applies" : ""))`)
	if !reflect.DeepEqual(got, entries) {
		b.t.Errorf("%q: the places are %q, leveectl says %q", resource, got, entries)
	}
	who := func(class string) []string {
		return eval[[]string](b, `[...document.querySelectorAll("#picture .`+class+`")].map((e) =>
			e.querySelector(".who").textContent + " (" + e.querySelector("small").textContent.trim() + ")")`)
	}
	if got := who("decides"); len(decide) == 0 || !reflect.DeepEqual(got, decide) {
		b.t.Errorf("%q: %q decide, leveectl says %q", resource, got, decide)
	}
	if got := who("standin"); len(got)+len(stand) > 0 && !reflect.DeepEqual(got, stand) {
		b.t.Errorf("%q: %q stand in, leveectl says %q", resource, got, stand)
	}
}

// shootAll keeps pictures in both widths and both schemes, and looks for what does
// not fit.
func (b *browser) shootAll(name string) {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		b.look(360, 740, scheme)
		b.until(patience, "the chart fits", `document.querySelector("#chart canvas").getBoundingClientRect().right <= innerWidth`)
		b.fits()
		b.shoot(name + "-360-" + scheme)
		b.look(800, 900, scheme)
		b.fits()
		b.look(1280, 900, scheme)
		b.until(patience, "the chart is wide again", `document.querySelector("#chart canvas").getBoundingClientRect().width > 1000`)
		b.fits()
		b.shoot(name + "-1280-" + scheme)
	}
	b.look(1280, 900, "light")
}
