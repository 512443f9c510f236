package gossip

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// quiet are the beginnings of memberlist's lines that are normal while members
// come and go, whatever it calls them; what matters of that is logged elsewhere.
var quiet = [...]string{
	"Failed to send",
	"Failed fallback TCP ping",
	"Failed to forward ack",
	"Push/Pull with",
	"Got ping for unexpected node",
	"Refuting",
}

// repeatAfter is how long a line with the same beginning is not repeated above
// debug level: some come with every packet.
const repeatAfter = time.Minute

// maxBeginnings bounds how many beginnings are remembered.
const maxBeginnings = 64

// lines is an io.Writer for memberlist's logger. It turns lines such as
// "[ERR] memberlist: Decrypt packet failed: ..." into records.
type lines struct {
	log *slog.Logger

	mu   sync.Mutex // guards last
	last map[string]time.Time
}

// Write takes one line, as package log does it.
func (l *lines) Write(line []byte) (int, error) {
	text := string(bytes.TrimSpace(line))
	tag := "[ERR]" // some lines have none
	if strings.HasPrefix(text, "[") {
		tag, text, _ = strings.Cut(text, " ")
	}
	text = strings.TrimPrefix(text, "memberlist: ")
	level := slog.LevelDebug
	switch tag {
	case "[WARN]", "[ERR]", "[ERROR]":
		level = slog.LevelWarn
	}
	for _, beginning := range quiet {
		if strings.HasPrefix(text, beginning) {
			level = slog.LevelDebug
		}
	}
	if level > slog.LevelDebug && l.repeats(text, time.Now()) {
		level = slog.LevelDebug
	}
	l.log.Log(context.Background(), level, "memberlist: "+text)
	return len(line), nil
}

// repeats says whether a line with the same first words was there a moment ago.
func (l *lines) repeats(text string, now time.Time) bool {
	words := strings.SplitN(text, " ", 4)
	beginning := strings.Join(words[:min(3, len(words))], " ")
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, ok := l.last[beginning]; ok && now.Sub(at) < repeatAfter {
		return true
	}
	if l.last == nil || len(l.last) >= maxBeginnings {
		l.last = map[string]time.Time{}
	}
	l.last[beginning] = now
	return false
}
