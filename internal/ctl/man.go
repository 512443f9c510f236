package ctl

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (t *tool) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIRECTORY",
		Short:  "Write the manual pages, made from the same help",
		Hidden: true, // for packages, not for operators
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeManuals(cmd.Root(), args[0])
		},
	}
}

// writeManuals writes a page for the command and each that it has.
func writeManuals(cmd *cobra.Command, dir string) error {
	if cmd.Hidden {
		return nil
	}
	cmd.InitDefaultHelpFlag()
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	if err := os.WriteFile(filepath.Join(dir, name+".1"), manual(cmd, name), 0o644); err != nil {
		return fmt.Errorf("manual page: %w", err)
	}
	for _, c := range cmd.Commands() {
		if err := writeManuals(c, dir); err != nil {
			return err
		}
	}
	return nil
}

// manual is the page of one command, in the man macros of troff.
func manual(cmd *cobra.Command, name string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH %q 1 \"\" \"Levee\" \"Levee\"\n", strings.ToUpper(name))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", troff(name), troff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n%s\n", troff(cmd.UseLine()))
	if cmd.Long != "" {
		fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", troff(cmd.Long))
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", troff(cmd.Example))
	}
	manualFlags(&b, "OPTIONS", cmd.NonInheritedFlags())
	if cmd.HasParent() {
		fmt.Fprintf(&b, ".SH COMMON OPTIONS\nThose of leveectl(1).\n")
	}
	see := []string{}
	if cmd.HasParent() {
		see = append(see, strings.ReplaceAll(cmd.Parent().CommandPath(), " ", "-")+"(1)")
	}
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			see = append(see, strings.ReplaceAll(c.CommandPath(), " ", "-")+"(1)")
		}
	}
	fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", troff(strings.Join(see, ", ")))
	return b.Bytes()
}

func manualFlags(b *bytes.Buffer, title string, flags *pflag.FlagSet) {
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		spelled := "--" + f.Name
		if f.Shorthand != "" {
			spelled = "-" + f.Shorthand + ", " + spelled
		}
		kind, usage := pflag.UnquoteUsage(f)
		if kind != "" {
			spelled += " " + kind
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", troff(spelled), troff(usage))
	})
}

// troff is a text that troff sets as it is.
func troff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
