package quota

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxFactor is the largest group size that can be asked for. No cluster has so
// many limiters; it is there so that a slip is noticed.
const MaxFactor = 65535

// ParseFactor reads the value of a factor entry: a whole number from 1 to
// [MaxFactor] in decimal digits, with white space around it or not.
func ParseFactor(text string) (int, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 16)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%s is no group size: must be a whole number from 1 to %d", excerpt(text), MaxFactor)
	}
	return int(n), nil
}
