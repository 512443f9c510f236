package console

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/levee-project/levee/test/harness"
)

// alone starts a standalone limiter with a load, at an address that it keeps when
// it is started again.
func alone(t *testing.T) *harness.Limiter {
	t.Helper()
	store := harness.NewFileStore(t, map[string]string{
		"limit/key/photos/quota": `{"rate": 100, "burst": 20}`, "limit/key/bad/quota": "7", "limit/key/seldom/quota": `{"rate": 0.0001, "burst": 9}`,
	})
	l := startAlone(t, store.Addr(), fmt.Sprintf("127.%d.%d.%d:9454", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254)))
	harness.StartCallers(t, l.Addr, 2, harness.AttemptText("photos"))
	return l
}

func startAlone(t *testing.T, store, admin string) *harness.Limiter {
	t.Helper()
	return harness.StartLimiter(t, "--storage-addrs="+store, "--metrics-addr="+admin)
}

// TestStandalone has the console of a limiter that is alone, for a person with a
// keyboard.
func TestStandalone(t *testing.T) {
	l := alone(t)
	if got := l.Client(t, harness.HTTP1).Hits(t, 4, "seldom").Status; got != 200 {
		t.Fatalf("the answer is %d", got)
	}
	b := open(t, l.MetricsAddr, "/")
	b.until(patience, "the limiter is shown", `document.querySelectorAll("#members [data-id=test][data-health=good]").length === 1`)
	b.until(patience, "rates are shown", `parseFloat(document.getElementById("accepted").textContent) > 50`)
	b.until(patience, "the fault is told", `document.getElementById("faults").innerText.includes("limit/key/bad/quota")`)

	// What Tab reaches, in order, and that it is seen.
	var reached []string
	for range 5 {
		b.run(chromedp.KeyEvent(kb.Tab))
		reached = append(reached, eval[string](b, `document.activeElement.name || document.activeElement.textContent`))
		if outline := eval[string](b, `getComputedStyle(document.activeElement).outlineStyle`); outline != "solid" {
			t.Errorf("where %q has the focus, nothing shows it", reached[len(reached)-1])
		}
	}
	if got := strings.Join(reached, ", "); got != "Skip to content, resource, prefix, method, Explain" {
		t.Errorf("Tab reaches %s", got)
	}
	for range 3 {
		b.run(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(8))) // Shift
	}
	b.run(chromedp.KeyEvent("seldom"), chromedp.KeyEvent(kb.Enter))
	b.until(patience, "the picture tells the debt", `document.querySelector("#picture .decides") && /owes 4 hits/.test(document.querySelector("#picture .decides").innerText)`)
	b.until(patience, "it is said aloud", `/resource level, limit\/key\/seldom\/quota/.test(document.getElementById("picture-said").textContent)`)
	if got := eval[string](b, "location.search"); got != "?resource=seldom" {
		t.Errorf("the address says %q", got)
	}
	b.shootAll("standalone")
	b.clean()
}

// TestAddressOfAPicture opens what somebody else sent: the form is filled in, and
// hostile text is text.
func TestAddressOfAPicture(t *testing.T) {
	l := alone(t)
	b := open(t, l.MetricsAddr, "/?resource=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&method=GET")
	b.until(patience, "the picture is shown", `document.querySelector("#picture .rung")`)
	want := `"><script>alert(1)</script>`
	if got := eval[string](b, `document.querySelector("#ask [name=resource]").value`); got != want {
		t.Errorf("the form says %q, want %q", got, want)
	}
	b.clean()
}

// TestConnectionLost ends the daemon under the page, and starts another.
func TestConnectionLost(t *testing.T) {
	l := alone(t)
	b := open(t, l.MetricsAddr, "/")
	b.until(patience, "it is live", `document.getElementById("link-text").textContent === "live"`)
	l.Kill()
	b.until(8*time.Second, "the page says that it is not connected", `/^not connected/.test(document.getElementById("link-text").textContent)`)
	b.shoot("not-connected")
	store := harness.NewFileStore(t, nil)
	startAlone(t, store.Addr(), l.MetricsAddr)
	b.until(15*time.Second, "it is live again", `document.getElementById("link-text").textContent === "live"`)
}
