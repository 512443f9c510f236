package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"
)

// scenarios are the daemons that the test binary can be.
var scenarios = map[string]func(ctx context.Context, args []string) error{
	"ok":       func(context.Context, []string) error { return nil },
	"error":    func(context.Context, []string) error { return errors.Join(errors.New("one"), errors.New("two")) },
	"config":   func(context.Context, []string) error { return fmt.Errorf("reading: %w", codedError(78)) },
	"serve":    serveScenario,
	"stuck":    stuckScenario,
	"waiting":  waitingScenario,
	"deaf":     deafScenario,
	"fails":    failsScenario,
	"reload":   reloadScenario,
	"listen":   listenScenario,
	"journald": journaldScenario,
}

// codedError asks for an exit code, as an error of the configuration does.
type codedError int

func (e codedError) Error() string { return "the configuration cannot work" }
func (e codedError) ExitCode() int { return int(e) }

func options() (Options, error) {
	log, err := NewLog(LogOptions{Name: "levee-test", Format: "text", Verbose: true}, os.Stderr)
	if err != nil {
		return Options{}, err
	}
	return Options{Log: log.Logger}, nil
}

// runScenario is Run with options.
func runScenario(ctx context.Context, setup func(context.Context, *Daemon) error) error {
	o, err := options()
	if err != nil {
		return err
	}
	return Run(ctx, o, setup)
}

// untilDone is a component that says when it ends.
func untilDone(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		<-ctx.Done()
		fmt.Println(name, "ended")
		return ctx.Err()
	}
}

func say(text string) func(context.Context) error {
	return func(context.Context) error {
		fmt.Println(text)
		return nil
	}
}

// serveScenario has one of everything.
func serveScenario(ctx context.Context, _ []string) error {
	return runScenario(ctx, func(_ context.Context, d *Daemon) error {
		d.Health.SetStarting("waiting for the test")
		d.OnStop("state", time.Second, say("state saved"))
		d.Go("serving", untilDone("serving"))
		d.Go("storage", untilDone("storage"))
		d.OnStop("drain", time.Second, func(context.Context) error {
			fmt.Println(d.Health.Ready())
			return nil
		})
		d.OnProbe(func(context.Context) error {
			fmt.Println("serving starts")
			return nil
		})
		return nil
	})
}

// stuckScenario never ends by itself.
func stuckScenario(ctx context.Context, _ []string) error {
	return runScenario(ctx, func(_ context.Context, d *Daemon) error {
		d.OnStop("drain", time.Hour, func(ctx context.Context) error {
			fmt.Println("draining")
			<-ctx.Done()
			return nil
		})
		d.OnProbe(say("serving starts"))
		return nil
	})
}

// waitingScenario is stopped in the middle of its start.
func waitingScenario(ctx context.Context, _ []string) error {
	return runScenario(ctx, func(ctx context.Context, d *Daemon) error {
		d.OnStop("port", time.Second, say("port closed"))
		fmt.Println("waiting")
		<-ctx.Done()
		return fmt.Errorf("waiting for the storage: %w", ctx.Err())
	})
}

// deafScenario does not notice that it is stopped in the middle of its start.
func deafScenario(ctx context.Context, _ []string) error {
	o, err := options()
	if err != nil {
		return err
	}
	o.StopTimeout = 10 * time.Millisecond
	return Run(ctx, o, func(context.Context, *Daemon) error {
		fmt.Println("waiting")
		select {}
	})
}

// failsScenario has a component that fails when a line comes in, and clean-ups
// that fail too.
func failsScenario(ctx context.Context, _ []string) error {
	return runScenario(ctx, func(_ context.Context, d *Daemon) error {
		d.OnStop("state", time.Second, func(context.Context) error { return errors.New("disk full") })
		d.Go("serving", untilDone("serving"))
		d.Go("storage", func(context.Context) error {
			bufio.NewScanner(os.Stdin).Scan()
			return errors.New("the file has gone")
		})
		d.OnStop("drain", time.Second, say("drained"))
		d.OnProbe(say("serving starts"))
		return nil
	})
}

// reloadScenario reloads for as long as it takes for a line to come in, which
// says how the reload ends.
func reloadScenario(ctx context.Context, _ []string) error {
	return runScenario(ctx, func(_ context.Context, d *Daemon) error {
		lines := bufio.NewScanner(os.Stdin)
		d.OnReload(func(context.Context) error {
			fmt.Println("reload begins")
			lines.Scan()
			fmt.Println("reload ends")
			if text := lines.Text(); text != "" {
				return errors.New(text)
			}
			return nil
		})
		d.OnProbe(say("serving starts"))
		return nil
	})
}

// listenScenario answers one request on the socket that it is given.
func listenScenario(ctx context.Context, _ []string) error {
	ln, _, err := Listen(ctx, "listen-addr", "127.0.0.1:0")
	if err != nil {
		return err
	}
	second, _, err := Listen(ctx, "listen-addr", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := second.Close(); err != nil {
		return err
	}
	fmt.Println(ln.Addr())
	fmt.Printf("left: %s%s%s\n", os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS"), os.Getenv("LISTEN_FDNAMES"))
	asked := make(chan struct{})
	srv := &http.Server{ReadHeaderTimeout: time.Second}
	srv.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(asked) })
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	select {
	case err := <-served:
		return err
	case <-asked:
		return srv.Shutdown(ctx)
	}
}

// journaldScenario logs one record, by way of auto, with a journal socket of
// the test's.
func journaldScenario(context.Context, []string) error {
	journaldAddr = os.Getenv("TEST_JOURNAL_SOCKET")
	log, err := NewLog(LogOptions{Name: "levee-test", Format: "auto"}, os.Stderr)
	if err != nil {
		return err
	}
	log.Info("hello")
	return nil
}
