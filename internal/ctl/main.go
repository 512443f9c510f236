package ctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/storage"
	"github.com/levee-project/levee/internal/storage/edit"
)

// Main runs the command that args name, until it ends or a signal interrupts it.
func Main(ctx context.Context, args []string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	return run(ctx, args, os.Environ(), os.Stdin, os.Stdout, os.Stderr)
}

// run is Main with the outside world as arguments.
func run(ctx context.Context, args, env []string, in io.Reader, out, notes io.Writer) error {
	t := &tool{options: config.NewToolOptions(), env: env, in: in, out: out, notes: notes}
	root := t.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(notes)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err != nil && !t.started:
		return usage("%s; see %s --help", oneLine(err), cmd.CommandPath())
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return errInterrupted
	}
	return err
}

var errInterrupted = errors.New("interrupted")

// oneLine is what an error says, on one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// tool is what the commands have in common.
type tool struct {
	options *config.ToolOptions
	env     []string
	in      io.Reader
	out     io.Writer // results
	notes   io.Writer // what a person should know beside them
	started bool      // the command line was understood

	loaded *config.Tool // nil before conf
}

func (t *tool) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "leveectl COMMAND",
		Short: "The operator's tool of Levee, the distributed rate limiter",
		Long: `Leveectl shows and changes what Levee is told to do: quotas, group sizes and
observers in the shared configuration, in etcd or in a storage file. It explains
decisions, finds mistakes, and asks running daemons.

Options are read from ` + config.ToolFile + `, over it from the environment
(LEVEE_STORAGE_ADDRS for storage-addrs, as for the daemons), and over both from the
command line. Exit codes: 0, 1 for failures and findings, 2 for a wrong command
line, 78 for a wrong configuration.`,
		Example: `  leveectl limit set photos GET --prefix albums --rate 6600 --burst 165
  leveectl explain photos GET --prefix albums
  leveectl check`,
		Version:          daemon.Version(),
		SilenceErrors:    true,
		SilenceUsage:     true,
		Args:             subcommand,
		RunE:             func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRun: func(*cobra.Command, []string) { t.started = true },
	}
	root.SetVersionTemplate("leveectl {{.Version}}\n")
	t.options.Flags().SortFlags = false
	root.PersistentFlags().SortFlags = false
	root.PersistentFlags().AddFlagSet(t.options.Flags())
	root.AddCommand(
		t.limitCommand(), t.factorCommand(), t.observerCommand(),
		t.explainCommand(), t.checkCommand(),
		t.exportCommand(), t.diffCommand(), t.applyCommand(), t.watchCommand(),
		t.attemptCommand(), t.benchCommand(), t.topCommand(), t.statusCommand(), t.memberCommand(),
		t.configCommand(), t.storageCommand(), t.keepalivedCommand(), t.manCommand(),
	)
	describe(root)
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), twice, "\n  {{.UseLine}}", 1))
	return root
}

// twice is what the stock template says of a command that has commands: once as
// itself, and once as what has commands.
const twice = "{{if .Runnable}}\n  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}\n  {{.CommandPath}} [command]{{end}}"

// describe has each command say its own usage whole.
func describe(cmd *cobra.Command) {
	cmd.DisableFlagsInUseLine = true
	for _, c := range cmd.Commands() {
		describe(c)
	}
}

// group is a command that only has commands.
func group(name, short string, commands ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{
		Use: name + " COMMAND", Short: short, Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usage("give a command; see %s --help", cmd.CommandPath())
		},
	}
	g.AddCommand(commands...)
	return g
}

// subcommand refuses what is no command of a group.
func subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("unknown command %q; did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return fmt.Errorf("unknown command %q", args[0])
}

// conf returns the configuration.
func (t *tool) conf() (*config.Tool, error) {
	if t.loaded == nil {
		loaded, err := t.options.Load(t.env)
		if err != nil {
			return nil, err
		}
		t.loaded = loaded
	}
	return t.loaded, nil
}

// storage returns the options of the store, checked.
func (t *tool) storage() (storage.Options, error) {
	conf, err := t.conf()
	if err != nil {
		return storage.Options{}, err
	}
	s := conf.Storage
	o := storage.Options{
		Addrs: s.Addrs, Prefix: s.Prefix, Username: s.Username, PasswordFile: s.PasswordFile,
		CAFile: s.CAFile, CertFile: s.CertFile, KeyFile: s.KeyFile,
	}
	if err := o.CheckFiles(); err != nil {
		return storage.Options{}, config.Unusable(err)
	}
	return o, nil
}

// store returns the store that the options name.
func (t *tool) store() (edit.Store, error) {
	o, err := t.storage()
	if err != nil {
		return nil, err
	}
	return edit.Open(o, t.loaded.Timeout), nil
}

// alone says whether the store serves standalone limiters only, which ignore group
// sizes: a file does. The store must have been opened.
func (t *tool) alone() bool {
	s := t.loaded.Storage
	return s.File() != ""
}

// note tells something that belongs beside the result.
func (t *tool) note(format string, args ...any) {
	_, _ = fmt.Fprintf(t.notes, "leveectl: "+format+"\n", args...) // nowhere is left to report that
}

// exit is an error with an exit code.
type exit struct {
	error
	code int
}

// ExitCode is what the process ends with.
func (e exit) ExitCode() int { return e.code }

func (e exit) Unwrap() error { return e.error }

// usage is the error of a wrong command line.
func usage(format string, args ...any) error { return exit{fmt.Errorf(format, args...), 2} }

// quietly ends the process with a code, after everything was said.
func quietly(code int) error { return exit{errors.New(""), code} }
