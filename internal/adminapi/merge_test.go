package adminapi

import (
	"reflect"
	"testing"
)

func TestMerge(t *testing.T) {
	a := &Top{
		HalfLife: 60, Seconds: 80, Lost: 1, AttemptsTotal: 800, AttemptsUnlisted: 3,
		Attempts: []Key{
			{Resource: "r", Level: "resource", Count: 500, Error: 10},
			{Resource: "s", Level: "resource", Count: 100, Error: 1},
			{Resource: "r", Method: "m", Level: "method", Count: 40},
		},
		RejectionsTotal: 7, Rejections: []Key{{Resource: "r", Level: "resource", Count: 7}},
	}
	b := &Top{
		HalfLife: 60, Seconds: 1, Lost: 2, AttemptsTotal: 200, AttemptsUnlisted: 5,
		Attempts: []Key{
			{Resource: "s", Level: "none", Count: 150, Error: 2},
			{Resource: "l", Digest: "0a", Level: "full", Count: 30},
			{Resource: "l", Digest: "0b", Level: "full", Count: 20},
			{Resource: "r", Level: "resource", Count: 10},
		},
	}
	want := Top{
		HalfLife: 60, Seconds: 1000.0 / 210, Lost: 3, AttemptsTotal: 1000, AttemptsUnlisted: 8,
		Attempts: []Key{
			{Resource: "r", Level: "resource", Count: 510, Error: 10},
			{Resource: "s", Level: "none", Count: 250, Error: 3},
			{Resource: "r", Method: "m", Level: "method", Count: 40, Error: 5},
			{Resource: "l", Digest: "0a", Level: "full", Count: 30, Error: 3},
			{Resource: "l", Digest: "0b", Level: "full", Count: 20, Error: 3},
		},
		RejectionsTotal: 7, Rejections: []Key{{Resource: "r", Level: "resource", Count: 7}},
	}
	for _, tops := range [][]*Top{{a, b}, {b, a}} {
		if got := Merge(tops...); !reflect.DeepEqual(*got, want) {
			t.Errorf("\n got %+v\nwant %+v", *got, want)
		}
	}
	got := Merge(a, b)
	got.First(2)
	if len(got.Attempts) != 2 || got.AttemptsUnlisted != 45 || len(got.Rejections) != 1 || got.RejectionsUnlisted != 0 {
		t.Errorf("the first two: %+v", got)
	}
	if got := Merge(); len(got.Attempts) != 0 || got.Attempts == nil {
		t.Errorf("of nobody: %+v", got)
	}
}
