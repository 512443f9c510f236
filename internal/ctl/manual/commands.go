package manual

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandPages are those of a command and of all that it has.
func commandPages(cmd *cobra.Command) (list []*page) {
	if cmd.Hidden || cmd.Name() == "help" {
		return nil
	}
	list = append(list, commandPage(cmd))
	for _, c := range cmd.Commands() {
		list = append(list, commandPages(c)...)
	}
	return list
}

func nameOf(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func commandPage(cmd *cobra.Command) *page {
	cmd.InitDefaultHelpFlag()
	p := newPage(nameOf(cmd), 1, lowered(cmd.Short))
	p.heading("SYNOPSIS")
	p.paragraphs(cmd.UseLine())
	if cmd.Long != "" {
		p.heading("DESCRIPTION")
		p.paragraphs(cmd.Long)
	}
	p.commands(cmd)
	p.heading("OPTIONS")
	cmd.NonInheritedFlags().VisitAll(p.flag)
	if cmd.HasParent() {
		p.then("The options of " + toolRef + " go with every command.")
	}
	if cmd.Example != "" {
		p.heading("EXAMPLES")
		p.code(unindented(cmd.Example))
	}
	refs := []string{optionsRef, storageRef}
	if cmd.HasParent() {
		refs = append([]string{nameOf(cmd.Parent()) + "(1)"}, refs...)
	} else {
		p.tool()
		refs = append(refs, limiterRef, observerRef, proxyRef)
	}
	p.see(refs...)
	return p
}

// commands lists what a command has.
func (p *page) commands(cmd *cobra.Command) {
	first := true
	for _, c := range cmd.Commands() {
		if c.Hidden || c.Name() == "help" {
			continue
		}
		if first {
			p.heading("COMMANDS")
			first = false
		}
		p.item(nameOf(c)+"(1)", "", c.Short)
	}
}

// tool is what the page of leveectl says beside the rest.
func (p *page) tool() {
	p.heading("EXIT STATUS")
	p.item("0", "", "It is done; for diff: no difference; for attempt: accepted.")
	p.item("1", "", "It failed, or something was found (check, diff, status); for attempt: rejected.")
	p.item("2", "", "The command line is wrong; for attempt: failed, or no answer.")
	p.item("78", "", "The configuration is wrong.")
	p.heading("FILES")
	p.item("/etc/levee/leveectl.yaml", "", "The options, unless --config names another file; it need not be there.")
}

// flag tells an option of a command line.
func (p *page) flag(f *pflag.Flag) {
	spelled := "--" + f.Name
	if f.Shorthand != "" {
		spelled = "-" + f.Shorthand + ", " + spelled
	}
	value, usage := pflag.UnquoteUsage(f)
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "[]" {
		usage += " (default " + f.DefValue + ")"
	}
	p.item(spelled, value, usage)
}

// lowered is a title as it stands in the middle of a line.
func lowered(text string) string { return strings.ToLower(text[:1]) + text[1:] }

// unindented is a text without the two spaces that --help has before each line.
func unindented(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, "  "), "\n  ", "\n")
}
