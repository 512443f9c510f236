package leveectl

import (
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/levee-project/levee/test/etcdtest"
	"github.com/levee-project/levee/test/harness"
)

// TestCluster has a cluster, of which one limiter has fallen silent.
func TestCluster(t *testing.T) {
	s := etcdtest.Start(t, etcdtest.Options{})
	c := harness.StartCluster(t, s, harness.ClusterOptions{
		Observers: 2, Limiters: 3, Proxies: 1, Limiter: harness.Command{Args: []string{"--response-headers=ratelimit"}},
	}, map[string]string{
		"limit/key/photos/quota": `{"rate": 300, "burst": 60}`, "factor/key/photos": "2",
		"limit/key/slow/quota": `{"rate": 0.001, "burst": 60}`, "factor/key/slow": "2",
	})
	c.Limiters[2].Kill()
	c.WaitServing(time.Minute, 2)
	run(t, "cluster", func(env *testscript.Env) error {
		env.Setenv("LEVEE_STORAGE_ADDRS", s.Endpoint())
		env.Setenv("LIMITER_1", c.Limiters[0].Addr)
		env.Setenv("LIMITER_2", c.Limiters[1].Addr)
		return nil
	}, nil)
}

// TestLagging has a limiter and a proxy that are cut off from the store.
func TestLagging(t *testing.T) {
	s := etcdtest.Start(t, etcdtest.Options{})
	c := harness.StartCluster(t, s, harness.ClusterOptions{Observers: 1, Limiters: 1}, map[string]string{
		"limit/key/photos/quota": `{"rate": 300, "burst": 60}`,
	})
	link := harness.NewLink(t, strings.TrimPrefix(s.Endpoint(), "http://"))
	store, host := "http://"+link.Addr, c.Limiters[0].Host
	far := []*harness.Node{
		harness.StartClusterLimiter(t, store, "limiter-2", host+"2", harness.Command{}),
		harness.StartProxy(t, store, "proxy-1", host+"3", harness.Command{}),
	}
	harness.WaitServing(t, time.Minute, 2, append(c.Nodes(), far...))
	run(t, "lagging", func(env *testscript.Env) error {
		env.Setenv("LEVEE_STORAGE_ADDRS", s.Endpoint())
		return nil
	}, map[string]func(*testscript.TestScript, bool, []string){
		"cut":  func(*testscript.TestScript, bool, []string) { link.Cut() },
		"mend": func(*testscript.TestScript, bool, []string) { link.Mend() },
		"waitstatus": func(ts *testscript.TestScript, _ bool, _ []string) {
			late := time.Now().Add(time.Minute)
			for ts.Exec("leveectl", "status") != nil {
				if time.Now().After(late) {
					ts.Fatalf("not within a minute: status ends with 0")
				}
			}
		},
	})
}
