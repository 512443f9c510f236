package quota

import "strings"

// entry is what the compiler knows about one stored key.
type entry struct {
	raw string // the value as last seen
	err error  // why raw does not take effect

	path      Path   // zero if the key means nothing here
	canonical string // the key as path spells it

	good   string // the last value that was valid
	quota  *Quota // good, parsed; nil for factors
	factor int    // good, parsed; 0 for quotas
}

// newEntry reads a stored key that was not there before.
func newEntry(key string) *entry {
	if strings.HasPrefix(key, observers) {
		return &entry{}
	}
	p, err := ParsePath(key)
	return &entry{path: p, canonical: p.String(), err: err}
}

// set takes a new value and reports whether the last good one is another now.
func (e *entry) set(raw string) bool {
	e.raw = raw
	var q *Quota
	var factor int
	switch e.path.Kind {
	case 0:
		return false
	case KindFactorDefault, KindFactorKey:
		factor, e.err = ParseFactor(raw)
	default:
		q, e.err = ParseQuota(raw)
	}
	if e.err != nil {
		return false
	}
	e.good, e.quota, e.factor = raw, q, factor
	return true
}

// valid says whether there is a good value. A nil entry has none.
func (e *entry) valid() bool { return e != nil && (e.quota != nil || e.factor > 0) }

// inForce returns the good value: a quota or a factor. A nil entry has neither.
func (e *entry) inForce() (*Quota, int) {
	if e == nil {
		return nil, 0
	}
	return e.quota, e.factor
}
