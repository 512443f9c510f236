package edit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/storage/file"
)

// Render returns entries as the text of a storage file: one mapping in another,
// sorted, each value on one line. The same entries always give the same text.
// The error names an entry that no such file can hold.
func Render(entries map[string]string) ([]byte, error) {
	if len(entries) == 0 {
		return []byte("{}\n"), nil
	}
	root := &level{}
	for key, value := range entries {
		at := root
		for _, part := range segments(key) {
			at = at.child(part)
		}
		at.value = valueNode(key, value)
	}
	text, err := encode(&yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{root.node()}}, 2)
	if err != nil {
		return nil, err
	}
	got, err := file.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("these entries fit in no storage file: %w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if value, ok := got[key]; !ok || !Same(value, entries[key]) {
			return nil, fmt.Errorf("%q: this entry fits in no storage file; remove it", key)
		}
	}
	return text, nil
}

// level is one level of the tree while it is put together.
type level struct {
	value    *yaml.Node // nil where no entry ends
	children map[string]*level
}

func (l *level) child(name string) *level {
	if l.children == nil {
		l.children = map[string]*level{}
	}
	if l.children[name] == nil {
		l.children[name] = &level{}
	}
	return l.children[name]
}

func (l *level) node() *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	l.members(n, "")
	return n
}

// members appends the level's members to a mapping. What is below an entry cannot
// be nested in it, and gets the whole path as its name.
func (l *level) members(n *yaml.Node, above string) {
	for _, name := range slices.Sorted(maps.Keys(l.children)) {
		child := l.children[name]
		if child.value == nil {
			n.Content = append(n.Content, nameNode(above+name), child.node())
			continue
		}
		n.Content = append(n.Content, nameNode(above+name), child.value)
		child.members(n, above+name+"/")
	}
}

// fixed are the beginnings of keys whose rest is one part, whatever it holds: a
// mapping below it is a value.
var fixed = []string{"limit/subkey_default/", "factor/key/", "observer/"}

// segments are the parts of a key that are mappings of their own: those between
// slashes, but no value is to be taken for a level, nor a level for a value.
func segments(key string) []string {
	for _, above := range fixed {
		if rest, ok := strings.CutPrefix(key, above); ok {
			return append(strings.Split(strings.TrimSuffix(above, "/"), "/"), rest)
		}
	}
	rest, ok := strings.CutPrefix(key, "limit/key/")
	if !ok {
		return strings.SplitN(key, "/", 2)
	}
	parts := strings.Split(rest, "/")
	for i := 1; i+1 < len(parts); i++ {
		switch parts[i] {
		case "quota":
			parts = append(parts[:i:i], strings.Join(parts[i:], "/"))
		case "sublimit":
			parts = append(parts[:i+1:i+1], strings.Join(parts[i+1:], "/"))
		default:
			continue
		}
		break
	}
	return append([]string{"limit", "key"}, parts...)
}

func nameNode(name string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(name)
	return n
}

// valueNode is a value as a person would write it: {rate: 1, burst: 2} where the
// entry is one that has such values, else its text.
func valueNode(key, value string) *yaml.Node {
	if mapping := mappingNode(key, value); mapping != nil {
		return mapping
	}
	if _, err := quota.ParseFactor(value); err == nil && strings.TrimSpace(value) == value {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: value}
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
	if strings.ContainsAny(value, "\n\t") {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// mappingNode is a flat JSON object, or nil.
func mappingNode(key, value string) *yaml.Node {
	if p, err := quota.ParsePath(key); !strings.HasPrefix(key, "observer/") &&
		(err != nil || p.Kind == quota.KindFactorDefault || p.Kind == quota.KindFactorKey) {
		return nil
	}
	if !strings.HasPrefix(value, "{") || !json.Valid([]byte(value)) {
		return nil
	}
	var doc yaml.Node // JSON is YAML, nearly; what is not is caught below
	if yaml.Unmarshal([]byte(value), &doc) != nil || doc.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	m := doc.Content[0]
	names := map[string]bool{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		name, field := m.Content[i], m.Content[i+1]
		if field.Kind != yaml.ScalarNode || names[name.Value] || name.Value == "<<" {
			return nil
		}
		names[name.Value] = true
		name.Style = 0
		if field.Tag == "!!str" && !strings.ContainsAny(field.Value, ":\n\t") {
			field.Style = 0
		}
	}
	m.Style = yaml.FlowStyle
	return m
}
