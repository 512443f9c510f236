package console

import (
	"crypto/sha256"
	"crypto/sha512"
	"embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strings"
)

//go:embed web
var web embed.FS

// asset is a file of the page.
type asset struct {
	name  string
	kind  string // Content-Type
	text  []byte
	etag  string
	check string // integrity, as browsers check it
}

// Scripts and styles of the page, in their order.
var (
	scripts = load("text/javascript; charset=utf-8", "uplot.js", "text.js", "rates.js", "members.js", "keys.js", "group.js", "live.js")
	styles  = load("text/css; charset=utf-8", "uplot.css", "style.css")
	page    = template.Must(template.ParseFS(web, "web/page.html"))
)

func load(kind string, names ...string) (list []*asset) {
	for _, name := range names {
		text, err := web.ReadFile("web/" + name)
		if err != nil {
			panic(err) // it is not embedded
		}
		strong, short := sha512.Sum384(text), sha256.Sum256(text)
		list = append(list, &asset{
			name: name, kind: kind, text: text,
			etag:  `"` + base64.RawURLEncoding.EncodeToString(short[:12]) + `"`,
			check: "sha384-" + base64.StdEncoding.EncodeToString(strong[:]),
		})
	}
	return list
}

// Path and Check are for the template.
func (a *asset) Path() string  { return "console/" + a.name }
func (a *asset) Check() string { return a.check }

// ServeHTTP answers with the file, or that the browser has it.
func (a *asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Cache-Control", "no-cache") // ask whether it is still this one
	w.Header().Set("ETag", a.etag)
	if strings.Contains(r.Header.Get("If-None-Match"), a.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(a.text) // the client has gone; nobody else cares
}
