package ctl

import (
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/ctl/load"
	"github.com/levee-project/levee/internal/quota"
)

func TestChart(t *testing.T) {
	r := &report{Octaves: []octave{{1, 10}, {2, 0}, {4, 1000}, {8, 1}}}
	var b strings.Builder
	r.chart(&b)
	const want = `    < 1ms         10  #
    < 2ms          0  
    < 4ms       1000  ##################################################
    < 8ms          1  #
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}

// What passed is held against the rate in the second half, and against the whole
// allowance in all.
func TestCompare(t *testing.T) {
	q, err := quota.ParseQuota(`{"rate": 100, "burst": 20}`)
	if err != nil {
		t.Fatal(err)
	}
	r := reportOf(&bench{}, &load.Tally{
		Accepted: 424, Rejected: 576, Took: 4 * time.Second, CPU: 5 * time.Millisecond,
		Later: load.Part{Took: 2 * time.Second, Answers: 500, Accepted: 202},
	})
	r.compare(q, 4)
	if r.AcceptedPerSecond != 101 || r.Quota.Share != 1.01 || r.Quota.Most != 424 || r.PerSecond != 250 || r.CPU != 5 {
		t.Errorf("%+v, %+v", r, r.Quota)
	}
	zero, err := quota.ParseQuota(`{"rate": 0, "burst": 20}`)
	if err != nil {
		t.Fatal(err)
	}
	if r.compare(zero, 1); r.Quota.Share != 0 || r.Quota.Most != 0 {
		t.Errorf("%+v", r.Quota)
	}
	if r := reportOf(&bench{}, new(load.Tally)); r.PerSecond != 0 || r.CPU != 0 {
		t.Errorf("of nothing: %+v", r)
	}
}

func TestProgress(t *testing.T) {
	text := progress(load.Part{Took: time.Second, Answers: 100, Accepted: 50}, load.Part{Took: 3 * time.Second, Answers: 500, Accepted: 250}, &load.Tally{Lost: 2})
	if text != "200/s, 100/s accepted, p99 0us, 2 without an answer" {
		t.Error(text)
	}
}

func TestAddrOf(t *testing.T) {
	for _, tt := range []struct {
		addr   string
		remote bool
		want   string // or what the error says
	}{
		{"127.0.0.1:1", false, "127.0.0.1:1"},
		{"[::1]:1", false, "[::1]:1"},
		{"127.9.9.9:1", false, "127.9.9.9:1"},
		{"192.0.2.1:1", true, "192.0.2.1:1"},
		{"192.0.2.1:1", false, "not this host"},
		{"[2001:db8::1]:1", false, "not this host"},
		{"nowhere", false, "missing port"},
		{"127.0.0.1:http2", false, `"http2" is no port`},
	} {
		got, err := addrOf(t.Context(), tt.addr, tt.remote, time.Second)
		if text := got.String(); err == nil && text != tt.want {
			t.Errorf("%s: %s", tt.addr, text)
		}
		if err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.addr, err)
		}
	}
}
