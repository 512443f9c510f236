package quota

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/levee-project/levee/internal/attempt"
)

// What is accepted is JSON, within the ranges, and comes back equal from the
// spelling that is made of it.
func FuzzQuota(f *testing.F) {
	for _, c := range goodValues {
		f.Add(c.text)
	}
	for _, c := range badValues {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := ParseQuota(text)
		if err != nil {
			if q != nil || err.Error() == "" {
				t.Fatalf("%q: %v beside the error %q", text, q, err)
			}
			return
		}
		if !json.Valid([]byte(text)) {
			t.Fatalf("%q is accepted and is not JSON", text)
		}
		rate, burst := q.Rate(), q.Burst()
		if rate.Sign() != 0 && (rate.Cmp(minRate) < 0 || rate.Cmp(maxRate) > 0) || burst.Sign() < 0 || burst.Cmp(maxBurst) > 0 ||
			q.Per() < minPer || q.Per() > maxPer {
			t.Fatalf("%q is accepted as rate %v, burst %v, per %v", text, rate, burst, q.Per())
		}
		again, err := ParseQuota(q.String())
		if err != nil {
			t.Fatalf("%q is spelled %s: %v", text, q, err)
		}
		if again.Rate().Cmp(rate) != 0 || again.Burst().Cmp(burst) != 0 || again.Value() != q.Value() || again.Limit(Whole) != q.Limit(Whole) {
			t.Fatalf("%q is spelled %s, which is another quota", text, q)
		}
		if l := q.Limit(Whole); (l.Fit > 0) != (rate.Sign() > 0) || l.Interval < 0 || l.Tolerance < 0 {
			t.Fatalf("%q has the limit %+v", text, l)
		}
	})
}

// What is accepted has a canonical key that means the same and is its own
// canonical key.
func FuzzKeyPath(f *testing.F) {
	for _, key := range []string{
		"limit/key_default", "limit/subkey_default/GET", "limit/key/photos/quota", "limit/key/photos/sublimit/albums/GET", "factor/default", "factor/key/photos",
		"limit/key/a/b/quota", "limit/key/a%2Fb/quota", "limit/key/%71uota/quota", "limit/key/a/sublimit/quota", "limit/key/a/sublimit/sublimit/x",
		"limit/key/quota", "limit/key/%zz/quota", "limt/key_default", "limit/key/\x00\xff/quota", "limit/key//sublimit//", "factor/key/%", "observer/a", "",
	} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		p, err := ParsePath(key)
		if err != nil {
			if p != (Path{}) || err.Error() == "" {
				t.Fatalf("%q: %+v beside the error %q", key, p, err)
			}
			return
		}
		canonical := p.String()
		if again, err := ParsePath(canonical); err != nil || again != p || again.String() != canonical {
			t.Fatalf("%q means %+v and is spelled %q, which means %+v, %v", key, p, canonical, again, err)
		}
		if len(p.Key) > attempt.MaxKeyPart || len(p.Subkey) > 2*attempt.MaxKeyPart+1 {
			t.Fatalf("%q has a part that no attempt can match", key)
		}
		if p.Kind == KindKeyQuota || p.Kind == KindKeySublimit {
			plain := 0
			for word := range strings.SplitSeq(strings.TrimPrefix(canonical, forKey), "/") {
				if word == wordQuota || word == wordSublimit {
					plain++
				}
			}
			if plain != 1 {
				t.Fatalf("%q is spelled %q, with %d dividing words", key, canonical, plain)
			}
		}
	})
}

// Two names of buckets are equal exactly if the tuples are.
func FuzzBucket(f *testing.F) {
	f.Add(uint8(3), "a/b", "", "c", uint8(3), "a", "b", "c")
	f.Add(uint8(3), "a", "b", "c", uint8(3), "a", "b/c", "")
	f.Add(uint8(2), "a", "b", "c", uint8(3), "a", "", "c")
	f.Add(uint8(1), "a", "b", "c", uint8(1), "a", "", "")
	f.Add(uint8(3), "a\x01b", "", "", uint8(3), "a", "b", "")
	f.Fuzz(func(t *testing.T, l1 uint8, r1, p1, m1 string, l2 uint8, r2, p2, m2 string) {
		level1, level2 := attempt.Level(l1%4), attempt.Level(l2%4)
		same := cut(level1, r1, p1, m1) == cut(level2, r2, p2, m2)
		if one, other := bucketName(level1, r1, p1, m1), bucketName(level2, r2, p2, m2); (one == other) != same {
			t.Fatalf("(%q, %q, %q) at %v is named %q, (%q, %q, %q) at %v is named %q", r1, p1, m1, level1, one, r2, p2, m2, level2, other)
		}
	})
}
