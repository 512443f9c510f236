package quota

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The bounds of a quota's per.
const (
	minPer = time.Millisecond
	maxPer = 366 * day
	day    = 24 * time.Hour
)

var errPerRange = errors.New("out of range")

// parsePer reads a duration in Go's spelling, with d for 24 hours added, and
// checks its range.
func parsePer(text string) (time.Duration, error) {
	var sum time.Duration
	for rest := text; rest != ""; {
		number := strings.IndexFunc(rest, func(r rune) bool { return !inNumber(r) })
		if number < 0 {
			return 0, fmt.Errorf("is %s, which lacks a unit: ms, s, m, h or d", excerpt(text))
		}
		end := strings.IndexFunc(rest[number:], inNumber)
		if end < 0 {
			end = len(rest) - number
		}
		term, err := parseTerm(rest[:number], rest[number:number+end])
		if err != nil {
			return 0, fmt.Errorf("is %s, which is %w", excerpt(text), err)
		}
		if sum += term; sum > maxPer { // at most twice maxPer: no overflow
			return 0, fmt.Errorf("is %s, which is %w", excerpt(text), errPerRange)
		}
		rest = rest[number+end:]
	}
	if sum < minPer {
		return 0, fmt.Errorf("is %s, which is %w", excerpt(text), errPerRange)
	}
	return sum, nil
}

// inNumber says whether r belongs to a duration's number, not to its unit.
func inNumber(r rune) bool { return '0' <= r && r <= '9' || r == '.' }

// parseTerm returns one number of units; it is never longer than maxPer.
func parseTerm(number, unit string) (time.Duration, error) {
	scale := time.Duration(1)
	if unit == "d" {
		unit, scale = "h", day/time.Hour
	}
	d, err := time.ParseDuration(number + unit)
	if err != nil {
		return 0, errors.New("no duration")
	}
	if d > maxPer/scale {
		return 0, errPerRange
	}
	return d * scale, nil
}
