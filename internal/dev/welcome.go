package dev

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

// welcome says what runs where, and what to try.
func (c *cluster) welcome(took time.Duration) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	var proxies []string
	for _, p := range c.proxies {
		proxies = append(proxies, p.addr(attempts))
	}
	limiters := c.tiers[limiterTier].children
	say("\nready in %.1f s; all ports are on %s\n\n%s", took.Seconds(), host, c.table())
	for _, o := range c.observers[:min(1, len(c.observers))] {
		say("The console, in a browser: http://%s/\n", o.addr(console))
	}
	say("In another terminal:\n")
	say("  # one limit, whichever proxy is asked: accepted (200), and soon rejected (429)")
	say("  for i in 1 2 3 4 5; do for proxy in %s; do", strings.Join(proxies, " "))
	say(`    curl -s -o /dev/null -w '%%{http_code}\n' -X POST -H 'X-Resource: demo' http://$proxy/attempt`)
	say("  done; done\n")
	ctl := filepath.Join(filepath.Dir(os.Args[0]), "leveectl")
	say("  # change the quota while it runs, and look at everything")
	say("  export LEVEE_STORAGE_ADDRS=%s", c.endpoint())
	say("  %s limit set demo --rate 10 --burst 8", ctl)
	say("  %s status\n", ctl)
	say("  # a limiter dies, another hangs: the proxies go round them")
	say("  kill -9 %d", limiters[0].pid.Load())
	say("  kill -STOP %d; sleep 10; kill -CONT %[1]d\n", limiters[len(limiters)-1].pid.Load())
	if c.opts.restart > 0 {
		say("Whoever dies is started again after %v.", c.opts.restart)
	}
	say("Data is in %s. Ctrl-C ends all.\n", c.dir)
	return b.String()
}

// table lists the processes, those first that a developer talks to.
func (c *cluster) table() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "  process\tpid")
	for _, u := range uses {
		fmt.Fprintf(w, "\t%s", u)
	}
	for i := len(c.tiers) - 1; i >= 0; i-- {
		for _, ch := range c.tiers[i].children {
			fmt.Fprintf(w, "\n  %s\t%d", ch.name, ch.pid.Load())
			for _, u := range uses {
				if port := ch.ports[u]; port != 0 {
					fmt.Fprintf(w, "\t%d", port)
				} else {
					fmt.Fprint(w, "\t")
				}
			}
		}
	}
	fmt.Fprintln(w)
	_ = w.Flush() // into memory
	return b.String()
}
