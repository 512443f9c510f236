package edit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// editor changes a document. Members of mappings are found by an index, as there
// may be very many of them and very many edits.
type editor struct {
	root  *yaml.Node
	index map[*yaml.Node]map[string]int // where each member is, by name, of mappings looked at so far
}

func newEditor(root *yaml.Node) *editor {
	return &editor{root: root, index: map[*yaml.Node]map[string]int{}}
}

var errShared = errors.New("is written by reference (* or <<); edit the file by hand")

// edit makes one edit.
func (d *editor) edit(e edit) error {
	if e.New == nil {
		return d.remove(d.root, e.Key, e.Key, 1)
	}
	value := valueNode(e.Key, *e.New)
	if e.from != "" {
		if d.rename(e.from, e.Key, value) {
			return nil
		}
		if err := d.remove(d.root, e.from, e.from, 1); err != nil {
			return err
		}
	}
	if m, i := d.find(d.root, e.Key); m != nil {
		replaceValue(m, i, value)
		return nil
	}
	return d.insert(d.root, e.Key, segments(e.Key), value)
}

// done drops what was removed. The editor must not be used afterwards.
func (d *editor) done() {
	for m := range d.index {
		m.Content = slices.DeleteFunc(m.Content, func(n *yaml.Node) bool { return n == nil })
	}
}

// members is the index of a mapping.
func (d *editor) members(m *yaml.Node) map[string]int {
	if m.Kind != yaml.MappingNode {
		return nil
	}
	if d.index[m] == nil {
		d.index[m] = make(map[string]int, len(m.Content)/2)
		for i := 0; i+1 < len(m.Content); i += 2 {
			d.index[m][m.Content[i].Value] = i
		}
	}
	return d.index[m]
}

// step calls visit with each member of a mapping that can lead to a path, and what
// is left of the path below it, until visit says true.
func (d *editor) step(m *yaml.Node, path string, visit func(i int, rest string) bool) {
	names := d.members(m)
	for k := range len(path) {
		if path[k] != '/' {
			continue
		}
		if i, ok := names[path[:k]]; ok && visit(i, path[k+1:]) {
			return
		}
	}
}

// find returns the mapping that has the entry at a path as a member, and where;
// nil if there is none. The parts of a path may be spread over nested mappings in
// any way.
func (d *editor) find(m *yaml.Node, path string) (found *yaml.Node, at int) {
	if i, ok := d.members(m)[path]; ok {
		return m, i
	}
	d.step(m, path, func(i int, rest string) bool {
		found, at = d.find(m.Content[i+1], rest)
		return found != nil
	})
	return found, at
}

// replaceValue gives the member at i of a mapping another value, and keeps the
// comment behind it.
func replaceValue(m *yaml.Node, i int, value *yaml.Node) {
	old := m.Content[i+1]
	value.HeadComment, value.LineComment, value.FootComment = old.HeadComment, old.LineComment, old.FootComment
	m.Content[i+1] = value
}

// rename gives an entry another key and value, in its place. It reports false if
// that takes more than another name for a member.
func (d *editor) rename(from, to string, value *yaml.Node) bool {
	m, i := d.find(d.root, from)
	if m == nil {
		return false
	}
	was := m.Content[i].Value
	name, ok := strings.CutPrefix(to, strings.TrimSuffix(from, was))
	if _, taken := d.members(m)[name]; !ok || taken {
		return false
	}
	replaceValue(m, i, value)
	delete(d.members(m), was)
	d.members(m)[name] = i
	m.Content[i].Value, m.Content[i].Style = name, 0
	return true
}

// keptLevels is how deep a level must be to go with its last entry: limit and
// limit/key stay, limit/key/photos goes.
const keptLevels = 2

// remove takes the entry at a path out, and the levels above it that have nothing
// else. depth is that of m's members.
func (d *editor) remove(m *yaml.Node, key, path string, depth int) error {
	if i, ok := d.members(m)[path]; ok {
		d.drop(m, i)
		return nil
	}
	err := fmt.Errorf("%s: %w", key, errShared)
	d.step(m, path, func(i int, rest string) bool {
		below, level := m.Content[i+1], depth+strings.Count(m.Content[i].Value, "/")
		if found, _ := d.find(below, rest); found == nil {
			return false
		}
		err = d.remove(below, key, rest, level+1)
		if len(d.members(below)) == 0 && level > keptLevels {
			d.drop(m, i)
		}
		return true
	})
	return err
}

// drop takes a member out. The others keep their places until done.
func (d *editor) drop(m *yaml.Node, i int) {
	delete(d.members(m), m.Content[i].Value)
	m.Content[i], m.Content[i+1] = nil, nil
}

// insert adds an entry that is not there, below the levels that are. parts are
// those of its key that m is above of.
func (d *editor) insert(m *yaml.Node, key string, parts []string, value *yaml.Node) error {
	switch {
	case m.Kind == yaml.AliasNode:
		return fmt.Errorf("%s: %w", key, errShared)
	case m.Kind != yaml.MappingNode: // a level without anything in it
		m.Kind, m.Tag, m.Value, m.Style = yaml.MappingNode, "", "", 0
	case len(m.Content) == 0:
		m.Style = 0 // rather than { }
	}
	for k := 1; k < len(parts); k++ {
		i, ok := d.members(m)[strings.Join(parts[:k], "/")]
		if !ok {
			continue
		}
		if below := m.Content[i+1]; below.Kind != yaml.ScalarNode || below.ShortTag() == "!!null" {
			return d.insert(below, key, parts[k:], value)
		}
	}
	for i := len(parts) - 1; i > 0; i-- {
		value = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{nameNode(parts[i]), value}}
	}
	d.members(m)[parts[0]] = len(m.Content)
	m.Content = append(m.Content, nameNode(parts[0]), value)
	return nil
}
