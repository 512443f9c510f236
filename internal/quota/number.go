package quota

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Numbers are kept exact, so their spelling is bounded before anything is
// computed: 1e999999999 would fill the memory.
const (
	maxDigits   = 64  // characters of a number
	maxExponent = 100 // either way
)

// parseNumber returns the exact value of a JSON number.
func parseNumber(text string) (*big.Rat, error) {
	if text == "" {
		return nil, errMissing
	}
	if len(text) > maxDigits {
		return nil, fmt.Errorf("is %s, with more than %d characters", excerpt(text), maxDigits)
	}
	if strings.TrimSpace(text) != text || !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("is %s, which is no JSON number", excerpt(text))
	}
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		exponent, err := strconv.Atoi(text[at+1:])
		if err != nil || exponent < -maxExponent || exponent > maxExponent {
			return nil, fmt.Errorf("is %s, with an exponent beyond ±%d", text, maxExponent)
		}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, fmt.Errorf("is %s, which is no JSON number", excerpt(text))
	}
	return r, nil
}
