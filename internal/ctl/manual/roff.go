package manual

import (
	"bytes"
	"fmt"
	"strings"
)

// page is one manual page in the making.
type page struct {
	name    string
	section int
	about   string // one line, without a full stop
	text    bytes.Buffer
}

// newPage begins a page.
func newPage(name string, section int, about string) *page {
	return &page{name: name, section: section, about: about}
}

// file is what the page is called on the disk.
func (p *page) file() string { return fmt.Sprintf("%s.%d", p.name, p.section) }

// bytes is the page as man reads it. date is a day or empty.
func (p *page) bytes(date, version string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH %s %d %q %q\n", escape(strings.ToUpper(p.name)), p.section, date, "Levee "+version)
	b.WriteString(".nh\n.ad l\n") // names of options are not broken, and lines not stretched
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escape(p.name), escape(p.about))
	b.Write(p.text.Bytes())
	return b.Bytes()
}

func (p *page) heading(title string) { fmt.Fprintf(&p.text, ".SH %s\n", escape(title)) }

func (p *page) subheading(title string) { fmt.Fprintf(&p.text, ".SS %s\n", escape(title)) }

// paragraphs writes text of which empty lines separate the paragraphs.
func (p *page) paragraphs(text string) {
	for i, part := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			p.text.WriteString(".PP\n")
		}
		p.text.WriteString(lines(part))
	}
}

// then goes on after items or code.
func (p *page) then(text string) {
	p.text.WriteString(".PP\n")
	p.paragraphs(text)
}

// item writes what stands beside or below a word in bold, and then perhaps others.
func (p *page) item(word, rest, text string) {
	fmt.Fprintf(&p.text, ".TP\n\\fB%s\\fR", escape(word))
	if rest != "" {
		fmt.Fprintf(&p.text, " %s", escape(rest))
	}
	p.text.WriteByte('\n')
	p.text.WriteString(lines(text))
}

// more adds a paragraph to an item.
func (p *page) more(text string) { p.text.WriteString(".IP\n" + lines(text)) }

// code writes lines as they are.
func (p *page) code(text string) {
	p.text.WriteString(".PP\n.nf\n.RS\n" + lines(strings.Trim(text, "\n")) + ".RE\n.fi\n")
}

// see writes where to read on.
func (p *page) see(refs ...string) {
	p.heading("SEE ALSO")
	p.text.WriteString(lines(strings.Join(refs, ",\n")))
}

// lines is a text that troff sets as it is, line by line.
func lines(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString(escape(line) + "\n")
	}
	return b.String()
}

// roff spells the characters that mean something to it, or that it would set in
// another way than they are typed.
var roff = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// escape is one line of text. A dot at its begin would make it a request.
func escape(line string) string {
	line = roff.Replace(line)
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}
