package ctl

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/levee-project/levee/internal/config"
)

// renderers write a configuration file of each program.
var renderers = map[string]func(io.Writer) error{
	"limiter":      config.RenderLimiter,
	"observer":     config.RenderObserver,
	"client-proxy": config.RenderClientProxy,
	"leveectl":     config.RenderTool,
}

func (t *tool) configCommand() *cobra.Command {
	names := []string{"limiter", "observer", "client-proxy", "leveectl"}
	render := &cobra.Command{
		Use:   "render {" + strings.Join(names, " | ") + "}",
		Short: "Write a configuration file with every option explained",
		Long: `Render writes a configuration file in which every option is explained and
commented out, with its default.`,
		Example:   `  leveectl config render limiter > /etc/levee/limiter.yaml`,
		ValidArgs: names,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(names, args[0]) {
				return usage("the argument must be one of %s", strings.Join(names, ", "))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return renderers[args[0]](t.out) },
	}
	return group("config", "Configuration files of the programs", render)
}
