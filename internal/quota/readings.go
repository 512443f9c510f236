package quota

import (
	"errors"
	"fmt"
	"strings"
)

// parseForKey reads what follows limit/key/ in a stored key. A plain slash may
// be part of KEY and SUBKEY, so there may be several readings; only a single one
// counts.
func parseForKey(stored, rest string) (Path, error) {
	found := readings(rest)
	switch len(found) {
	case 0:
		return Path{}, noReading(stored, rest)
	case 1:
		p, err := found[0].decode()
		if err == nil {
			err = mustEncode(found[0].key, p)
		}
		if err != nil {
			return Path{}, err
		}
		return p, nil
	}
	ways := make([]string, 2)
	for i := range ways {
		p, err := found[i].decode()
		if err != nil {
			return Path{}, err
		}
		ways[i] = fmt.Sprintf("%s (write it %s)", describe(p), p)
	}
	return Path{}, fmt.Errorf("can be read in %s ways: as %s, or as %s",
		counted(len(found)), ways[0], ways[1])
}

// readings lists every way to read what follows limit/key/: as a quota if the
// last segment is that word, as a sublimit at each segment that is that word. A
// segment is a word only if it is plain, not encoded.
func readings(rest string) (found []spelling) {
	if key, ok := strings.CutSuffix(rest, "/"+wordQuota); ok && key != "" {
		found = append(found, spelling{kind: KindKeyQuota, key: key})
	}
	const divider = "/" + wordSublimit + "/"
	for from := 0; ; {
		at := strings.Index(rest[from:], divider)
		if at < 0 {
			return found
		}
		at += from
		if key, subkey := rest[:at], rest[at+len(divider):]; key != "" && subkey != "" {
			found = append(found, spelling{kind: KindKeySublimit, key: key, subkey: subkey})
		}
		from = at + 1 // the slash behind the word may begin the next divider
	}
}

// noReading says why nothing of the right shape follows limit/key/.
func noReading(stored, rest string) error {
	padded := "/" + rest // so that a word in the first segment is found too
	switch {
	case strings.HasSuffix(padded, "/"+wordQuota),
		strings.HasPrefix(padded, "/"+wordSublimit+"/"),
		strings.HasPrefix(padded, "//"+wordSublimit+"/"):
		return errors.New("the KEY is empty")
	case strings.HasSuffix(padded, "/"+wordSublimit+"/"):
		return errors.New("the SUBKEY is empty")
	default:
		return unknownEntry(stored)
	}
}

// mustEncode refuses a KEY in which a dividing word is a whole plain segment,
// although the entry can be read in one way only: one more segment, and it could
// not.
func mustEncode(key string, p Path) error {
	for segment := range strings.SplitSeq(key, "/") {
		if segment == wordQuota || segment == wordSublimit {
			return fmt.Errorf("the word %q as a whole segment of the KEY %q must be encoded: write it %s", segment, p.Key, p)
		}
	}
	return nil
}

func describe(p Path) string {
	if p.Kind == KindKeyQuota {
		return fmt.Sprintf("the quota of the KEY %q", p.Key)
	}
	return fmt.Sprintf("the sublimit %q of the KEY %q", p.Subkey, p.Key)
}

func counted(n int) string {
	if n == 2 {
		return "two"
	}
	return fmt.Sprint(n)
}
