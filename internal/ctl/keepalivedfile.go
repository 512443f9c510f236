package ctl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/levee-project/levee/keepalived"
)

// maxVRRPFile bounds the file with the options of render, in bytes.
const maxVRRPFile = 1 << 20

// What the YAML library says about a key or a value that it cannot place, in its
// own words.
var (
	unknownField = regexp.MustCompile(`^line (\d+): field (.*) not found in type .*$`)
	wrongType    = regexp.MustCompile(`^line (\d+): cannot unmarshal (?:!!\w+ )?(.*) into (.*)$`)
	doubledKey   = regexp.MustCompile(`^line (\d+): mapping key (.*) already defined at line (\d+)$`)
	brokenText   = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)
)

// readVRRP reads options from a YAML file, over those that are there. The error has
// one line for each mistake, with file and line number.
func readVRRP(path string, o *keepalived.Options) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxVRRPFile+1))
	if err != nil {
		return err
	}
	if len(text) > maxVRRPFile {
		return fmt.Errorf("%s: is larger than %d bytes", path, maxVRRPFile)
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(o); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return vrrpFaults(path, err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: has more than one YAML document", path)
	}
	return nil
}

func vrrpFaults(path string, err error) error {
	var list []error
	var wrong *yaml.TypeError
	if !errors.As(err, &wrong) {
		if m := brokenText.FindStringSubmatch(err.Error()); m != nil {
			return fmt.Errorf("%s:%s: not YAML: %s", path, m[1], m[2])
		}
		return fmt.Errorf("%s: not YAML: %s", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	for _, text := range wrong.Errors {
		switch {
		case unknownField.MatchString(text):
			m := unknownField.FindStringSubmatch(text)
			text = m[1] + ": " + m[2] + ": there is no such option; see leveectl keepalived render --help"
		case doubledKey.MatchString(text):
			m := doubledKey.FindStringSubmatch(text)
			text = m[1] + ": " + m[2] + ": set a second time, first on line " + m[3]
		case wrongType.MatchString(text):
			m := wrongType.FindStringSubmatch(text)
			text = m[1] + ": found " + m[2] + ", expected " + vrrpTypes(m[3])
		default:
			text = strings.TrimPrefix(text, "line ")
		}
		list = append(list, errors.New(path+":"+text))
	}
	return errors.Join(list...)
}

// vrrpTypes says what a type of Go is to a person.
func vrrpTypes(name string) string {
	switch {
	case strings.HasPrefix(name, "[]"):
		return "a list"
	case name == "int":
		return "a whole number"
	case name == "bool":
		return "true or false"
	case name == "time.Duration":
		return "a duration such as 100ms"
	case name == "string":
		return "text"
	default:
		return `lines of the form "option: value"`
	}
}
