package dev

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
)

// most is the largest number of processes of one kind: each kind of port has
// ten numbers.
const most = 10

// firstPort is the default of --port.
const firstPort = 5454

// options is what the command line says.
type options struct {
	limiters, observers, proxies int
	port                         int
	dir                          string
	restart                      time.Duration
	version                      bool
}

func (o *options) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("levee-dev", pflag.ContinueOnError)
	f.Usage = func() {} // Main prints it
	f.SortFlags = false
	f.IntVar(&o.limiters, "limiters", 3, "How many limiters, 1 to 10.")
	f.IntVar(&o.observers, "observers", 2, "How many observers, 1 to 10.")
	f.IntVar(&o.proxies, "proxies", 2, "How many client-proxies, 1 to 10.")
	f.IntVar(&o.port, "port", firstPort, "First of the 100 ports on 127.0.0.1 that the cluster has its own from.")
	f.StringVar(&o.dir, "dir", "", "Directory for the data of all processes, kept at the end. Empty = a temporary one, removed at the end.")
	f.DurationVar(&o.restart, "restart", 5*time.Second, "Time after which a process that died is started again. 0 = never.")
	f.BoolVar(&o.version, "version", false, "Print the version and end.")
	return f
}

// parse reads the command line, without the program's name.
func parse(args []string) (o options, err error) {
	f := o.flags()
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q; there are only options", f.Arg(0))
	}
	for _, n := range []struct {
		name string
		n    int
	}{{"limiters", o.limiters}, {"observers", o.observers}, {"proxies", o.proxies}} {
		if n.n < 1 || n.n > most {
			return o, fmt.Errorf("--%s: found %d, expected 1 to %d", n.name, n.n, most)
		}
	}
	if last := 1<<16 - ports; o.port < 1 || o.port > last {
		return o, fmt.Errorf("--port: found %d, expected 1 to %d", o.port, last)
	}
	if o.restart < 0 {
		return o, fmt.Errorf("--restart: found %v, expected 0 or more", o.restart)
	}
	return o, nil
}

func usage() string {
	return `levee-dev runs a whole cluster on this machine: etcd, observers, limiters and
client-proxies, with one log. Ctrl-C ends all of it, in order.

  levee-dev [options]

The programs are those in levee-dev's own directory. Variables such as
LEVEE_VERBOSE=true in its environment are options for all of them.

` + new(options).flags().FlagUsagesWrapped(80) + "\n"
}
