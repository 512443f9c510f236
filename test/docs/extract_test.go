package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/levee-project/levee/test/harness"
)

// command is one that a document tells people to type.
type command struct {
	text    string
	heading string // that it stands under
	block   int    // number of the block that it stands in, 0 if that is a line
}

// programs begin what is a command in a line.
var programs = []string{
	"leveectl", "levee-limiter", "levee-observer", "levee-client-proxy", "curl", "openssl", "man", "make", "etcdctl", "systemctl",
}

// todo is the head of a table whose second column has commands of leveectl.
const todo = "| to do | command |"

var span = regexp.MustCompile("`([^`]+)`")

// read returns the text of a document.
func read(t *testing.T, name string) string {
	t.Helper()
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// extract finds the commands of a document, in their order.
func extract(text string) (list []command) {
	heading, fence, table, blocks, part := "", "", "", 0, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		mark, inFence := strings.CutPrefix(line, "```")
		switch {
		case inFence && fence == "":
			fence, table = mark, ""
			blocks++
		case inFence:
			fence = ""
		case fence == "sh":
			if part += line; strings.HasSuffix(part, `\`) {
				part = strings.TrimSuffix(part, `\`)
				continue
			}
			if text := withoutComment(part); text != "" {
				list = append(list, command{text, heading, blocks})
			}
			part = ""
		case fence != "":
		case strings.HasPrefix(line, "#"):
			heading, table = strings.TrimSpace(strings.TrimLeft(line, "#")), ""
		case strings.HasPrefix(line, "|") && table == "":
			table = line
		case !strings.HasPrefix(line, "|"):
			table = ""
			list = append(list, spans(line, heading)...)
		case table == todo:
			for _, m := range span.FindAllStringSubmatch(strings.Split(line, "|")[2], -1) {
				if !strings.HasPrefix(m[1], "rejected,") && m[1] != "--enable" && m[1] != "--remote" {
					list = append(list, command{"leveectl " + m[1], heading, 0})
				}
			}
		default:
			list = append(list, spans(line, heading)...)
		}
	}
	return list
}

// spans finds the commands in a line: a program and what it is told.
func spans(line, heading string) (list []command) {
	for _, m := range span.FindAllStringSubmatch(line, -1) {
		if word, _, more := strings.Cut(m[1], " "); more && slices.Contains(programs, word) {
			list = append(list, command{m[1], heading, 0})
		}
	}
	return list
}

// withoutComment is a line without the comment at its end.
func withoutComment(line string) string {
	if i := strings.Index(" "+line, " #"); i >= 0 {
		line = line[:i]
	}
	return strings.TrimSpace(line)
}

// examples finds those of a manual page.
func examples(page string) (list []command) {
	_, after, _ := strings.Cut(page, "\n.SH EXAMPLES\n")
	after, _, _ = strings.Cut(after, "\n.SH ")
	plain := strings.NewReplacer(`\-`, "-", `\(aq`, "'", `\(ga`, "`", `\(ha`, "^", `\(ti`, "~", `\&`, "", `\e`, `\`)
	for line := range strings.Lines(after) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, ".") {
			list = append(list, command{plain.Replace(line), "EXAMPLES", 1})
		}
	}
	return list
}

func TestExtract(t *testing.T) {
	const text = "# One\n" +
		"See `make check`, `leveectl`, `leveectl status`, `leveectl: wrong`.\n" +
		"```sh\nexport A=b   # why\n\n# only this\ncurl -i \\\n  -X POST\n```\n" +
		"```\nleveectl no\n```\n## Two\n" +
		todo + "\n| --- | --- |\n| a `b` | `limit set x`; `watch` (`--remote`) |\n\n" +
		"| x | `leveectl explain a` |\n"
	want := []command{
		{"make check", "One", 0},
		{"leveectl status", "One", 0},
		{"export A=b", "One", 1},
		{"curl -i -X POST", "One", 1},
		{"leveectl limit set x", "Two", 0},
		{"leveectl watch", "Two", 0},
	}
	got := extract(text + "\n`leveectl check`\n")
	want = append(want, command{"leveectl check", "Two", 0})
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	page := examples(".SH OPTIONS\n.SH EXAMPLES\n.PP\n.nf\nleveectl \\-\\-a \\(aq{}\\(aq\n.fi\n.SH SEE ALSO\nx\n")
	if !slices.Equal(page, []command{{"leveectl --a '{}'", "EXAMPLES", 1}}) {
		t.Errorf("got %+v", page)
	}
}
