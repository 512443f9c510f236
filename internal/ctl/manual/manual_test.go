package manual

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/levee-project/levee/internal/config"
)

// tool is a small leveectl.
func tool() *cobra.Command {
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "leveectl COMMAND", Short: "The tool", Long: "It's a tool.\n\nIt has commands.", Run: run}
	set := &cobra.Command{
		Use: "set KEY", Short: "Set .something", Run: run, DisableFlagsInUseLine: true,
		Long:    ".dots and 'quotes' at the begin\n'of a line, \\ and ~^`.",
		Example: "  leveectl set '{\"rate\": 1}'\n    indented",
	}
	set.Flags().StringP("file", "f", "x", "Read `FILE`")
	set.Flags().Bool("force", false, "Do it")
	root.AddCommand(set, &cobra.Command{Use: "man", Hidden: true, Run: run})
	return root
}

// written writes all pages and returns them by file.
func written(t *testing.T) (dir string, pages map[string]string) {
	t.Helper()
	dir = t.TempDir()
	if err := Write(dir, tool(), "1.2.3", "2026-01-31"); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	pages = map[string]string{}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pages[filepath.Base(path)] = string(text)
	}
	return dir, pages
}

func TestEveryPageIsThere(t *testing.T) {
	_, pages := written(t)
	for _, name := range []string{
		"leveectl.1", "leveectl-set.1", "levee-limiter.8", "levee-observer.8", "levee-client-proxy.8", "levee.yaml.5", "levee-storage.5",
	} {
		if !strings.HasPrefix(pages[name], ".TH ") || !strings.Contains(pages[name], `"2026-01-31" "Levee 1.2.3"`) {
			t.Errorf("%s begins %.80q", name, pages[name])
		}
		delete(pages, name)
	}
	if len(pages) > 0 {
		t.Errorf("there are more: %v", pages)
	}
}

// Every option of every program is in its page and in levee.yaml(5), with what it
// does.
func TestEveryOptionIsInItsPage(t *testing.T) {
	_, pages := written(t)
	for _, program := range config.Programs() {
		for _, o := range config.Options(program) {
			if o.InFile && !strings.Contains(pages["levee.yaml.5"], "\n\\fB"+escape(o.Name+":")+"\\fR "+o.Type+"\n"+lines(o.Help)) {
				t.Errorf("levee.yaml(5) has no %s", o.Name)
			}
			spelled := "\n\\fB" + escape("--"+o.Name) + "\\fR"
			if o.Value != "" {
				spelled += " " + escape(o.Value)
			}
			page := pages[program+".8"]
			if program != "leveectl" && !strings.Contains(page, spelled+"\n"+strings.TrimSuffix(lines(o.Help), "\n")) {
				t.Errorf("%s(8) has no %s", program, o.Name)
			}
		}
	}
}

// Each page is what man makes no objection to.
func TestManRendersEachPage(t *testing.T) {
	dir, pages := written(t)
	for name := range pages {
		cmd := exec.CommandContext(t.Context(), "man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", filepath.Join(dir, name))
		var warnings bytes.Buffer
		cmd.Stderr = &warnings
		if err := cmd.Run(); err != nil || warnings.Len() > 0 {
			t.Errorf("%s: %v\n%s", name, err, &warnings)
		}
	}
}

// What a person reads is what was written, whatever the characters.
func TestManShowsWhatIsMeant(t *testing.T) {
	dir, _ := written(t)
	cmd := exec.CommandContext(t.Context(), "man", "-E", "UTF-8", "-l", "-Tutf8", filepath.Join(dir, "leveectl-set.1"))
	cmd.Env = append(os.Environ(), "MANWIDTH=100", "LC_ALL=C.UTF-8")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(".\b").ReplaceAllString(string(out), "") // bold, as a terminal of paper has it
	for _, want := range []string{
		"leveectl-set - set .something", ".dots and 'quotes' at the begin 'of a line, \\ and ~^`.",
		"\n              leveectl set '{\"rate\": 1}'\n                indented\n",
		"-f, --file FILE\n              Read FILE (default x)", "--force\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
}

func TestWriteFails(t *testing.T) {
	if err := Write(filepath.Join(t.TempDir(), "missing"), tool(), "", ""); err == nil {
		t.Error("no error")
	}
}
