package docs

import (
	"slices"
	"strings"
	"testing"

	"github.com/levee-project/levee/test/etcdtest"
)

// filled puts something in the place of what people fill in.
var filled = strings.NewReplacer(
	"--rate R", "--rate 6600", "--burst B", "--burst 165", "--rps N", "--rps 6000", "--group D", "--group 4",
	"--gossip IP:PORT", "--gossip 10.0.0.200:7373", "--service IP:PORT", "--service 10.0.0.200:5460",
	"-user NAME", "-user levee", "FILE", "password", " NAME", " obs-2",
)

// watchOnce watches until there is something to see, and ends as a person would.
const watchOnce = `leveectl watch >watched 2>&1 & until grep -q watching watched; do sleep 0.1; done; kill -TERM $!; wait $!; cat watched`

// TestOperations brings a cluster up as the document says, on an etcd that is empty,
// and then does everything else that it tells an operator to do.
func TestOperations(t *testing.T) {
	etcd := etcdtest.Start(t, etcdtest.Options{})
	var s *session
	forgetID := func() {
		limiter := s.last["levee-limiter"]
		limiter.Kill()
		s.rules["leveectl member forget ID"] = rule{
			// It is silent after some seconds.
			instead: "until leveectl member forget " + limiter.id + "; do sleep 0.2; done", says: "has forgotten",
		}
	}
	rules := map[string]rule{
		"make repo":                      {why: packaged},
		"make packages":                  {why: packaged},
		"apt install levee-limiter":      {why: packaged},
		"systemctl status levee-limiter": {why: packaged},
		"journalctl LEVEE_REQ_ID=ID":     {why: packaged},
		"journalctl -u levee-limiter LEVEE_RESULT=rejected LEVEE_RESOURCE=photos -o json": {why: packaged},
		"systemctl enable --now levee-observer":                                           {why: packaged},

		"leveectl keepalived render --file /etc/levee/vrrp.yaml": {why: packaged},
		"systemctl reload levee-vrrp":                            {why: packaged},
		"leveectl keepalived check":                              {instead: "leveectl keepalived check --port 1", code: 1},
		"journalctl -t levee-vrrp":                               {why: packaged},
		"cat /run/levee-vrrp/levee":                              {why: packaged},
		"leveectl keepalived render":                             {instead: renderVRRP, says: "vrrp_instance"},

		"levee-limiter --config /etc/levee/limiter.yaml": {daemons: 1},
		"levee-observer --config observer.yaml":          {daemons: 1},
		"levee-client-proxy --config client-proxy.yaml":  {daemons: 1},
		"levee-limiter --config limiter.yaml":            {daemons: 5},

		"leveectl config render leveectl":       {says: "#storage-addrs:"},
		"leveectl completion bash|zsh|fish":     {instead: "for s in bash zsh fish; do leveectl completion $s >/dev/null; done"},
		"man leveectl-limit-set":                {instead: "mkdir man && leveectl man man && man -l man/leveectl-limit-set.1", says: "SYNOPSIS"},
		"leveectl check [--cluster] [--strict]": {instead: "leveectl check --cluster --strict", says: "0 errors"},
		"leveectl check -f tree.yaml":           {instead: "cp etc/levee/storage.yaml tree.yaml && leveectl check -f tree.yaml", says: "0 errors"},
		"leveectl status":                       {says: " 0 silent"},
		"leveectl member list":                  {says: "observer-"},
		"leveectl member forget ID":             {before: forgetID},
		"leveectl member forget":                {instead: "leveectl member forget nobody", code: 1, says: "no member"},
		"leveectl top":                          {instead: "leveectl top --once", says: "half-life"},
		"leveectl top --rejections":             {instead: "leveectl top --once --rejections", says: "half-life"},
		"leveectl watch":                        {instead: watchOnce, says: "watching"},
		"leveectl diff -f tree.yaml":            {says: "no difference"},
		"leveectl diff -f levee-tree.yaml":      {says: "no difference"},
		"leveectl observer add":                 {instead: "leveectl observer add obs-3 --gossip 10.0.0.201:7373 --service 10.0.0.201:5460"},
		"leveectl observer rm":                  {instead: "leveectl observer rm obs-3"},
		"leveectl explain photos GET --prefix albums [--cluster]": {
			instead: "leveectl explain photos GET --prefix albums --cluster", says: "4 limiters: ",
		},
		"leveectl bench photos --rate N --poisson": {
			instead: "leveectl bench photos --rate 200 --poisson --duration 1s", says: "accepted",
		},
	}
	text := read(t, "OPERATIONS.md")
	first, rest := sections(extract(text), "Start", "Bring it up")
	for _, c := range rest {
		if _, ok := rules[c.text]; !ok && filled.Replace(c.text) != c.text {
			rules[c.text] = rule{instead: filled.Replace(c.text)}
		}
	}
	// Of the daemons that first starts, the client-proxy is the last.
	s = newSession(t, rules, etcd.Endpoint(), "10.0.0.18:5454", "http://127.0.0.1:2379", etcd.Endpoint())
	s.put("configs/storage.yaml", "etc/levee/storage.yaml")
	s.put("configs/limiter-standalone.yaml", "etc/levee/limiter.yaml")
	for _, name := range []string{"limiter.yaml", "observer.yaml", "client-proxy.yaml"} {
		s.put("configs/"+name, name)
	}
	s.write("password", "secret")
	s.follow(first)
	s.follow(rest)
	s.finish()
}

// sections takes those with some headings before all others.
func sections(list []command, headings ...string) (first, rest []command) {
	for _, h := range headings {
		for _, c := range list {
			if c.heading == h {
				first = append(first, c)
			}
		}
	}
	for _, c := range list {
		if !slices.Contains(headings, c.heading) {
			rest = append(rest, c)
		}
	}
	return first, rest
}
