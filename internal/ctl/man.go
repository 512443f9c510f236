package ctl

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/levee-project/levee/internal/ctl/manual"
	"github.com/levee-project/levee/internal/daemon"
)

func (t *tool) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIRECTORY",
		Short: "Write the manual pages of all programs, made from the same help",
		Long: `Man writes the manual pages of all programs and of both configurations into a
directory. Their date is that of SOURCE_DATE_EPOCH, if that is set.`,
		Hidden: true, // for packages, not for operators
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			date, err := buildDate(t.env)
			if err != nil {
				return err
			}
			return manual.Write(args[0], cmd.Root(), daemon.Version(), date)
		},
	}
}

// buildDate is the day that a reproducible build goes by, empty if there is none
// (reproducible-builds.org/specs/source-date-epoch).
func buildDate(env []string) (string, error) {
	for _, pair := range env {
		text, ok := strings.CutPrefix(pair, "SOURCE_DATE_EPOCH=")
		if !ok || text == "" {
			continue
		}
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return "", usage("SOURCE_DATE_EPOCH: %q is no number of seconds", text)
		}
		return time.Unix(seconds, 0).UTC().Format(time.DateOnly), nil
	}
	return "", nil
}
