package ctl

import (
	"context"
	"fmt"

	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/tree"
)

// read returns the whole tree.
func (t *tool) read(ctx context.Context) (*tree.Tree, error) {
	store, err := t.store()
	if err != nil {
		return nil, err
	}
	return store.Read(ctx)
}

// remove removes an entry, in all its spellings.
func (t *tool) remove(ctx context.Context, key string) error {
	return t.edit(ctx, func(p *planner) ([]step, error) {
		steps := p.remove(key)
		if len(steps) == 0 {
			return nil, fmt.Errorf("%s: there is no such entry", key)
		}
		return steps, nil
	})
}

// compile returns what is in force, and why entries have no effect, by stored key.
func compile(t *tree.Tree) (*quota.Snapshot, map[string]string) {
	snapshot, faults := compileAll(t)
	list := map[string]string{}
	for _, f := range faults {
		list[f.Key] = f.Err.Error()
	}
	return snapshot, list
}

func compileAll(t *tree.Tree) (*quota.Snapshot, []tree.Fault) {
	snapshot, faults := quota.NewCompiler().Compile(t)
	_, more := new(topology.Observers).Take(t)
	return snapshot, append(faults, more...)
}

// faultsOf returns why entries have no effect, by stored key.
func faultsOf(t *tree.Tree) map[string]string {
	_, faults := compile(t)
	return faults
}
