package quota

import (
	"fmt"
	"slices"

	"github.com/levee-project/levee/internal/tree"
)

// spellings decides between stored keys that mean the same entry. It knows
// those that are not canonical; a canonical one is found without an index.
type spellings struct {
	others map[string][]string // stored keys, by canonical key
	losers map[string]string   // valid entries not in force: stored key to the one that is
}

func newSpellings() spellings {
	return spellings{others: map[string][]string{}, losers: map[string]string{}}
}

// add learns of a stored key. canonical is empty if it means nothing.
func (s *spellings) add(key, canonical string) {
	if canonical != "" && key != canonical {
		s.others[canonical] = append(s.others[canonical], key)
	}
}

// remove forgets a stored key.
func (s *spellings) remove(key, canonical string) {
	delete(s.losers, key)
	if canonical == "" || key == canonical {
		return
	}
	keys := slices.DeleteFunc(s.others[canonical], func(k string) bool { return k == key })
	if len(keys) == 0 {
		delete(s.others, canonical)
	} else {
		s.others[canonical] = keys
	}
}

// winner returns the entry in force among those that mean canonical, nil if
// there is none, and takes down who loses to it.
func (s *spellings) winner(canonical string, entries map[string]*entry) *entry {
	best := ""
	if entries[canonical].valid() {
		best = canonical
	}
	others := s.others[canonical]
	for _, key := range others {
		if entries[key].valid() && (best == "" || best != canonical && key < best) {
			best = key
		}
	}
	for _, key := range others {
		delete(s.losers, key)
		if key != best && entries[key].valid() {
			s.losers[key] = best
		}
	}
	return entries[best]
}

// lost says that key has no effect because of winner.
func lost(key, winner string) tree.Fault {
	return tree.Fault{Key: key, Err: fmt.Errorf("means the same entry as %s, which is in force instead: delete one of them", winner)}
}
