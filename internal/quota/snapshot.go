package quota

import (
	"github.com/levee-project/levee/internal/attempt"
)

// Snapshot is every quota and factor in force at one revision of the shared
// tree. It is immutable, and safe for many goroutines. The zero Snapshot has no
// quota.
type Snapshot struct {
	// Revision is that of the tree it was compiled from.
	Revision int64

	keyDefault *Quota
	subkeys    map[string]*Quota   // limit/subkey_default, by decoded SUBKEY
	resources  map[string]resource // limit/key, by decoded KEY
	factors    map[string]int      // factor/key, by decoded KEY
	factor     int                 // factor/default; 0 = none
	quotas     int                 // how many entries of quotas are in force
	maxFactor  int
}

// resource is a resource's own quotas. The zero resource has none.
type resource struct {
	quota   *Quota
	subkeys map[string]*Quota // by decoded SUBKEY
}

// Resolve returns the quota that applies to a and the level at which it was
// found, or nil and None if there is none. At each level the resource's own
// entry goes before the default:
//
//	Full      R/P/M, or R/P without a method
//	Method    R/M
//	Resource  R
//
// Without a prefix the first two are one, called Method. It allocates nothing.
func (s *Snapshot) Resolve(a *attempt.Attempt) (*Quota, attempt.Level) {
	own := s.resources[string(a.Resource)]
	if len(own.subkeys)+len(s.subkeys) > 0 {
		if len(a.Prefix) > 0 {
			if q := s.full(own, a); q != nil {
				return q, attempt.Full
			}
		}
		if len(a.Method) > 0 {
			if q := s.subkey(own, a.Method); q != nil {
				return q, attempt.Method
			}
		}
	}
	if own.quota != nil {
		return own.quota, attempt.Resource
	}
	if s.keyDefault != nil {
		return s.keyDefault, attempt.Resource
	}
	return nil, attempt.None
}

// shortJoin is the longest P/M that is joined in a small buffer: every call
// pays for zeroing its buffer, and hardly any needs the large one.
const shortJoin = 128

// full looks up the quota of prefix and method, or of the prefix alone.
func (s *Snapshot) full(own resource, a *attempt.Attempt) *Quota {
	switch n := len(a.Prefix) + 1 + len(a.Method); {
	case len(a.Method) == 0:
		return s.subkey(own, a.Prefix)
	case n <= shortJoin:
		var join [shortJoin]byte
		return s.subkey(own, appendJoin(join[:0], a))
	case n <= maxSubkey:
		return s.long(own, a)
	default:
		return nil // no entry is that long
	}
}

// long is full for the longest keys. It is not inlined, so that its buffer is
// not part of its callers' stack frames.
//
//go:noinline
func (s *Snapshot) long(own resource, a *attempt.Attempt) *Quota {
	var join [maxSubkey]byte
	return s.subkey(own, appendJoin(join[:0], a))
}

// appendJoin spells a SUBKEY as [Subkey] does.
func appendJoin(dst []byte, a *attempt.Attempt) []byte {
	dst = append(dst, a.Prefix...)
	dst = append(dst, '/')
	return append(dst, a.Method...)
}

// subkey looks up one SUBKEY: the resource's own quota, else the default.
func (s *Snapshot) subkey(own resource, subkey []byte) *Quota {
	if q := own.subkeys[string(subkey)]; q != nil {
		return q
	}
	return s.subkeys[string(subkey)]
}

// Factor returns the group size wanted for a resource: its own, else the
// default, else 1. It allocates nothing.
func (s *Snapshot) Factor(resource []byte) int {
	if d := s.factors[string(resource)]; d > 0 {
		return d
	}
	return max(1, s.factor)
}

// MaxFactor returns the largest group size that any resource can want: with
// fewer limiters alive than that, a group is short.
func (s *Snapshot) MaxFactor() int { return max(1, s.maxFactor) }

// Quotas returns how many quota entries are in force.
func (s *Snapshot) Quotas() int { return s.quotas }
