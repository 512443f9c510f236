package gossip

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/levee-project/levee/internal/topology"
)

// longestMemory bounds what is read of another's memory, in bytes. As much as a
// tracker remembers takes a third of it, with the longest names that there are.
const longestMemory = 4 << 20

// memory is topology.Memory as it travels: as a whole when two members compare
// what they know, and in parts as a message. Ages are milliseconds.
type memory struct {
	Silent []silent `json:"silent,omitempty"`
	Ended  []ended  `json:"ended,omitempty"`
}

type silent struct {
	Name   string         `json:"name"` // of its node
	Gossip netip.AddrPort `json:"gossip"`
	announcement
	Age int64 `json:"age"`
}

type ended struct {
	Name string `json:"name"` // of the last node that is over
	Left bool   `json:"left,omitempty"`
	Age  int64  `json:"age"`
}

func encodeMemory(m topology.Memory) ([]byte, error) {
	var out memory
	for _, r := range m.Silent {
		s := r.Member
		out.Silent = append(out.Silent, silent{
			Name: nodeName(s.ID, s.Incarnation), Gossip: s.Gossip,
			// What is silent has served.
			announcement: announcement{s.Role, topology.Serving, s.Service, s.Version, s.Weight, s.Admin},
			Age:          milliseconds(r.Age),
		})
	}
	for _, e := range m.Ended {
		out.Ended = append(out.Ended, ended{nodeName(e.ID, e.Incarnation), e.Left, milliseconds(e.Age)})
	}
	return json.Marshal(out)
}

// milliseconds rounds up: an age that travels must not shrink.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// oldest bounds the ages that are read. It is longer than anything is remembered.
const oldest = 1000 * 24 * time.Hour

func age(ms int64) (time.Duration, error) {
	if ms < 0 || ms > oldest.Milliseconds() {
		return 0, fmt.Errorf("the age %d ms is out of range", ms)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// decodeMemory reads what another remembers. What it holds that cannot be read
// is left out, and the error joins why.
func decodeMemory(text []byte) (m topology.Memory, err error) {
	if len(text) > longestMemory {
		return m, fmt.Errorf("%d bytes are more than the %d that are read", len(text), longestMemory)
	}
	var in memory
	if err := json.Unmarshal(text, &in); err != nil {
		return m, err
	}
	var errs []error
	for i := range in.Silent {
		r, err := in.Silent[i].read()
		if err != nil {
			errs = append(errs, fmt.Errorf("silent member %q: %w", in.Silent[i].Name, err))
			continue
		}
		m.Silent = append(m.Silent, r)
	}
	for i := range in.Ended {
		e, err := in.Ended[i].read()
		if err != nil {
			errs = append(errs, fmt.Errorf("ended run %q: %w", in.Ended[i].Name, err))
			continue
		}
		m.Ended = append(m.Ended, e)
	}
	return m, errors.Join(errs...)
}

func (s *silent) read() (r topology.Remembered, err error) {
	if r.Member.ID, r.Member.Incarnation, err = parseName(s.Name); err != nil {
		return r, err
	}
	if r.Age, err = age(s.Age); err != nil {
		return r, err
	}
	r.Member.Gossip = s.Gossip
	return r, s.member(&r.Member)
}

func (e *ended) read() (out topology.Ended, err error) {
	if out.ID, out.Incarnation, err = parseName(e.Name); err != nil {
		return out, err
	}
	out.Left = e.Left
	out.Age, err = age(e.Age)
	return out, err
}
