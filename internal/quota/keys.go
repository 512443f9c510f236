package quota

import "github.com/levee-project/levee/internal/tree"

// The keys that have no variable part, and the beginnings of those that do.
const (
	// KeyDefault is the key of the quota of resources that have none.
	KeyDefault = "limit/key_default"
	// FactorDefault is the key of the group size of resources that have none.
	FactorDefault = "factor/default"

	subkeyDefault = "limit/subkey_default/"
	forKey        = "limit/key/"
	factorKey     = "factor/key/"
	observers     = "observer/"
)

// The words that divide a key under limit/key/.
const (
	wordQuota    = "quota"
	wordSublimit = "sublimit"
)

// Subkey spells a prefix and a method, either of which may be empty, as the
// SUBKEY that an entry for them has before it is encoded.
func Subkey(prefix, method string) string {
	if prefix == "" || method == "" {
		return prefix + method
	}
	return prefix + "/" + method
}

// SubkeyDefault is the canonical key of the default quota of a SUBKEY.
func SubkeyDefault(subkey string) string { return subkeyDefault + tree.Escape(subkey) }

// ForKey is the canonical key of a resource's own quota.
func ForKey(key string) string { return forKey + tree.Escape(key) + "/" + wordQuota }

// ForSubkey is the canonical key of a resource's own quota for a prefix, a
// method, or both.
func ForSubkey(key, prefix, method string) string {
	return Path{Kind: KindKeySublimit, Key: key, Subkey: Subkey(prefix, method)}.String()
}

// FactorFor is the canonical key of a resource's own group size.
func FactorFor(key string) string { return factorKey + tree.Escape(key) }
