package edit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/levee-project/levee/internal/storage"
	"github.com/levee-project/levee/internal/tree"
)

// Change is one entry that is to have another value. Nil stands for no entry.
type Change struct {
	// Key is the entry's, as stored, without the root prefix.
	Key string
	// Old is what was read, New what is to be there.
	Old, New *string
}

// ErrConflict is matched by the error of a Write that found something else than
// what its changes were made for.
var ErrConflict = errors.New("something else was written meanwhile")

// Store is the shared tree, to be read once and changed.
type Store interface {
	// Read returns the whole tree at one moment.
	Read(ctx context.Context) (*tree.Tree, error)
	// Write makes the changes, of which no two have the same key, and tells
	// progress how many are made so far; progress may be nil. It returns how many
	// were made: with an error, those of the transactions before. Up to
	// [AtOnce] of them are made together or not at all.
	Write(ctx context.Context, changes []Change, progress func(done int)) (int, error)
}

// Open returns the store that the options name, which must be valid. Each answer
// of etcd is waited for no longer than timeout, and so is the lock of a file.
func Open(o storage.Options, timeout time.Duration) Store {
	if conf, ok := o.Etcd(); ok {
		conf.Timeout = timeout
		return &cluster{conf: conf}
	}
	path, _ := o.File()
	return &textFile{path: path, timeout: timeout}
}

// Same reports whether two values say the same: they are equal, or equal as JSON
// but for white space, which a file does not keep.
func Same(a, b string) bool { return a == b || compact(a) == compact(b) }

// compact is a JSON value without white space, and any other text as it is.
func compact(text string) string {
	if !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") {
		return text
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

func conflict(key string) error {
	return fmt.Errorf("%s: %w; look at it, and try again", key, ErrConflict)
}
