package quota

import (
	"bytes"
	"testing"

	"github.com/levee-project/levee/internal/attempt"
)

// tuple is what a bucket is, independently of how it is named.
type tuple struct{ r, p, m string }

func cut(level attempt.Level, r, p, m string) tuple {
	switch level {
	case attempt.Full:
		return tuple{r, p, m}
	case attempt.Method:
		return tuple{r, "", m}
	default:
		return tuple{r, "", ""}
	}
}

func bucketName(level attempt.Level, r, p, m string) string {
	return string(AppendBucket(nil, level, &attempt.Attempt{Resource: []byte(r), Prefix: []byte(p), Method: []byte(m)}))
}

// Over every attempt and level of a small alphabet that is made to be confused,
// two names are equal exactly if the tuples are.
func TestBucketsAreTuples(t *testing.T) {
	parts := []string{"", "a", "b", "/", "a/b", "b/a", "\x01", "\x01a", "\x00", "a\x00", "\x01\x00", string(bytes.Repeat([]byte("a"), 128)), string(bytes.Repeat([]byte("a"), 300))}
	names := map[string]tuple{}
	tuples := map[tuple]string{}
	for _, level := range []attempt.Level{attempt.Resource, attempt.Method, attempt.Full} {
		for _, r := range parts[1:] {
			for _, p := range parts {
				for _, m := range parts {
					want, name := cut(level, r, p, m), bucketName(level, r, p, m)
					if other, known := names[name]; known && other != want {
						t.Fatalf("%q and %q are both named %q", other, want, name)
					}
					if other, known := tuples[want]; known && other != name {
						t.Fatalf("%q is named %q and %q", want, other, name)
					}
					names[name], tuples[want] = want, name
				}
			}
		}
	}
}

func TestBucketsOfOneMethodAreOne(t *testing.T) {
	reached := bucketName(attempt.Method, "R", "", "M")
	for _, other := range []string{
		bucketName(attempt.Method, "R", "P", "M"),
		bucketName(attempt.Full, "R", "", "M"),
	} {
		if other != reached {
			t.Errorf("R/M is named %q and %q", reached, other)
		}
	}
	if a, b := bucketName(attempt.Resource, "R", "P", "M"), bucketName(attempt.None, "R", "", ""); a != b {
		t.Errorf("R is named %q and %q", a, b)
	}
}

func TestAppendBucketAppends(t *testing.T) {
	a := &attempt.Attempt{Resource: []byte("R"), Method: []byte("M")}
	got := AppendBucket([]byte("before"), attempt.Method, a)
	if want := append([]byte("before"), AppendBucket(nil, attempt.Method, a)...); !bytes.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
