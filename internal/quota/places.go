package quota

import "github.com/levee-project/levee/internal/attempt"

// Place is one of the places where a quota for an attempt is looked for.
type Place struct {
	// Level is the level that the place belongs to.
	Level attempt.Level
	// Key is the canonical key of the entry that would be there.
	Key string
	// Quota is what is in force there, nil for none.
	Quota *Quota
}

// Places lists the places where [Snapshot.Resolve] looks for a quota for a, in
// its order: the first that has one applies. It explains a decision to a person;
// it is not for the hot path.
func (s *Snapshot) Places(a *attempt.Attempt) []Place {
	own := s.resources[string(a.Resource)]
	var places []Place
	both := func(level attempt.Level, prefix, method string) {
		subkey := Subkey(prefix, method)
		places = append(places,
			Place{level, ForSubkey(string(a.Resource), prefix, method), own.subkeys[subkey]},
			Place{level, SubkeyDefault(subkey), s.subkeys[subkey]})
	}
	if len(a.Prefix) > 0 {
		both(attempt.Full, string(a.Prefix), string(a.Method))
	}
	if len(a.Method) > 0 {
		both(attempt.Method, "", string(a.Method))
	}
	return append(places,
		Place{attempt.Resource, ForKey(string(a.Resource)), own.quota},
		Place{attempt.Resource, KeyDefault, s.keyDefault})
}
