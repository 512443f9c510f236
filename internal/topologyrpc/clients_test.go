package topologyrpc

import (
	"net/netip"
	"testing"
	"time"

	pb "github.com/levee-project/levee/internal/topologyrpc/topologyv1"
)

// A watcher is known while it watches, and only if it says who it is.
func TestClients(t *testing.T) {
	o := start(t, "o1")
	watch(t, client(t, o)) // says nothing of itself
	f := follow(t, time.Second, o.addrs)
	f.waitFor(1)
	got := o.Clients()
	if len(got) != 1 {
		t.Fatalf("%d clients, want 1: %v", len(got), got)
	}
	c := got[0]
	if c.ID != "proxy-1" || c.Version != "1.2.3" || c.Admin != netip.MustParseAddrPort("127.0.0.1:9456") ||
		!c.Addr.Addr().IsLoopback() || time.Since(c.Since) > time.Minute {
		t.Errorf("known is %+v", c)
	}
	f.SetObservers(nil)
	eventually(t, "it is forgotten", func() bool { return len(o.Clients()) == 0 })
}

func TestWhoIsNoClient(t *testing.T) {
	long := make([]byte, longestText+1)
	for i := range long {
		long[i] = 'x'
	}
	proxy := pb.Role_ROLE_CLIENT_PROXY
	for _, r := range []*pb.WatchRequest{
		{},
		{Id: "a"},
		{Role: proxy},
		{Id: "a", Role: pb.Role_ROLE_LIMITER},
		{Id: string(long), Role: proxy},
		{Id: "a", Role: proxy, Version: string(long)},
	} {
		if c := clientOf(r, "10.0.0.9:1"); c != nil {
			t.Errorf("%v is taken for %+v", r, c)
		}
	}
	for admin, want := range map[string]string{
		"": "invalid AddrPort", "nonsense": "invalid AddrPort", "127.0.0.1:1": "invalid AddrPort",
		"[::]:9456": "10.0.0.9:9456", "10.0.0.8:9456": "10.0.0.8:9456",
	} {
		c := clientOf(&pb.WatchRequest{Id: "a", Role: proxy, AdminAddress: admin}, "10.0.0.9:1")
		if c == nil || c.Admin.String() != want {
			t.Errorf("admin address %q is taken for %+v, want %s", admin, c, want)
		}
	}
}
