package quota

import (
	"fmt"
	"strings"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/tree"
)

// Kind tells the entries of this package apart.
type Kind uint8

// The kinds of entries; the zero Kind is none of them.
const (
	KindKeyDefault    Kind = iota + 1 // limit/key_default
	KindSubkeyDefault                 // limit/subkey_default/<SUBKEY>
	KindKeyQuota                      // limit/key/<KEY>/quota
	KindKeySublimit                   // limit/key/<KEY>/sublimit/<SUBKEY>
	KindFactorDefault                 // factor/default
	KindFactorKey                     // factor/key/<KEY>
)

const (
	// maxSubkey is the longest SUBKEY an attempt can spell: P/M.
	maxSubkey = 2*attempt.MaxKeyPart + 1
	// maxPath is the longest key an entry can have: every octet encoded.
	maxPath = len(forKey) + 3*attempt.MaxKeyPart + len("/sublimit/") + 3*maxSubkey
)

// Path is what the key of an entry means.
type Path struct {
	Kind Kind
	// Key is the KEY, decoded; empty for kinds that have none.
	Key string
	// Subkey is the SUBKEY, decoded; empty for kinds that have none.
	Subkey string
}

// String returns the canonical key of the entry.
func (p Path) String() string {
	switch p.Kind {
	case KindKeyDefault:
		return KeyDefault
	case KindSubkeyDefault:
		return SubkeyDefault(p.Subkey)
	case KindKeyQuota:
		return ForKey(p.Key)
	case KindKeySublimit:
		return forKey + tree.Escape(p.Key) + "/" + wordSublimit + "/" + tree.Escape(p.Subkey)
	case KindFactorDefault:
		return FactorDefault
	case KindFactorKey:
		return FactorFor(p.Key)
	default:
		return ""
	}
}

// ParsePath reads the key of an entry, as stored but without the root prefix.
// The error says why the key means nothing, and what to write instead. A KEY or
// SUBKEY that no attempt can ever match is an error too.
func ParsePath(key string) (Path, error) {
	if len(key) > maxPath {
		return Path{}, fmt.Errorf("unknown entry: a key of %d bytes, and none is longer than %d", len(key), maxPath)
	}
	switch key {
	case KeyDefault:
		return Path{Kind: KindKeyDefault}, nil
	case FactorDefault:
		return Path{Kind: KindFactorDefault}, nil
	}
	if rest, ok := strings.CutPrefix(key, forKey); ok {
		return parseForKey(key, rest)
	}
	if rest, ok := strings.CutPrefix(key, subkeyDefault); ok {
		return spelling{kind: KindSubkeyDefault, subkey: rest}.decode()
	}
	if rest, ok := strings.CutPrefix(key, factorKey); ok {
		return spelling{kind: KindFactorKey, key: rest}.decode()
	}
	return Path{}, unknownEntry(key)
}

// spelling is a Path before decoding.
type spelling struct {
	kind        Kind
	key, subkey string
}

// decode undoes the percent-encoding and checks what comes out.
func (s spelling) decode() (Path, error) {
	p := Path{Kind: s.kind}
	var err error
	if s.kind != KindSubkeyDefault {
		if p.Key, err = decodePart("KEY", s.key, attempt.MaxKeyPart); err != nil {
			return Path{}, err
		}
	}
	if s.kind == KindSubkeyDefault || s.kind == KindKeySublimit {
		if p.Subkey, err = decodePart("SUBKEY", s.subkey, maxSubkey); err != nil {
			return Path{}, err
		}
	}
	return p, nil
}

// decodePart decodes one part of a key; what names it in errors.
func decodePart(what, text string, longest int) (string, error) {
	part, err := tree.Unescape(text)
	switch {
	case err != nil:
		return "", fmt.Errorf("the %s is not well encoded: %w", what, err)
	case blank(part):
		return "", fmt.Errorf("the %s is empty", what)
	case len(part) > longest:
		return "", fmt.Errorf("the %s has %d bytes: no attempt matches more than %d", what, len(part), longest)
	}
	return part, nil
}

// blank says whether a part has nothing but white space, which an attempt
// counts as absent.
func blank(part string) bool { return strings.Trim(part, " \t") == "" }
