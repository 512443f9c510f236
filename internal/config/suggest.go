package config

// longestName bounds the names that are compared, so that a wrong file costs
// little to refuse.
const longestName = 64

// nearest returns the known name with the smallest edit distance to name, the
// first one of several, or "" when none is near enough to be a slip of the
// hand: one edit, and one more for every four bytes.
func nearest(name string, known []string) string {
	if len(name) > longestName {
		return ""
	}
	best, limit := "", 1+len(name)/4
	for _, k := range known {
		if d := distance(name, k); d <= limit {
			best, limit = k, d-1
		}
	}
	return best
}

// distance is the Levenshtein distance of a and b in bytes: the fewest
// insertions, deletions and substitutions that turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			above := row[j+1]
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			row[j+1] = min(substitute, above+1, row[j]+1)
			diagonal = above
		}
	}
	return row[len(b)]
}
