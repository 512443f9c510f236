package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFile bounds a configuration file, in bytes.
const maxFile = 1 << 20

// applyFile sets the options that the file at path names.
func (s *set) applyFile(path string) {
	text, err := readFile(path)
	if err != nil {
		s.fail(path, "", "cannot read the configuration file: %s", err)
		return
	}
	s.applyYAML(path, text)
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, reason(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, reason(err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	return text, nil
}

// reason drops the path from an error of the os package: the message names it
// already.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// applyYAML sets the options that text names. path is for messages only.
func (s *set) applyYAML(path string, text []byte) {
	root := s.parseYAML(path, text)
	if root == nil {
		return
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(root.Content) && !s.full(); i += 2 {
		key, val := root.Content[i], target(root.Content[i+1])
		name := key.Value
		where := fmt.Sprintf("%s:%d: %s", path, key.Line, shown(name))
		switch {
		case key.Kind != yaml.ScalarNode:
			s.fail(fmt.Sprintf("%s:%d", path, key.Line), "", "found %s, expected the name of an option", describe(key))
		case !s.settable(name, true):
			s.fail(where, name, "%s", s.unknownKey(name))
		case lines[name] > 0:
			s.fail(where, name, "set a second time, first on line %d", lines[name])
		default:
			lines[name] = key.Line
			s.assign(name, where, func(v setting) error { return v.setYAML(val) })
		}
	}
}

func (s *set) unknownKey(name string) string {
	if s.flags.Lookup(name) != nil {
		return "cannot be set in a file, only on the command line"
	}
	return s.unknown("key", name, s.names(true), func(n string) string { return n })
}

// parseYAML returns the mapping that text consists of, or nil when there is none
// or text is wrong.
func (s *set) parseYAML(path string, text []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		s.syntax(path, err)
		return nil
	}
	if err := dec.Decode(&more); err == nil {
		s.fail(fmt.Sprintf("%s:%d", path, more.Line), "", "a second YAML document begins here, expected one")
		return nil
	} else if !errors.Is(err, io.EOF) {
		s.syntax(path, err)
		return nil
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
		return nil
	}
	if root.Kind != yaml.MappingNode {
		s.fail(fmt.Sprintf("%s:%d", path, root.Line), "", `found %s, expected lines of the form "option: value"`, describe(root))
		return nil
	}
	return root
}

var yamlLine = regexp.MustCompile(`^line (\d+): `)

// syntax notes an error of the YAML parser, with its line in our form. A text
// without a document is no error.
func (s *set) syntax(path string, err error) {
	if errors.Is(err, io.EOF) {
		return
	}
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		path, text = path+":"+m[1], text[len(m[0]):]
	}
	s.fail(path, "", "not YAML: %s", text)
}

// target follows an alias to what it stands for.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// describe says what a node is, for "found ...".
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.ShortTag() {
	case yamlText:
		return "the text " + quote(n.Value)
	case yamlNumber, "!!float":
		return "the number " + shown(n.Value)
	case yamlSwitch:
		return "the switch " + shown(n.Value)
	case "!!null":
		return "nothing"
	default:
		return quote(n.Value)
	}
}

// yamlString spells s as a YAML scalar that reads back as text.
func yamlString(s string) string {
	out, err := yaml.Marshal(s)
	if err != nil {
		return quote(s)
	}
	return strings.TrimSuffix(string(out), "\n")
}
