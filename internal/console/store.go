package console

import (
	"cmp"
	"maps"
	"slices"

	"github.com/levee-project/levee/internal/adminapi"
)

// everybody are all processes that the collector remembers, by name.
func (c *collector) everybody() map[string]*known {
	all := maps.Clone(c.members)
	for id, k := range c.proxies {
		if _, taken := all[id]; taken {
			id += " (client-proxy)"
		}
		all[id] = k
	}
	return all
}

// storageOf is what a process says of the configuration; nil if it does not.
func storageOf(k *known) *adminapi.Storage {
	if !k.answers() {
		return nil
	}
	return k.status.Storage
}

// newestOf returns the newest configuration: the highest revision of those who
// are connected to the store, or of all if none is. Nobody's is nil.
func newestOf(all map[string]*known) (newest *adminapi.Storage) {
	better := func(s *adminapi.Storage) bool {
		switch {
		case newest == nil:
			return true
		case s.Connected != newest.Connected:
			return s.Connected
		}
		return s.Revision > newest.Revision
	}
	for _, k := range all {
		if s := storageOf(k); s != nil && better(s) {
			newest = s
		}
	}
	return newest
}

// same says whether two have the same entries in force. Members of older versions
// say no digest: of theirs only the revision is known.
func same(a, b *adminapi.Storage) bool {
	if a.Digest == "" || b.Digest == "" {
		return a.Revision == b.Revision
	}
	return a.Digest == b.Digest
}

// compare finds who is behind: who has neither the newest configuration nor the
// one that was the newest a round ago, but an older one. The members are asked one
// after the other, so a change in between makes no laggard.
func (c *collector) compare() {
	all := c.everybody()
	newest := newestOf(all)
	for _, k := range all {
		s := storageOf(k)
		k.behind = s != nil && c.newest != nil && !same(s, newest) && !same(s, c.newest) && s.Revision < c.newest.Revision
	}
	c.newest = newest
}

// store says which configuration is in force where.
func (c *collector) store() (s store) {
	all := c.everybody()
	newest := newestOf(all)
	faults := map[fault]int{}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		k := all[id]
		has := storageOf(k)
		switch {
		case has == nil:
			s.Unknown = append(s.Unknown, id)
			continue
		case same(has, newest):
			s.InForce++
		case k.behind:
			s.Lagging = append(s.Lagging, id)
		}
		s.Known++
		if !has.Connected {
			s.Away = append(s.Away, id)
		}
		s.Invalid = max(s.Invalid, has.Invalid)
		for _, f := range has.Faults {
			faults[fault{Key: f.Key, Why: f.Why}]++
		}
	}
	if newest != nil {
		s.Revision = newest.Revision
	}
	for f, at := range faults {
		f.At = at
		s.Faults = append(s.Faults, f)
	}
	slices.SortFunc(s.Faults, func(a, b fault) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Why, b.Why))
	})
	s.Faults = s.Faults[:min(len(s.Faults), adminapi.MaxFaults)]
	return s
}
