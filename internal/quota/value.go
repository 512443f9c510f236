package quota

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxValue is the longest value of an entry, in bytes; a quota that is spelled
// with care has 40.
const maxValue = 4096

// Value is a quota as it is spelled in the shared tree.
type Value struct {
	// Rate is how many hits pass per Per, as a JSON number.
	Rate string
	// Burst is how many more hits are tolerated at once, as a JSON number.
	Burst string
	// Per is a duration, such as 1m or 1d12h; empty means one second.
	Per string
	// Shadow is true for a quota that rejects nothing and only counts.
	Shadow bool
}

// String returns the value as a JSON object in the spelling of the manual:
// {"rate": 6600, "burst": 165}.
func (v Value) String() string {
	text := `{"rate": ` + v.Rate + `, "burst": ` + v.Burst
	if v.Per != "" {
		per, _ := json.Marshal(v.Per) // a string always has an encoding
		text += `, "per": ` + string(per)
	}
	if v.Shadow {
		text += `, "shadow": true`
	}
	return text + "}"
}

// What the value and its fields must be, for errors.
const mustBeObject = `it must be an object like {"rate": 100, "burst": 10}`

var rules = map[string]string{
	"rate":   "it must be a number: 0, or 1e-7 to 1e9 a second",
	"burst":  "it must be a number from 0 to 1e9",
	"per":    `it must be a duration like "1m" or "1d12h", from 1ms to 366d`,
	"shadow": "it must be true or false",
}

var errMissing = errors.New("is missing")

// wrong is the error for a field that is missing or not as it must be.
func wrong(field string, err error) error {
	return fmt.Errorf("%s %w; %s", field, err, rules[field])
}

// decodeValue takes a quota apart, strictly: one JSON object and nothing behind
// it, no field unknown, twice, in another case or of another type. It checks
// neither ranges nor what is missing.
func decodeValue(text string) (Value, error) {
	if len(text) > maxValue {
		return Value{}, fmt.Errorf("the value has %d bytes, at most %d are allowed; "+mustBeObject, len(text), maxValue)
	}
	dec := json.NewDecoder(strings.NewReader(text))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return Value{}, fmt.Errorf("%s is no quota; "+mustBeObject, excerpt(text))
	}
	var v Value
	seen := make(map[string]bool, len(rules))
	for dec.More() {
		if err := v.decodeField(dec, seen); err != nil {
			return Value{}, err
		}
	}
	if _, err := dec.Token(); err != nil {
		return Value{}, notJSON(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Value{}, errors.New("there is more behind the closing brace; " + mustBeObject)
	}
	return v, nil
}

// decodeField reads one name and its value.
func (v *Value) decodeField(dec *json.Decoder, seen map[string]bool) error {
	token, err := dec.Token()
	if err != nil {
		return notJSON(err)
	}
	name, _ := token.(string) // inside an object nothing else comes here
	switch {
	case rules[name] == "":
		return unknownField(name)
	case seen[name]:
		return fmt.Errorf("%s is given twice", name)
	}
	seen[name] = true
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return wrong(name, fmt.Errorf("is not JSON: %w", err))
	}
	if !v.set(name, raw) {
		return wrong(name, fmt.Errorf("is %s", excerpt(string(raw))))
	}
	return nil
}

// set takes one well-formed JSON value. It reports false if the type is wrong.
func (v *Value) set(name string, raw json.RawMessage) bool {
	number := raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9'
	switch name {
	case "rate":
		v.Rate = string(raw)
		return number
	case "burst":
		v.Burst = string(raw)
		return number
	case "per":
		return raw[0] == '"' && json.Unmarshal(raw, &v.Per) == nil && v.Per != ""
	default:
		v.Shadow = raw[0] == 't'
		return v.Shadow || raw[0] == 'f'
	}
}

func unknownField(name string) error {
	for _, field := range []string{"rate", "burst", "per", "shadow"} {
		if len(name) < maxShown && distance(field, strings.ToLower(name)) <= 2 {
			return fmt.Errorf("%s is no field: did you mean %q?", excerpt(name), field)
		}
	}
	return fmt.Errorf("%s is no field: there are rate, burst, per and shadow", excerpt(name))
}

func notJSON(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("the value is not JSON: %w; "+mustBeObject, err)
}

// maxShown is how much of a faulty text an error repeats, in bytes.
const maxShown = 40

// excerpt is a faulty text as errors show it: on one line, and not too long.
func excerpt(text string) string {
	if len(text) > maxShown {
		text = text[:maxShown] + "…"
	}
	return fmt.Sprintf("%#q", text)
}
