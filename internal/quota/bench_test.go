package quota

import (
	"fmt"
	"maps"
	"strconv"
	"testing"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/tree"
)

const many = 100_000

// bigTree has many entries: own quotas, sublimits, and some factors.
func bigTree() *tree.Tree {
	entries := map[string]string{
		KeyDefault:                 `{"rate": 6600, "burst": 165}`,
		SubkeyDefault("POST"):      `{"rate": 10, "burst": 1}`,
		SubkeyDefault("other/GET"): `{"rate": 10, "burst": 1}`,
	}
	for i := 0; len(entries) < many; i++ {
		name := "resource-" + strconv.Itoa(i)
		entries[ForKey(name)] = fmt.Sprintf(`{"rate": %d, "burst": 25}`, i+1)
		entries["limit/key/"+name+"/sublimit/albums/GET"] = `{"rate": 50, "burst": 5, "per": "1m"}`
		if i%10 == 0 {
			entries[FactorFor(name)] = "4"
		}
	}
	return &tree.Tree{Revision: 1, Entries: entries}
}

func BenchmarkCompileAll(b *testing.B) {
	t := bigTree()
	b.ReportAllocs()
	for b.Loop() {
		if _, faults := NewCompiler().Compile(t); len(faults) != 0 {
			b.Fatal(faults)
		}
	}
}

func BenchmarkCompileOneChange(b *testing.B) {
	t := bigTree()
	c := NewCompiler()
	c.Compile(t)
	versions := [2]*tree.Tree{}
	for i := range versions {
		versions[i] = &tree.Tree{Revision: int64(i), Entries: maps.Clone(t.Entries)}
		versions[i].Entries[ForKey("resource-7")] = fmt.Sprintf(`{"rate": %d, "burst": 1}`, i+1)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.Compile(versions[i%2])
	}
}

func BenchmarkCompileNoChange(b *testing.B) {
	t := bigTree()
	c := NewCompiler()
	c.Compile(t)
	for b.Loop() {
		c.Compile(t)
	}
}

func BenchmarkResolve(b *testing.B) {
	s, _ := NewCompiler().Compile(bigTree())
	long := make([]byte, attempt.MaxKeyPart)
	for _, c := range []struct {
		name string
		a    attempt.Attempt
	}{
		{"Full", attempt.Attempt{Resource: []byte("resource-77"), Prefix: []byte("albums"), Method: []byte("GET")}},
		{"Method", attempt.Attempt{Resource: []byte("resource-77"), Prefix: []byte("none"), Method: []byte("POST")}},
		{"ResourceOnly", attempt.Attempt{Resource: []byte("resource-77")}},
		{"ResourceAfterAll", attempt.Attempt{Resource: []byte("resource-77"), Prefix: []byte("none"), Method: []byte("PUT")}},
		{"Default", attempt.Attempt{Resource: []byte("unknown"), Prefix: []byte("none"), Method: []byte("PUT")}},
		{"Longest", attempt.Attempt{Resource: long, Prefix: long, Method: long}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				q, _ := s.Resolve(&c.a)
				_ = q.Limit(Whole)
			}
		})
	}
}

func BenchmarkResolveNoSublimits(b *testing.B) {
	s, _ := NewCompiler().Compile(&tree.Tree{Entries: map[string]string{KeyDefault: `{"rate": 6600, "burst": 165}`}})
	a := attempt.Attempt{Resource: []byte("photos"), Prefix: []byte("albums"), Method: []byte("GET")}
	b.ReportAllocs()
	for b.Loop() {
		q, _ := s.Resolve(&a)
		_ = q.Limit(Whole)
	}
}

func BenchmarkLimitOtherSize(b *testing.B) {
	q, err := ParseQuota(`{"rate": 6600, "burst": 165}`)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = q.Limit(Share{1, 4})
	}
}

func BenchmarkAppendBucket(b *testing.B) {
	a := attempt.Attempt{Resource: []byte("resource-77"), Prefix: []byte("albums"), Method: []byte("GET")}
	var dst [64]byte
	b.ReportAllocs()
	for b.Loop() {
		_ = AppendBucket(dst[:0], attempt.Full, &a)
	}
}
