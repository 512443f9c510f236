package ctl

import (
	"net/netip"
	"reflect"
	"testing"

	"github.com/levee-project/levee/internal/adminapi"
)

func TestSumUp(t *testing.T) {
	has := func(revision int64, digest string, connected bool) *adminapi.Status {
		return &adminapi.Status{Storage: &adminapi.Storage{Revision: revision, Digest: digest, Connected: connected}}
	}
	all := []*subject{
		{id: "a", role: "limiter", status: has(5, "x", true)},
		{id: "b", role: "limiter", status: has(90, "x", false)}, // another number, the same entries
		{id: "c", role: "observer", status: has(4, "w", true)},
		{id: "d", role: "client-proxy", status: has(9, "v", false)},
		{id: "e", role: "client-proxy", why: "no answer"},
		{id: "f", role: "limiter", status: has(9, "", true), why: "it does not say"}, // an older version
	}
	f := sumUp(all, "x", 6)
	want := &spread{
		Revision: 6, On: 2, Of: 6,
		Lagging: []laggard{{"c", "observer", 4, true}, {"d", "client-proxy", 9, false}},
		Unknown: []unasked{{"e", "client-proxy", "no answer"}, {"f", "limiter", "it does not say"}},
	}
	if !reflect.DeepEqual(f, want) || !f.lags() || (*spread)(nil).lags() {
		t.Errorf("%+v, want %+v", f, want)
	}
	var lines tableLines
	f.lines(&lines)
	texts := tableLines{
		{"in force:", "revision 6 on 2 of 6"},
		{"LAGS:", "c (observer): revision 4"},
		{"", "d (client-proxy): revision 9, not connected to the store"},
		{"not known:", "e (client-proxy): no answer"},
		{"", "f (limiter): it does not say"},
	}
	if !reflect.DeepEqual(lines, texts) {
		t.Errorf("%q, want %q", lines, texts)
	}
}

func TestNowTellsTheDebt(t *testing.T) {
	n := now{answer: &answer{Result: "accepted"}, Bucket: &adminapi.Bucket{Debt: 2.04, Remaining: 7}}
	if got := n.String(); got != "accepted; owes 2 hits, 7 more would pass" {
		t.Errorf("%q", got)
	}
	n = now{Fault: "gone"}
	n.ask(t.Context(), nil, netip.AddrPort{}, nil)
	if got := n.String(); got != "no answer: gone; what it owes is not known: its admin port cannot be reached from here" {
		t.Errorf("%q", got)
	}
}
