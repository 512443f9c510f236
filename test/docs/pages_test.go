package docs

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/levee-project/levee/test/etcdtest"
	"github.com/levee-project/levee/test/harness"
)

// TestPages runs the examples of all manual pages in a cluster.
func TestPages(t *testing.T) {
	etcd := etcdtest.Start(t, etcdtest.Options{})
	cluster := harness.StartCluster(t, etcd, harness.ClusterOptions{Observers: 1, Limiters: 1, Proxies: 1}, map[string]string{
		"limit/key/photos/quota": `{"rate": 1, "burst": 1}`, "limit/key/photos/sublimit/albums%2FGET": `{"rate": 1, "burst": 1}`,
		"limit/subkey_default/GET": `{"rate": 1, "burst": 1}`,
	})
	addr := cluster.Proxies[0].Addr
	s := newSession(t, map[string]rule{
		"levee-limiter --config /etc/levee/limiter.yaml":           {daemons: 1},
		"levee-observer --config /etc/levee/observer.yaml":         {daemons: 1},
		"levee-client-proxy --config /etc/levee/client-proxy.yaml": {daemons: 1},
		"leveectl apply -f tree.yaml --dry-run":                    {instead: "leveectl export > tree.yaml && leveectl apply -f tree.yaml --dry-run"},
		"leveectl bench photos --rate 2000 --poisson --duration 30s": {
			instead: "leveectl bench photos --rate 2000 --poisson --duration 1s", says: "accepted",
		},
		"leveectl bench load --keys 1000000 --zipf 1.1 --http2 --connections 4 --streams 50": {
			instead: "leveectl bench load --keys 1000000 --zipf 1.1 --http2 --connections 4 --streams 50 --duration 1s", says: "accepted",
		},
		"leveectl observer add observer-1 --gossip 10.0.0.1:7373 --service 10.0.0.1:5455": { // this cluster has one of that name
			instead: "leveectl observer add observer-9 --gossip 10.0.0.9:7373 --service 10.0.0.9:5455",
		},
		"leveectl keepalived render --file /etc/levee/vrrp.yaml --output-file /etc/keepalived/keepalived.conf": {why: packaged},
		"leveectl explain photos GET --prefix albums":                                                          {says: "<-- applies"},
		"leveectl attempt photos GET --prefix albums":                                                          {says: "accepted"},
		"leveectl check": {says: "0 errors"},
		"leveectl top":   {instead: "leveectl top --once", says: "half-life"},
	}, etcd.Endpoint(), addr, "http://127.0.0.1:2379", etcd.Endpoint(), "10.0.0.1:5454", addr)
	for _, name := range []string{"limiter.yaml", "observer.yaml", "client-proxy.yaml"} {
		s.put("configs/"+name, "etc/levee/"+name)
	}
	cluster.Apply(map[string]string{"observer/obs-1": harness.ObserverEntry(s.net + "1")})
	s.run(command{text: "leveectl man"}, "mkdir man && leveectl man man", rule{})
	pages, err := filepath.Glob(filepath.Join(s.dir, "man", "*"))
	if err != nil || len(pages) < 30 {
		t.Fatalf("pages: %v, %v", pages, err)
	}
	began := time.Now()
	for _, path := range pages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s.follow(examples(string(text)))
	}
	t.Logf("%d pages took %v", len(pages), time.Since(began).Round(time.Millisecond))
	s.finish()
}
