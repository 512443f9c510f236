package edit

import (
	"bytes"
	"fmt"
	"maps"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/levee-project/levee/internal/storage/file"
	"github.com/levee-project/levee/internal/tree"
)

// patience bounds the work of rewriting change by change, which leaves the most
// of a text as it was: changes times the bytes that the text has or gets.
const patience = 16 << 20

// usualEntry is about how many bytes an entry adds.
const usualEntry = 64

// rewrite returns a file's text with the changes made, and as much of the rest as
// possible as it was: always the comments and the order, nearly always every
// line that is not concerned.
func rewrite(text []byte, entries map[string]string, changes []Change) ([]byte, error) {
	edits := pair(changes)
	groups := [][]edit{edits}
	if len(edits)*(len(text)+usualEntry*len(edits)) <= patience {
		groups = nil
		for _, e := range edits {
			groups = append(groups, []edit{e})
		}
	}
	if len(text) > 0 && !bytes.HasSuffix(text, newline) {
		text = append(bytes.Clone(text), '\n')
	}
	want := maps.Clone(entries)
	for _, group := range groups {
		for _, e := range group {
			e.apply(want)
		}
		var err error
		if text, err = step(text, group, want); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// edit is a change, or two: an entry whose key is spelled anew.
type edit struct {
	Change
	from string // the old spelling, "" for none
}

func (e edit) apply(entries map[string]string) {
	if e.from != "" {
		delete(entries, e.from)
	}
	if e.New == nil {
		delete(entries, e.Key)
	} else {
		entries[e.Key] = *e.New
	}
}

// pair puts together what removes one spelling of a key and adds another, so that
// the place and the comments of the entry stay.
func pair(changes []Change) []edit {
	removed := map[string]string{} // by decoded key
	for _, ch := range changes {
		if plain, err := tree.Unescape(ch.Key); err == nil && ch.New == nil {
			removed[plain] = ch.Key
		}
	}
	taken := map[string]bool{}
	var edits []edit
	for _, ch := range changes {
		if ch.New == nil {
			continue
		}
		e := edit{Change: ch}
		if plain, err := tree.Unescape(ch.Key); err == nil && ch.Old == nil && removed[plain] != "" {
			e.from = removed[plain]
			delete(removed, plain)
			taken[e.from] = true
		}
		edits = append(edits, e)
	}
	for _, ch := range changes {
		if ch.New == nil && !taken[ch.Key] {
			edits = append(edits, edit{Change: ch})
		}
	}
	return edits
}

// step makes edits, and sees to it that the text then holds what is wanted.
func step(text []byte, edits []edit, want map[string]string) ([]byte, error) {
	doc, err := document(text)
	if err != nil {
		return nil, err
	}
	indent := indentation(text)
	before, err := encode(doc, indent)
	if err != nil {
		return nil, err
	}
	d := newEditor(doc.Content[0])
	for _, e := range edits {
		if err := d.edit(e); err != nil {
			return nil, err
		}
	}
	d.done()
	after, err := encode(doc, indent)
	if err != nil {
		return nil, err
	}
	if spliced, ok := splice(text, before, after); ok && holds(spliced, want) {
		return spliced, nil
	}
	if !holds(after, want) {
		return nil, fmt.Errorf("%s: cannot be changed without changing other entries (is it written with & and * or <<?); edit the file by hand",
			edits[0].Key)
	}
	return after, nil
}

// document returns the document of a text, with a mapping in it. One of comments
// only has none, and they are its head then.
func document(text []byte) (*yaml.Node, error) {
	doc := new(yaml.Node)
	if err := yaml.Unmarshal(text, doc); err != nil {
		return nil, err // it was read well before
	}
	mapping := &yaml.Node{Kind: yaml.MappingNode}
	switch {
	case len(doc.Content) == 0:
		doc = &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{mapping}, HeadComment: strings.TrimSpace(string(text))}
	case doc.Content[0].Kind == yaml.ScalarNode:
		doc.Content[0] = mapping
	}
	return doc, nil
}

func encode(doc *yaml.Node, indent int) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(indent)
	if err := enc.Encode(doc); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// indentation is how far the text indents, by its first line that does.
func indentation(text []byte) int {
	for line := range bytes.Lines(text) {
		rest := bytes.TrimLeft(line, " ")
		if n := len(line) - len(rest); n > 1 && n < 9 && len(bytes.TrimSpace(rest)) > 0 && rest[0] != '#' {
			return n
		}
	}
	return 2
}

// holds says whether a text is the tree that is wanted.
func holds(text []byte, want map[string]string) bool {
	got, err := file.Parse(text)
	return err == nil && maps.EqualFunc(got, want, Same)
}
