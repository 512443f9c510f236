package adminapi

// Top is the hottest keys at one daemon.
type Top struct {
	// HalfLife is the time in seconds in which a count that nothing is added to
	// falls to a half.
	HalfLife float64 `json:"half_life_seconds"`
	// Seconds is what a count is to be divided by for the mean rate: the time since
	// the start, decayed as the counts are.
	Seconds float64 `json:"seconds"`
	// Attempts and Rejections are sorted, the most first. A total is that of all
	// buckets, and unlisted the most that one that is not listed may have.
	Attempts           []Key   `json:"attempts"`
	AttemptsTotal      float64 `json:"attempts_total"`
	AttemptsUnlisted   float64 `json:"attempts_unlisted"`
	Rejections         []Key   `json:"rejections"`
	RejectionsTotal    float64 `json:"rejections_total"`
	RejectionsUnlisted float64 `json:"rejections_unlisted"`
	// Lost is what was not counted, because counting would have had to wait.
	Lost float64 `json:"lost"`
}

// Key is a bucket and how much it is used.
type Key struct {
	// Resource, Prefix and Method are what tells the bucket from others; those
	// that are not part of it are absent. Octets that are not UTF-8 are replaced.
	Resource string `json:"resource"`
	Prefix   string `json:"prefix,omitempty"`
	Method   string `json:"method,omitempty"`
	// Digest tells long buckets apart, whose parts are cut. Absent from others.
	Digest string `json:"digest,omitempty"`
	// Level is that at which the quota was found.
	Level string `json:"level"`
	// Count is the sum of the hits of its attempts, decayed. The true one is at most
	// Error away.
	Count float64 `json:"count"`
	Error float64 `json:"error"`
}
