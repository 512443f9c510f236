package file

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// member is one key of a mapping. The name is the key's text as spelled: a
// resource named 0x10 or null is that name, not what YAML makes of it.
type member struct {
	name  string
	line  int
	value *yaml.Node
}

// members lists the keys of a mapping, merge keys (<<) resolved: own keys go
// before merged ones, earlier merges before later ones. A key given twice is an
// error.
func (f *flattener) members(n *yaml.Node, depth int) ([]member, error) {
	var (
		list   []member
		merges []*yaml.Node
		lines  = make(map[string]int, len(n.Content)/2)
	)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, err := f.visit(n.Content[i], depth)
		if err != nil {
			return nil, err
		}
		line := n.Content[i].Line
		switch first, twice := lines[key.Value]; {
		case key.Kind != yaml.ScalarNode:
			return nil, fmt.Errorf("line %d: a key must be a single text, this is a mapping or a list", line)
		case key.ShortTag() == "!!merge":
			merges = append(merges, n.Content[i+1])
		case twice:
			return nil, fmt.Errorf("line %d: the key %q is already given on line %d", line, key.Value, first)
		default:
			lines[key.Value] = line
			list = append(list, member{key.Value, line, n.Content[i+1]})
		}
	}
	for _, m := range merges {
		merged, err := f.merged(m, depth+1)
		if err != nil {
			return nil, err
		}
		for _, m := range merged {
			if _, own := lines[m.name]; !own {
				lines[m.name] = m.line
				list = append(list, m)
			}
		}
	}
	return list, nil
}

// merged lists the members that the value of a merge key brings.
func (f *flattener) merged(n *yaml.Node, depth int) ([]member, error) {
	line := n.Line
	n, err := f.visit(n, depth)
	if err != nil {
		return nil, err
	}
	switch n.Kind {
	case yaml.MappingNode:
		return f.members(n, depth)
	case yaml.SequenceNode:
		var all []member
		for _, item := range n.Content {
			if item = target(item); item.Kind != yaml.MappingNode {
				return nil, fmt.Errorf("line %d: %w", line, errMerge)
			}
			list, err := f.merged(item, depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, list...)
		}
		return all, nil
	}
	return nil, fmt.Errorf("line %d: %w", line, errMerge)
}
