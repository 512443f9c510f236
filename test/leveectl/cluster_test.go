package leveectl

import (
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/levee-project/levee/test/etcdtest"
	"github.com/levee-project/levee/test/harness"
)

// TestCluster has a cluster, of which one limiter has fallen silent.
func TestCluster(t *testing.T) {
	s := etcdtest.Start(t, etcdtest.Options{})
	c := harness.StartCluster(t, s, harness.ClusterOptions{Observers: 2, Limiters: 3, Limiter: harness.Command{Args: []string{"--response-headers=ratelimit"}}}, map[string]string{
		"limit/key/photos/quota": `{"rate": 300, "burst": 60}`, "factor/key/photos": "2",
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
