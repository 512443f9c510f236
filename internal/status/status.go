// Package status gathers what a daemon says of itself on its admin port, from
// the parts that know: each sets, or hands over a function for, what is its own.
package status

import (
	"sync"
	"time"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/daemon"
)

// Board is where the parts of a daemon put what they know. Its methods may be
// called from any goroutine.
type Board struct {
	health  *daemon.Health
	started time.Time

	mu      sync.Mutex // guards the rest
	fixed   adminapi.Status
	storage *adminapi.Storage
	more    []func(*adminapi.Status)
}

// New returns the board of a process that begins now.
func New(role, id string, health *daemon.Health) *Board {
	return &Board{health: health, started: time.Now(), fixed: adminapi.Status{
		Role: role, ID: id, Version: daemon.ReadBuild().Version,
	}}
}

// SetStorage says what is known of the shared configuration, from now on.
func (b *Board) SetStorage(s adminapi.Storage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.storage = &s
}

// Add has fill called for each report.
func (b *Board) Add(fill func(*adminapi.Status)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.more = append(b.more, fill)
}

// Report is the daemon at this moment.
func (b *Board) Report() adminapi.Status {
	b.mu.Lock()
	s, more := b.fixed, b.more
	s.Storage = b.storage
	b.mu.Unlock()
	s.Started, s.Now = b.started, time.Now()
	s.Ready, s.State = b.health.Ready()
	for _, fill := range more {
		fill(&s)
	}
	return s
}
