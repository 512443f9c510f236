package daemon

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/journal"
)

const (
	// fieldPrefix sets the journal fields made from attributes apart from those
	// that have a meaning of their own, such as MESSAGE and UNIT.
	fieldPrefix = "LEVEE_"
	// maxField is the longest field name that journald accepts.
	maxField = 64
)

// journalHandler sends records to journald by its native protocol. MESSAGE is
// the record's text and its attributes as key=value, since that is all that
// journalctl shows by default; each attribute is a field as well, which
// journalctl can search: addr inside a group etcd is LEVEE_ETCD_ADDR.
type journalHandler struct {
	to *journald
	// text writes the attributes of a record into buffer.
	text   slog.Handler
	buffer *textBuffer
	fields map[string]string // what With has added
	groups string            // the open groups, each with an underscore after it
}

// textBuffer is a buffer that the handlers derived from one share.
type textBuffer struct {
	sync.Mutex
	bytes.Buffer
}

func newJournalHandler(name string) journalHandler {
	b := &textBuffer{}
	text := slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: withoutBuiltins})
	return journalHandler{to: newJournald(), text: text, buffer: b, fields: map[string]string{"SYSLOG_IDENTIFIER": name}}
}

// withoutBuiltins leaves the level and the message to journald's own fields. An
// attribute called msg is left out of MESSAGE along with them.
func withoutBuiltins(groups []string, a slog.Attr) slog.Attr {
	_, isLevel := a.Value.Any().(slog.Level)
	if len(groups) == 0 && (a.Key == slog.MessageKey || a.Key == slog.LevelKey && isLevel) {
		return slog.Attr{}
	}
	return a
}

// Enabled implements slog.Handler.
func (journalHandler) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler. The error is that journald is away.
func (h journalHandler) Handle(ctx context.Context, r slog.Record) error {
	fields := maps.Clone(h.fields)
	r.Attrs(func(a slog.Attr) bool {
		addField(fields, h.groups, a)
		return true
	})
	message, err := h.message(ctx, r)
	if err != nil {
		return err
	}
	return h.to.send(message, priority(r.Level), fields)
}

// message is the record's text and attributes on one line.
func (h journalHandler) message(ctx context.Context, r slog.Record) (string, error) {
	h.buffer.Lock()
	defer h.buffer.Unlock()
	h.buffer.Reset()
	text := r.Message
	r.Time = time.Time{} // journald has its own
	if err := h.text.Handle(ctx, r); err != nil {
		return "", err
	}
	return strings.TrimSpace(text + " " + h.buffer.String()), nil
}

// WithAttrs implements slog.Handler.
func (h journalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.text = h.text.WithAttrs(attrs)
	h.fields = maps.Clone(h.fields)
	for _, a := range attrs {
		addField(h.fields, h.groups, a)
	}
	return h
}

// WithGroup implements slog.Handler.
func (h journalHandler) WithGroup(name string) slog.Handler {
	if name != "" {
		h.text = h.text.WithGroup(name)
		h.groups += name + "_"
	}
	return h
}

// addField puts a into fields; a group becomes a field for each member.
func addField(fields map[string]string, groups string, a slog.Attr) {
	v := a.Value.Resolve()
	switch {
	case a.Equal(slog.Attr{}): // to be ignored, says slog.Handler
	case v.Kind() == slog.KindGroup:
		if a.Key != "" {
			groups += a.Key + "_"
		}
		for _, member := range v.Group() {
			addField(fields, groups, member)
		}
	default:
		fields[fieldName(groups+a.Key)] = v.String()
	}
}

// fieldName returns key as a name that journald accepts: A-Z, 0-9 and _.
func fieldName(key string) string {
	name := []byte(fieldPrefix + strings.ToUpper(key))
	for i, c := range name {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			name[i] = '_'
		}
	}
	return string(name[:min(len(name), maxField)])
}

// priority is the syslog priority of a level.
func priority(l slog.Level) journal.Priority {
	switch {
	case l < slog.LevelInfo:
		return journal.PriDebug
	case l < slog.LevelWarn:
		return journal.PriInfo
	case l < slog.LevelError:
		return journal.PriWarning
	default:
		return journal.PriErr
	}
}
