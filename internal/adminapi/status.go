package adminapi

import (
	"net/netip"
	"time"
)

// Status is a daemon at one moment.
type Status struct {
	// Role is limiter, observer or client-proxy.
	Role string `json:"role"`
	// ID is its instance-id.
	ID      string `json:"id"`
	Version string `json:"version"`
	// Started is when the process began, by its own clock.
	Started time.Time `json:"started"`
	// Now is when this was written, by its own clock.
	Now time.Time `json:"now"`
	// Ready and State are what /readyz says.
	Ready bool   `json:"ready"`
	State string `json:"state"`
	// Storage is absent before the first answer of the store.
	Storage *Storage `json:"storage,omitempty"`
	// Attempts are counted since the start. Absent from an observer.
	Attempts *Attempts `json:"attempts,omitempty"`
	// Keys are the buckets that are held in memory. Absent from an observer.
	Keys *int64 `json:"keys,omitempty"`
	// Watchers are those who follow the topology at this observer, sorted by ID.
	Watchers []Watcher `json:"watchers,omitempty"`
	// Limiters are those that this client-proxy asks, sorted by ID.
	Limiters []Link `json:"limiters,omitempty"`
}

// Storage is the shared configuration as a daemon has it.
type Storage struct {
	// Revision is the store's, in force here.
	Revision int64 `json:"revision"`
	// Digest is the same wherever the same entries are. Revisions alone do not tell,
	// because etcd counts changes of others, too. Absent from older versions.
	Digest string `json:"digest,omitempty"`
	// Connected says whether the store answers.
	Connected bool `json:"connected"`
	// Invalid is how many entries cannot take effect; Faults are the first
	// [MaxFaults] of them, sorted by key.
	Invalid int     `json:"invalid"`
	Faults  []Fault `json:"faults,omitempty"`
}

// MaxFaults bounds the faults that a status names.
const MaxFaults = 100

// Fault is an entry that cannot take effect.
type Fault struct {
	// Key is as stored, without the prefix of the store.
	Key string `json:"key"`
	// Why is a sentence for people.
	Why string `json:"why"`
}

// Attempts are counts of answers.
type Attempts struct {
	Accepted int64 `json:"accepted"`
	Rejected int64 `json:"rejected"`
	Failed   int64 `json:"failed"`
}

// Watcher is somebody who follows the topology at an observer, such as a
// client-proxy, which nobody else knows of.
type Watcher struct {
	ID      string `json:"id"`
	Role    string `json:"role"`
	Version string `json:"version"`
	// Addr is where it connected from.
	Addr netip.AddrPort `json:"addr"`
	// Admin is its admin port; the zero value when it has none that can be reached.
	Admin netip.AddrPort `json:"admin"`
	Since time.Time      `json:"since"`
}

// Link is a limiter as a client-proxy sees it.
type Link struct {
	ID string `json:"id"`
	// Up says whether it can be asked.
	Up bool `json:"up"`
	// Attempts are those that it was asked, since the proxy knows it.
	Attempts int64 `json:"attempts"`
}
