package gossip

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/topology"
)

func TestMemory(t *testing.T) {
	silent := sample
	silent.State = topology.Silent
	silent.Since = time.Now()
	text, err := encodeMemory(topology.Memory{
		Silent: []topology.Remembered{{Member: silent, Age: 1500 * time.Microsecond}},
		Ended: []topology.Ended{
			{ID: "a", Incarnation: 1, Left: true, Age: time.Minute},
			{ID: "b", Incarnation: 2, Age: 0},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	// A promise to other versions.
	const want = `{"silent":[{"name":"limiter-1@site@18d75b842b4ecd15","gossip":"10.0.0.1:7373","role":"limiter","state":"serving",` +
		`"service":"[fd00::1]:5454","version":"1.2.3","weight":2,"admin":"10.0.0.1:9454","age":2}],` +
		`"ended":[{"name":"a@0000000000000001","left":true,"age":60000},{"name":"b@0000000000000002","age":0}]}`
	if string(text) != want {
		t.Errorf("memory travels as\n%s, want\n%s", text, want)
	}
	got, err := decodeMemory(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Silent) != 1 || got.Silent[0] != (topology.Remembered{Member: sample, Age: 2 * time.Millisecond}) {
		t.Errorf("silent members are read as %+v", got.Silent)
	}
	if len(got.Ended) != 2 || got.Ended[0] != (topology.Ended{ID: "a", Incarnation: 1, Left: true, Age: time.Minute}) {
		t.Errorf("ended runs are read as %+v", got.Ended)
	}
	if text, err := encodeMemory(topology.Memory{}); err != nil || string(text) != "{}" {
		t.Errorf("no memory travels as %s, %v: it must not be empty, or nobody is told of the exchange", text, err)
	}
}

// What cannot be read is left out, and the rest counts.
func TestMemoryInPart(t *testing.T) {
	const good = `{"name":"a@0000000000000001","gossip":"10.0.0.1:1","role":"limiter","state":"serving","service":"10.0.0.1:2","age":1}`
	got, err := decodeMemory([]byte(`{"colour":"red","silent":[{"name":"x"},` + good + `,` +
		strings.Replace(good, `"age":1`, `"age":-1`, 1) + `,` + strings.Replace(good, "limiter", "tourist", 1) +
		`],"ended":[{"name":"a@0000000000000001","age":99999999999999},{"name":"b@0000000000000001"},{}]}`))
	if len(got.Silent) != 1 || got.Silent[0].Member.ID != "a" || len(got.Ended) != 1 || got.Ended[0].ID != "b" {
		t.Errorf("read as %+v", got)
	}
	for _, part := range []string{`silent member "x": its name`, "age -1 ms is out of range", `role "tourist"`, "99999999999999 ms", `ended run ""`} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error is %v, want %q in it", err, part)
		}
	}
	for text, says := range map[string]string{
		"":                                   "unexpected end",
		"[]":                                 "cannot unmarshal",
		strings.Repeat(" ", longestMemory+1): "are more than",
	} {
		if _, err := decodeMemory([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.10q: %v, want an error with %q", text, err, says)
		}
	}
}

// What is read can be merged, sent on, and is read the same.
func FuzzMemory(f *testing.F) {
	f.Add([]byte(`{"silent":[{"name":"a@0000000000000001","gossip":"10.0.0.1:1","role":"limiter","state":"serving","service":"10.0.0.1:2","age":1}]}`))
	f.Add([]byte(`{"ended":[{"name":"a@0000000000000001","left":true,"age":60000},{"name":"b@0000000000000002","age":0}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, _ := decodeMemory(text)
		now := time.Now()
		tr := topology.NewTracker(time.Hour)
		tr.Merge(now, m)
		tr.View(now)
		out, err := encodeMemory(m)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := decodeMemory(out); err != nil || !reflect.DeepEqual(again, m) {
			t.Errorf("%+v is read back as %+v, %v", m, again, err)
		}
	})
}
