package quota

import "maps"

// draft is the next snapshot while it is made from the last one, which stays as
// it is: a map is copied before the first change to it, and what does not change
// is shared.
type draft struct {
	next Snapshot

	subkeys, resources, factors bool // whether the map of this name is a copy already

	resource map[string]bool // KEYs whose own sublimits are a copy already
}

func newDraft(last *Snapshot) *draft {
	return &draft{next: *last, resource: map[string]bool{}}
}

// place sets what is in force at p: a quota or a factor; nil and 0 for nothing.
func (d *draft) place(p Path, q *Quota, factor int) {
	switch p.Kind {
	case KindKeyDefault:
		d.next.keyDefault = q
	case KindSubkeyDefault:
		copyOnce(&d.next.subkeys, &d.subkeys)
		put(d.next.subkeys, p.Subkey, q)
	case KindKeyQuota, KindKeySublimit:
		d.placeOwn(p, q)
	case KindFactorDefault:
		d.next.factor = factor
	case KindFactorKey:
		copyOnce(&d.next.factors, &d.factors)
		put(d.next.factors, p.Key, factor)
	}
}

// placeOwn is place for a resource's own quotas.
func (d *draft) placeOwn(p Path, q *Quota) {
	copyOnce(&d.next.resources, &d.resources)
	own := d.next.resources[p.Key]
	if p.Kind == KindKeyQuota {
		own.quota = q
	} else {
		copied := d.resource[p.Key]
		copyOnce(&own.subkeys, &copied)
		d.resource[p.Key] = copied
		put(own.subkeys, p.Subkey, q)
	}
	if own.quota == nil && len(own.subkeys) == 0 {
		delete(d.next.resources, p.Key)
		delete(d.resource, p.Key)
	} else {
		d.next.resources[p.Key] = own
	}
}

// finish returns the snapshot. The draft must not be used afterwards.
func (d *draft) finish(revision int64) *Snapshot {
	s := &d.next
	s.Revision = revision
	s.quotas = len(s.subkeys)
	if s.keyDefault != nil {
		s.quotas++
	}
	for _, own := range s.resources {
		s.quotas += len(own.subkeys)
		if own.quota != nil {
			s.quotas++
		}
	}
	s.maxFactor = s.factor
	for _, factor := range s.factors {
		s.maxFactor = max(s.maxFactor, factor)
	}
	return s
}

// copyOnce makes *m a map that may be changed.
func copyOnce[V any](m *map[string]V, copied *bool) {
	if *copied {
		return
	}
	*copied = true
	if *m == nil {
		*m = map[string]V{}
	} else {
		*m = maps.Clone(*m)
	}
}

// put sets m[key], or deletes it if there is nothing to set.
func put[V comparable](m map[string]V, key string, v V) {
	var nothing V
	if v == nothing {
		delete(m, key)
	} else {
		m[key] = v
	}
}
