package ctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/storage/file"
	"github.com/levee-project/levee/internal/tree"
)

// wanted reads the tree that a file describes, under canonical keys.
func (t *tool) wanted(path string) (*tree.Tree, error) {
	read, err := t.readFile(path)
	if err != nil {
		return nil, err
	}
	wanted := &tree.Tree{Entries: map[string]string{}}
	from := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(read.Entries)) {
		c := canonical(key)
		if other, twice := from[c]; twice {
			return nil, fmt.Errorf("%s: %s and %s mean the same entry: remove one of them", path, other, key)
		}
		from[c] = key
		value := read.Entries[key]
		if q, err := quota.ParseQuota(value); err == nil {
			value = q.String() // as people write it, rather than as YAML came out
		}
		wanted.Entries[c] = value
	}
	return wanted, nil
}

// readFile reads a tree from a YAML file, or from the standard input.
func (t *tool) readFile(path string) (*tree.Tree, error) {
	if path == "" {
		return nil, usage("give the file with -f FILE")
	}
	var text []byte
	var err error
	if path == "-" {
		text, err = io.ReadAll(io.LimitReader(t.in, file.MaxSize+1))
		path = "standard input"
	} else {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, err
	}
	entries, err := file.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &tree.Tree{Entries: entries}, nil
}

// readOr reads a tree from a file, or from the store if none is named.
func (t *tool) readOr(ctx context.Context, path string) (*tree.Tree, error) {
	if path == "" {
		return t.read(ctx)
	}
	return t.readFile(path)
}

// refuseFaults is the error for steps that write entries without effect.
func refuseFaults(wanted *tree.Tree, steps []step) error {
	faults := faultsOf(wanted)
	var list []string
	for _, s := range steps {
		if text := faults[s.Key]; s.New != nil && text != "" {
			list = append(list, show(s.Key)+": "+text)
		}
	}
	const shown = 20
	if len(list) == 0 {
		return nil
	}
	if len(list) > shown {
		list = append(list[:shown], fmt.Sprintf("and %d more", len(list)-shown))
	}
	list = append(list, "nothing was written; mend the file, or give --force to write these entries, which have no effect, all the same")
	return errors.New(strings.Join(list, "\n"))
}
