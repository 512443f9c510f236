package adminapi

// Top is the hottest keys at one daemon.
type Top struct {
	// HalfLife is the time in seconds in which a count that nothing is added to
	// falls to a half.
	HalfLife float64 `json:"half_life_seconds"`
	// Attempts and Rejections are sorted, the most first.
	Attempts   []Key `json:"attempts"`
	Rejections []Key `json:"rejections"`
}

// Key is a bucket and how much it is used.
type Key struct {
	// Resource, Prefix and Method are what tells the bucket from others; those
	// that are not part of it are absent. Octets that are not UTF-8 are replaced.
	Resource string `json:"resource"`
	Prefix   string `json:"prefix,omitempty"`
	Method   string `json:"method,omitempty"`
	// Level is that at which the quota was found.
	Level string `json:"level"`
	// Count is decayed. The true one is at most Error away.
	Count float64 `json:"count"`
	Error float64 `json:"error"`
}
