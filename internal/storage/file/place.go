package file

import "strings"

// place says what a mapping means at some path of the tree.
type place int

const (
	// branch: a mapping is a level of the path. Where nothing is written
	// (limit: {key: }), there is nothing.
	branch place = iota
	// leaf: whatever is written is the value of an entry.
	leaf
	// subkey: below sublimit and subkey_default, where a SUBKEY may be one key
	// (albums/GET) or nested ones (albums: {GET: ...}). A mapping that holds
	// mappings is a level, any other is a quota.
	subkey
)

// placeOf knows the tree's shape by path alone, so it does not matter how the
// parts are spread over nested keys. Unknown paths are branches: what is
// written there comes out as entries that no package owns, which is for their
// owner to complain about.
func placeOf(path string) place {
	top, rest, _ := strings.Cut(path, "/")
	kind, name, named := strings.Cut(rest, "/")
	switch {
	case top == "observer" && rest != "",
		top == "factor" && (rest == "default" || kind == "key" && named),
		path == "limit/key_default":
		return leaf
	case top == "limit" && kind == "subkey_default" && named:
		return subkey
	case top == "limit" && kind == "key" && named:
		return placeOfKey(name)
	}
	return branch
}

// placeOfKey is placeOf below limit/key/: the name is KEY, KEY/quota or
// KEY/sublimit/SUBKEY, and a KEY is one part or more.
func placeOfKey(name string) place {
	_, rest, _ := strings.Cut(name, "/")
	for rest != "" {
		part, after, more := strings.Cut(rest, "/")
		switch {
		case part == "quota" && !more:
			return leaf
		case part == "sublimit" && more:
			return subkey
		}
		rest = after
	}
	return branch
}
