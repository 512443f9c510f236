package topologyrpc

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/levee-project/levee/internal/topology"
	pb "github.com/levee-project/levee/internal/topologyrpc/topologyv1"
)

func TestEveryFieldArrives(t *testing.T) {
	var members []topology.Member
	for i, role := range topology.Roles {
		for j, state := range topology.States {
			members = append(members, topology.Member{
				ID: string(role) + "-" + string(state), Role: role, State: state, Incarnation: int64(1e18) + int64(j),
				Gossip:  netip.MustParseAddrPort("10.0.0.1:7373"),
				Service: netip.MustParseAddrPort("[2001:db8::1]:5454"),
				Admin:   netip.MustParseAddrPort("10.0.0.1:9454"),
				Version: "0.1.0", Weight: i + j, Since: time.Unix(1_700_000_000, int64(i)),
			})
		}
	}
	members = append(members, topology.Member{ID: "bare", Role: topology.Observer, State: topology.Starting})
	sent := topology.NewView(42, members)
	encoded, err := proto.Marshal(encode("o1", sent))
	if err != nil {
		t.Fatal(err)
	}
	var s pb.Snapshot
	if err := proto.Unmarshal(encoded, &s); err != nil {
		t.Fatal(err)
	}
	got, err := decode(&s)
	if err != nil {
		t.Fatal(err)
	}
	if s.GetObserver() != "o1" || got.Revision() != 42 || !reflect.DeepEqual(got.Members(), sent.Members()) {
		t.Errorf("%s sent revision %d with\n%+v, want o1, 42 and\n%+v",
			s.GetObserver(), got.Revision(), got.Members(), sent.Members())
	}
}

// good returns a member that nothing is wrong with, after an edit.
func good(edit func(*pb.Member)) *pb.Member {
	m := &pb.Member{
		Id: "l1", Role: pb.Role_ROLE_LIMITER, State: pb.State_STATE_SERVING,
		GossipAddress: "10.0.0.1:7373", ServiceAddress: "10.0.0.1:5454",
	}
	edit(m)
	return m
}

func TestMalformedSnapshots(t *testing.T) {
	for want, edit := range map[string]func(*pb.Member){
		"has no id":            func(m *pb.Member) { m.Id = "" },
		`"other" is there twi`: func(m *pb.Member) { m.Id = "other" },
		"no role":              func(m *pb.Member) { m.Role = 0 },
		"no state":             func(m *pb.Member) { m.State = 0 },
		`gossip address: "x"`:  func(m *pb.Member) { m.GossipAddress = "x" },
		"service address: ":    func(m *pb.Member) { m.ServiceAddress = "10.0.0.1" },
		"no service address":   func(m *pb.Member) { m.ServiceAddress = "" },
		"weight -1":            func(m *pb.Member) { m.Weight = -1 },
	} {
		s := &pb.Snapshot{Members: []*pb.Member{good(func(m *pb.Member) { m.Id = "other" }), good(edit)}}
		if _, err := decode(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	}
}

func TestALaterVersionsMembersArePassedOver(t *testing.T) {
	v, err := decode(&pb.Snapshot{Revision: 3, Members: []*pb.Member{
		good(func(m *pb.Member) { m.Id, m.Role = "a", 99 }),
		good(func(m *pb.Member) { m.Id, m.State = "b", 99 }),
		good(func(*pb.Member) {}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Members()) != 1 || v.Members()[0].ID != "l1" {
		t.Errorf("the members are %+v, want l1 only", v.Members())
	}
}

// FuzzDecode looks for snapshots that are taken and do not survive being sent on.
func FuzzDecode(f *testing.F) {
	for _, v := range []*topology.View{view(1, 0), view(2, 3)} {
		encoded, err := proto.Marshal(encode("o1", v))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(encoded)
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		var s pb.Snapshot
		if proto.Unmarshal(encoded, &s) != nil {
			return
		}
		v, err := decode(&s)
		if err != nil {
			return
		}
		again, err := decode(encode(s.GetObserver(), v))
		if err != nil {
			t.Fatalf("sent on, it is refused: %v", err)
		}
		if !again.Same(v) {
			t.Fatalf("sent on, it is\n%+v, was\n%+v", again.Members(), v.Members())
		}
	})
}
