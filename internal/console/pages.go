package console

import (
	"bytes"
	"net/http"

	"github.com/levee-project/levee/internal/attempt"
)

// policy allows scripts, styles and questions to this very server, and nothing
// else: no inline scripts or styles, no other host, no frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// guard sets the headers of all answers, and keeps pages of other sites from
// asking through the browser of an operator.
func guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", policy)
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		head.Set("Cross-Origin-Opener-Policy", "same-origin")
		if r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
			http.Error(w, "another site asks", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// Register adds the pages, all of them for GET and HEAD: / and what is below
// /console/.
func (c *Console) Register(handle func(pattern string, h http.Handler)) {
	handle("GET /{$}", guard(http.HandlerFunc(c.servePage)))
	handle("GET /console/events", guard(http.HandlerFunc(c.serveEvents)))
	handle("GET /console/group", guard(http.HandlerFunc(c.servePicture)))
	for _, list := range [][]*asset{scripts, styles} {
		for _, a := range list {
			handle("GET /"+a.Path(), guard(a))
		}
	}
}

// Handler answers with the console and nothing else.
func (c *Console) Handler() http.Handler {
	mux := http.NewServeMux()
	c.Register(mux.Handle)
	return guard(mux)
}

// pageData is what the template shows. The rest comes with the events.
type pageData struct {
	ID, Role, Version        string
	Alone                    bool
	Resource, Prefix, Method string
	LongestPart              int
	Scripts, Styles          []*asset
}

func (c *Console) servePage(w http.ResponseWriter, r *http.Request) {
	self, q := c.source.Status(), r.URL.Query()
	data := pageData{
		ID: self.ID, Role: self.Role, Version: self.Version, Alone: c.source.View == nil,
		Resource: q.Get("resource"), Prefix: q.Get("prefix"), Method: q.Get("method"), LongestPart: attempt.MaxKeyPart,
		Scripts: scripts, Styles: styles,
	}
	var text bytes.Buffer
	if err := page.Execute(&text, data); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(text.Bytes()) // the client has gone; nobody else cares
}
