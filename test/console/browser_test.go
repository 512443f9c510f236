package console

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/levee-project/levee/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// patience bounds what a test waits for, also on a busy machine.
const patience = 30 * time.Second

// browser is a page in a Chromium of its own.
type browser struct {
	t   testing.TB
	ctx context.Context
	own string // host and port of the console

	mu       sync.Mutex // guards the rest
	requests []string   // URLs
	errors   []string   // of scripts, of the policy and of the network
}

// open starts a browser and shows the console at an address.
func open(t testing.TB, addr, path string) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath("chromium"),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(patience))
	ctx, stop := context.WithTimeout(context.WithoutCancel(t.Context()), 3*time.Minute)
	t.Cleanup(stop)
	ctx, stopBrowser := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stopBrowser)
	ctx, stopPage := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits until the browser has ended
		stopPage()
	})
	b := &browser{t: t, ctx: ctx, own: addr}
	chromedp.ListenTarget(ctx, b.hear)
	b.run(network.Enable(), log.Enable(), runtime.Enable())
	b.look(1280, 900, "light")
	b.run(chromedp.Navigate("http://" + addr + path))
	return b
}

// hear takes what the browser tells.
func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		b.errors = append(b.errors, fmt.Sprintf("console: %s", e.Type))
	case *log.EventEntryAdded:
		b.errors = append(b.errors, fmt.Sprintf("%s: %s: %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL))
	}
}

func (b *browser) run(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// look sets the size of the window, and light or dark.
func (b *browser) look(width, height int64, scheme string) {
	b.t.Helper()
	b.run(emulation.SetDeviceMetricsOverride(width, height, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// eval returns the value of a script.
func eval[T any](b *browser, script string) (value T) {
	b.t.Helper()
	b.run(chromedp.Evaluate(script, &value))
	return value
}

// until waits for a script to be true, and returns how long that took.
func (b *browser) until(within time.Duration, what, script string) time.Duration {
	b.t.Helper()
	defer func() {
		if b.t.Failed() {
			b.t.Log(eval[string](b, "document.body.innerText"))
		}
	}()
	return harness.Eventually(b.t, within, what, func() bool { return eval[bool](b, "Boolean("+script+")") })
}

// shoot keeps the whole page as a picture.
func (b *browser) shoot(name string) {
	b.t.Helper()
	root, err := harness.Root()
	if err != nil {
		b.t.Fatal(err)
	}
	dir := filepath.Join(root, "dist", "console")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	var png []byte
	b.run(chromedp.FullScreenshot(&png, 100))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// clean fails the test if there was an error, or a request to somebody else.
func (b *browser) clean() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.errors {
		b.t.Errorf("the browser says: %s", e)
	}
	for _, r := range b.requests {
		if u, err := url.Parse(r); err != nil || u.Scheme != "data" && u.Host != b.own {
			b.t.Errorf("a request to somebody else: %s", r)
		}
	}
	if len(b.requests) < 5 {
		b.t.Errorf("there were no more than these requests: %q", b.requests)
	}
}

// fits fails the test if anything reaches beyond the sides of the window.
func (b *browser) fits() {
	b.t.Helper()
	const script = `(() => {
		const width = document.documentElement.clientWidth, out = [];
		if (document.documentElement.scrollWidth > width) out.push("the page is " + document.documentElement.scrollWidth);
		for (const e of document.querySelectorAll("body *")) {
			if (e.closest(".hidden, thead, .skip")) continue;
			const r = e.getBoundingClientRect();
			if (r.width > 0 && (r.right > width + 0.5 || r.left < -0.5)) out.push(e.tagName + "." + e.getAttribute("class") + " " + r.left + ".." + r.right + " " + e.textContent.slice(0, 40));
		}
		return out;
	})()`
	if out := eval[[]string](b, script); len(out) > 0 {
		b.t.Errorf("too wide for the window:\n%s", strings.Join(out, "\n"))
	}
}

// consoleOf waits for the line that tells where an observer serves its console.
func consoleOf(t testing.TB, n *harness.Node) string {
	t.Helper()
	return n.WaitLog(t, patience, "the console is served", func(l harness.Line) bool {
		return l.Text("msg") == "serving" && l.Text("what") == "console"
	}).Text("addr")
}
