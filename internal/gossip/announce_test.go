package gossip

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/hashicorp/memberlist"

	"github.com/levee-project/levee/internal/topology"
)

var sample = topology.Member{
	ID: "limiter-1@site", Role: topology.Limiter, Incarnation: 1_790_000_000_123_456_789, State: topology.Serving,
	Gossip: netip.MustParseAddrPort("10.0.0.1:7373"), Service: netip.MustParseAddrPort("[fd00::1]:5454"),
	Admin: netip.MustParseAddrPort("10.0.0.1:9454"), Version: "1.2.3", Weight: 2,
}

func node(t *testing.T, m topology.Member) *memberlist.Node {
	t.Helper()
	meta, err := announce(&m)
	if err != nil {
		t.Fatal(err)
	}
	return &memberlist.Node{
		Name: nodeName(m.ID, m.Incarnation), Addr: m.Gossip.Addr().AsSlice(), Port: m.Gossip.Port(), Meta: meta,
	}
}

// What is announced is a promise to other versions.
func TestAnnounce(t *testing.T) {
	n := node(t, sample)
	if want := "limiter-1@site@18d75b842b4ecd15"; n.Name != want {
		t.Errorf("the node is called %s, want %s", n.Name, want)
	}
	const want = `{"role":"limiter","state":"serving","service":"[fd00::1]:5454","version":"1.2.3","weight":2,"admin":"10.0.0.1:9454"}`
	if string(n.Meta) != want {
		t.Errorf("it announces %s, want %s", n.Meta, want)
	}
	if got, err := readNode(n); err != nil || got != sample {
		t.Errorf("it is read as %+v, %v, want %+v", got, err, sample)
	}
	n.Addr = net.ParseIP("10.0.0.1") // as 16 bytes
	n.Meta = []byte(`{"colour":"red","role":"observer","state":"draining","service":"10.0.0.1:1"}`)
	got, err := readNode(n)
	if err != nil || got.Role != topology.Observer || got.State != topology.Draining || got.Gossip != sample.Gossip {
		t.Errorf("another version's is read as %+v, %v", got, err)
	}
}

func TestReadNodeRefuses(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(*memberlist.Node)
		says   string
	}{
		{"no incarnation", func(n *memberlist.Node) { n.Name = "limiter-1" }, "not an instance-id and an incarnation"},
		{"no ID", func(n *memberlist.Node) { n.Name = n.Name[len(sample.ID):] }, "not an instance-id and"},
		{"a long ID", func(n *memberlist.Node) { n.Name = strings.Repeat("x", longestID) + n.Name }, "not an instance-id and"},
		{"incarnation 0", func(n *memberlist.Node) { n.Name = "a@0000000000000000" }, "does not end in an incarnation"},
		{"negative", func(n *memberlist.Node) { n.Name = "a@-000000000000001" }, "does not end in an incarnation"},
		{"upper case", func(n *memberlist.Node) { n.Name = "a@000000000000000A" }, "does not end in an incarnation"},
		{"too short", func(n *memberlist.Node) { n.Name = "a@1" }, "does not end in an incarnation"},
		{"no address", func(n *memberlist.Node) { n.Addr = nil }, "no address"},
		{"nothing", func(n *memberlist.Node) { n.Meta = nil }, "cannot be read"},
		{"not JSON", func(n *memberlist.Node) { n.Meta = []byte("{") }, "cannot be read"},
		{"another type", func(n *memberlist.Node) { n.Meta = []byte(`{"role":1}`) }, "cannot be read"},
		{"no role", func(n *memberlist.Node) { n.Meta = []byte(`{}`) }, `role "" is not known`},
		{"silent", func(n *memberlist.Node) { n.Meta = []byte(`{"role":"limiter","state":"silent"}`) }, `state "silent" is not known`},
		{"no service", func(n *memberlist.Node) { n.Meta = []byte(`{"role":"limiter","state":"serving"}`) }, "where it serves"},
		{"bad service", func(n *memberlist.Node) { n.Meta = []byte(`{"service":"host:1"}`) }, "cannot be read"},
	} {
		n := node(t, sample)
		c.change(n)
		if m, err := readNode(n); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %+v, %v, want an error with %q", c.what, m, err, c.says)
		}
	}
}

// A name and an announcement that are accepted are the only ones for that member.
func FuzzReadNode(f *testing.F) {
	f.Add("limiter-1@18d75b842b4ecd15", []byte(`{"role":"limiter","state":"serving","service":"[fd00::1]:5454","version":"1.2.3","weight":2,"admin":"10.0.0.1:9454"}`))
	f.Add("@@0000000000000001", []byte(`{"role":"observer","state":"starting","service":"1.2.3.4:0"}`))
	f.Fuzz(func(t *testing.T, name string, meta []byte) {
		m, err := readNode(&memberlist.Node{Name: name, Addr: net.IPv4(10, 0, 0, 1), Port: 7373, Meta: meta})
		if err != nil {
			return
		}
		n := node(t, m)
		if n.Name != name {
			t.Errorf("%q is the name of %q", name, n.Name)
		}
		if again, err := readNode(n); err != nil || again != m {
			t.Errorf("%+v is read back as %+v, %v", m, again, err)
		}
	})
}
