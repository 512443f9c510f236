package file

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Bounds on what a text may grow to. Anchors and aliases let a short text
// describe an endless tree; these stop it.
const (
	maxDepth = 100       // levels of nesting
	maxPath  = 16 << 10  // bytes of one entry's path
	maxTree  = 256 << 20 // bytes of all paths and values
)

// flattener walks a document and collects entries.
type flattener struct {
	entries map[string]string
	lines   map[string]int // where each entry was written
	budget  int            // nodes that may still be visited
	size    int            // bytes of the entries so far
}

// newFlattener allows as many visits as a text of so many bytes can cause
// without aliases, and a million more.
func newFlattener(textLen int) *flattener {
	return &flattener{
		entries: map[string]string{},
		lines:   map[string]int{},
		budget:  4*textLen + 1<<20,
	}
}

func (f *flattener) root(n *yaml.Node) error {
	n, err := f.visit(n, 0)
	switch {
	case err != nil:
		return err
	case isNull(n):
		return nil
	case n.Kind != yaml.MappingNode:
		return fmt.Errorf("line %d: the file must be a mapping with the keys limit, factor, observer; this is %s", n.Line, kindName(n))
	}
	members, err := f.members(n, 0)
	if err != nil {
		return err
	}
	for _, m := range members {
		if err := f.node(m.value, m.name, 1); err != nil {
			return err
		}
	}
	return nil
}

// node collects what is at and below one path.
func (f *flattener) node(n *yaml.Node, path string, depth int) error {
	if len(path) > maxPath {
		return fmt.Errorf("line %d: the path is longer than %d KiB", n.Line, maxPath>>10)
	}
	line := n.Line
	n, err := f.visit(n, depth)
	if err != nil {
		return err
	}
	at := placeOf(path)
	if at == branch && isNull(n) {
		return nil
	}
	if n.Kind != yaml.MappingNode || at == leaf {
		return f.emit(n, path, line, depth)
	}
	members, err := f.members(n, depth)
	if err != nil {
		return err
	}
	if at == subkey && !isLevel(members) {
		return f.emit(n, path, line, depth)
	}
	for _, m := range members {
		if err := f.node(m.value, path+"/"+m.name, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// isLevel tells a level of a SUBKEY from a quota: it holds mappings. A member
// without a value does not make it a quota, else one empty member would take
// its neighbours out of force.
func isLevel(members []member) bool {
	level := false
	for _, m := range members {
		switch n := target(m.value); {
		case n.Kind == yaml.MappingNode:
			level = true
		case !isNull(n):
			return false
		}
	}
	return level
}

func (f *flattener) emit(n *yaml.Node, path string, line, depth int) error {
	if first, ok := f.lines[path]; ok {
		return fmt.Errorf("line %d: %s is already given on line %d", line, path, first)
	}
	value, err := f.value(n, depth)
	if err != nil {
		return err
	}
	f.size += len(path) + len(value)
	if f.size > maxTree {
		return errTooBig(line)
	}
	f.lines[path], f.entries[path] = line, value
	return nil
}

// visit follows an alias and pays for the node.
func (f *flattener) visit(n *yaml.Node, depth int) (*yaml.Node, error) {
	line := n.Line
	n = target(n)
	f.budget--
	switch {
	case f.budget < 0:
		return nil, fmt.Errorf("line %d: the aliases expand to far more than the file holds", line)
	case depth > maxDepth:
		return nil, fmt.Errorf("line %d: nested more than %d levels deep (an alias inside its own anchor?)", line, maxDepth)
	}
	switch tag := n.ShortTag(); tag {
	case "!!map", "!!seq", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!merge":
		return n, nil
	default:
		return nil, fmt.Errorf("line %d: the YAML tag %s means nothing here; leave it out", line, tag)
	}
}

// target is the node itself, or the one an alias stands for.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func kindName(n *yaml.Node) string {
	if n.Kind == yaml.SequenceNode {
		return "a list"
	}
	return "a single value"
}

func errTooBig(line int) error {
	return fmt.Errorf("line %d: the tree is larger than %d MiB from here on", line, maxTree>>20)
}

var errMerge = errors.New("<< takes a mapping or a list of mappings (*name)")
