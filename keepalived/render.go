package keepalived

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"text/template"
)

//go:embed keepalived.conf.tmpl
var text string

var conf = template.Must(template.New("keepalived.conf").Parse(text))

// Marker is the first line of what Render returns. A file that begins with another
// is somebody else's.
const Marker = "# Rendered by leveectl keepalived render"

// Render returns the text of keepalived.conf for one host. The error joins
// everything that is wrong with the options, one line each, which begins with the
// option's name.
func Render(o Options) ([]byte, error) {
	p, err := newPlan(o)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := conf.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("keepalived.conf: %w", err)
	}
	return b.Bytes(), nil
}

// Ours says whether a text was rendered here, rather than written by somebody.
func Ours(conf []byte) bool { return strings.HasPrefix(string(conf), Marker) }
