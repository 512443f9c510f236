package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// setting is the value of an option, bound to a field of a struct.
type setting interface {
	pflag.Value
	// setYAML sets the value from a node of a file, which must have the right
	// YAML type.
	setYAML(n *yaml.Node) error
	// valid returns an error when the field, set by whatever means, holds what no
	// source could have set.
	valid() error
	// yaml returns the value as a file spells it, on one line.
	yaml() string
	// yamlType returns the YAML type that a file must use, "" for a list.
	yamlType() string
}

// value is an option of the kind, held in a field.
type value[T any] struct {
	kind[T]
	dst *T
}

// String returns the value as the command line spells it.
func (v *value[T]) String() string { return v.format(*v.dst) }

// Type returns the word that stands for the value in --help.
func (v *value[T]) Type() string { return v.word }

// Set parses s. It changes nothing when it returns an error.
func (v *value[T]) Set(s string) error {
	x, ok := v.parse(s)
	if !ok {
		return fmt.Errorf("found %s, expected %s", quote(s), v.expect)
	}
	*v.dst = x
	return nil
}

func (v *value[T]) setYAML(n *yaml.Node) error {
	// 0 needs no unit, so a duration may be written as the number 0.
	typed := n.ShortTag() == v.tag || n.Value == "0" && v.word == "DURATION"
	if x, ok := v.parse(n.Value); ok && typed && n.Kind == yaml.ScalarNode {
		*v.dst = x
		return nil
	}
	return fmt.Errorf("found %s, expected %s%s", describe(n), v.expect, v.hint(n))
}

// hint returns what would make a value of the wrong YAML type right, or "".
func (v *value[T]) hint(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == v.tag {
		return ""
	}
	if _, ok := v.parse(n.Value); !ok {
		return ""
	}
	switch {
	case n.ShortTag() == yamlText:
		return "; remove the quotes"
	case v.tag == yamlText && n.ShortTag() == "!!null":
		return `; write "" for none`
	case v.tag == yamlText:
		return "; put it in quotes"
	default:
		return ""
	}
}

func (v *value[T]) valid() error {
	if _, ok := v.parse(v.String()); !ok {
		return fmt.Errorf("found %s, expected %s", quote(v.String()), v.expect)
	}
	return nil
}

func (v *value[T]) yaml() string {
	if v.tag == yamlText {
		return yamlString(v.String())
	}
	return v.String()
}

func (v *value[T]) yamlType() string { return v.tag }

// list is an option that is a list of texts of the kind. A file spells it as a
// YAML list; elsewhere commas separate the items.
type list struct {
	item kind[string]
	dst  *[]string
}

// String returns the items, separated by commas.
func (l *list) String() string { return strings.Join(*l.dst, ",") }

// Type returns the word that stands for the value in --help.
func (l *list) Type() string { return l.item.word + ",..." }

// Set replaces the list by the items of s, which commas separate. An empty s is
// an empty list.
func (l *list) Set(s string) error {
	if s == "" {
		return l.replace(nil)
	}
	return l.replace(strings.Split(s, ","))
}

// add puts the items of s, which commas separate, after those that are there.
func (l *list) add(s string) error {
	return l.replace(slices.Concat(*l.dst, strings.Split(s, ",")))
}

func (l *list) replace(items []string) error {
	if err := l.check(items); err != nil {
		return err
	}
	*l.dst = items
	return nil
}

func (l *list) check(items []string) error {
	for _, s := range items {
		if _, ok := l.item.parse(s); !ok {
			return fmt.Errorf("found %s, expected %s", quote(s), l.item.expect)
		}
	}
	return nil
}

func (l *list) setYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == yamlText {
		return l.Set(n.Value)
	}
	if n.Kind != yaml.SequenceNode {
		return fmt.Errorf("found %s, expected a list", describe(n))
	}
	var items []string
	for i, c := range n.Content {
		c = target(c)
		if c.Kind != yaml.ScalarNode || c.ShortTag() != yamlText {
			return fmt.Errorf("item %d: found %s, expected %s", i+1, describe(c), l.item.expect)
		}
		items = append(items, c.Value)
	}
	return l.replace(items)
}

func (l *list) valid() error { return l.check(*l.dst) }

func (l *list) yaml() string {
	items := make([]string, len(*l.dst))
	for i, s := range *l.dst {
		items[i] = strconv.Quote(s)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

func (l *list) yamlType() string { return "" }
