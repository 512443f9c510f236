package adminapi

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/levee-project/levee/internal/attempt"
)

// Bucket is what a limiter holds of the bucket that an attempt would draw from.
// Level is none, and the rest 0, where no quota applies.
type Bucket struct {
	// Level is that at which the quota was found.
	Level string `json:"level"`
	// Debt is in hits: how far the bucket is ahead of its rate, 0 when it is idle.
	Debt float64 `json:"debt_hits"`
	// AtOnce is how many hits pass at once when it is idle; with 0 none ever does.
	AtOnce int64 `json:"at_once"`
	// Remaining is how many would pass now.
	Remaining int64 `json:"remaining"`
}

// BucketPage answers questions about the bucket of an attempt, whose parts are the
// parameters resource, prefix and method. Asking counts nothing.
func BucketPage(of func(*attempt.Attempt) Bucket) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, err := ParseAttempt(r.URL.Query())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		Page(func() Bucket { return of(a) }).ServeHTTP(w, r)
	})
}

// ParseAttempt reads an attempt of one hit from the parameters resource, prefix
// and method, by the rules of the attempt interface. An empty prefix or method is
// none.
func ParseAttempt(q url.Values) (*attempt.Attempt, error) {
	a := &attempt.Attempt{Hits: 1}
	for name, part := range map[string]*[]byte{"resource": &a.Resource, "prefix": &a.Prefix, "method": &a.Method} {
		text := strings.Trim(q.Get(name), " \t")
		if name == "prefix" {
			text = strings.Trim(text, "/")
		}
		if len(text) > attempt.MaxKeyPart {
			return nil, fmt.Errorf("the %s has %d bytes, of %d that an attempt may have", name, len(text), attempt.MaxKeyPart)
		}
		*part = []byte(text)
	}
	if len(a.Resource) == 0 {
		return nil, fmt.Errorf("the resource is missing")
	}
	return a, nil
}

// parameters is the reverse of ParseAttempt.
func parameters(a *attempt.Attempt) string {
	return url.Values{"resource": {string(a.Resource)}, "prefix": {string(a.Prefix)}, "method": {string(a.Method)}}.Encode()
}
