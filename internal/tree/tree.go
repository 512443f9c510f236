// Package tree is the shared configuration as every store hands it out: raw
// entries at a revision. It gives no entry a meaning; packages that own a
// subtree do (quota owns limit/ and factor/).
package tree

// Tree is the whole shared configuration at one moment. It is immutable once
// handed out.
type Tree struct {
	// Revision is the store's own count of changes. It can go backwards, when
	// etcd is restored from a backup.
	Revision int64
	// Entries maps each key, as stored but without the root prefix and its
	// slash (limit/key_default), to its raw value.
	Entries map[string]string
}

// Fault is one entry that cannot take effect.
type Fault struct {
	// Key is the entry's key as stored, without the root prefix.
	Key string
	// Err says what is wrong with it and what would be right.
	Err error
}

// Error returns the fault as one line.
func (f Fault) Error() string { return f.Key + ": " + f.Err.Error() }
