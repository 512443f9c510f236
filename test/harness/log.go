package harness

import (
	"encoding/json"
	"strings"
	"sync"
)

// Line is one line that a process wrote to stderr.
type Line struct {
	// Raw is the line as written, without its end.
	Raw string
	// Fields is the line as a JSON object; nil when it is none.
	Fields map[string]any
}

// Text returns a field of the line that is a text, "" when there is none.
func (l Line) Text(field string) string {
	text, _ := l.Fields[field].(string)
	return text
}

// Mentions reports whether each of the words is in the line, in its message or
// in any field, in whatever case.
func (l Line) Mentions(words ...string) bool {
	lower := strings.ToLower(l.Raw)
	for _, w := range words {
		if !strings.Contains(lower, strings.ToLower(w)) {
			return false
		}
	}
	return true
}

// book holds the lines of a process while it writes on.
type book struct {
	mu    sync.Mutex
	lines []Line
}

func (b *book) add(raw string) {
	line := Line{Raw: raw}
	if json.Unmarshal([]byte(raw), &line.Fields) != nil {
		line.Fields = nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, line)
}

func (b *book) all() []Line {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lines[:len(b.lines):len(b.lines)]
}
