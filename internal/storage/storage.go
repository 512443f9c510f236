package storage

import (
	"context"

	"github.com/levee-project/levee/internal/tree"
)

// Store follows one source of the shared tree.
type Store interface {
	// Run calls the sink with the whole tree, first as soon as it is known and
	// then at each change, until ctx ends. It waits for a store that is away and
	// catches up when it is back; it returns early only with an error that
	// waiting cannot mend.
	Run(ctx context.Context, sink tree.Sink) error
}
