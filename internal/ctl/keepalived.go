package ctl

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/keepalived"
)

func (t *tool) keepalivedCommand() *cobra.Command {
	return group("keepalived", "Virtual addresses for limiters that serve alone",
		t.keepalivedRender(), t.keepalivedCheck(), t.keepalivedNotify(), t.keepalivedResign())
}

func (t *tool) keepalivedRender() *cobra.Command {
	flags := newVRRPFlags()
	var path, output string
	cmd := &cobra.Command{
		Use:   "render {--file FILE | --interface NAME --address ADDR --peer ADDR --rank N --vip ADDR/BITS} [--output-file FILE]",
		Short: "Write keepalived.conf for a host that shares virtual addresses",
		Long: `Render writes the configuration of keepalived for one of the hosts between which
virtual addresses move: they are on one whose limiter is ready. Options come from a YAML
file, over it from the command line; address, peers and rank differ from host to host.

The addresses of a group move together. Several groups share the load: hosts take turns,
so that the first group is at first on the host of rank 1, the second on that of rank 2.`,
		Example: `  leveectl keepalived render --interface eth0 --address 192.0.2.1 --peer 192.0.2.2 --rank 1 --vip 192.0.2.10/24
  leveectl keepalived render --file /etc/levee/vrrp.yaml --output-file /etc/keepalived/keepalived.conf`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := flags.options(cmd.Flags(), path)
			if err != nil {
				return err
			}
			text, err := keepalived.Render(o)
			switch {
			case err != nil && path != "":
				return config.Unusable(errors.New(path + ": " + strings.ReplaceAll(err.Error(), "\n", "\n"+path+": ")))
			case err != nil:
				return usage("%w", err)
			case output != "":
				return t.replaceConf(output, text)
			}
			if _, err := t.out.Write(text); err != nil {
				return fmt.Errorf("output: %w", err)
			}
			return nil
		},
	}
	flags.define(cmd.Flags())
	cmd.Flags().StringVarP(&path, "file", "f", "", "YAML `FILE` with these options: vips, peers and groups are lists there")
	cmd.Flags().StringVar(&output, "output-file", "", "write into `FILE`, unless what is there is not from this command")
	return cmd
}

// replaceConf writes a rendered file whole, but never over one that somebody wrote.
func (t *tool) replaceConf(path string, text []byte) error {
	old, err := os.ReadFile(path)
	switch {
	case err == nil && len(old) > 0 && !keepalived.Ours(old):
		return fmt.Errorf("%s: is not from leveectl keepalived render (its first line would say so), and stays as it is: "+
			"move it away if it is not needed", path)
	case err == nil && bytes.Equal(old, text):
		t.note("%s is up to date", path)
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := replaceFile(path, text); err != nil {
		return err
	}
	t.note("%s is written", path)
	return nil
}

// replaceFile writes a file that everybody may read, whole or not at all.
func replaceFile(path string, text []byte) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = temp.Close()
			_ = os.Remove(temp.Name()) // best effort; the error says what matters
		}
	}()
	if _, err := temp.Write(text); err != nil {
		return err
	}
	if err := temp.Chmod(0o644); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

// vrrpFlags are the options of render as the command line gives them.
type vrrpFlags struct {
	given  keepalived.Options
	groups []string
}

func newVRRPFlags() *vrrpFlags { return &vrrpFlags{given: keepalived.Defaults()} }

func (v *vrrpFlags) define(f *pflag.FlagSet) {
	o := &v.given
	f.StringVar(&o.Interface, "interface", "", "network interface `NAME` that the addresses are put on")
	f.StringVar(&o.Address, "address", "", "this host's own `ADDR` there")
	f.StringSliceVar(&o.Peers, "peer", nil, "own `ADDR` of another host; can be repeated")
	f.BoolVar(&o.Multicast, "multicast", false, "send to whoever listens, instead of to the peers")
	f.IntVar(&o.Rank, "rank", 0, "this host's place among the hosts, `N` from 1")
	f.IntVar(&o.Priority, "priority", 0, "VRRP `PRIORITY`, 255 - rank, instead of the rank")
	f.IntVar(&o.RouterID, "router-id", o.RouterID, "`ID` of the first group on this network, 1 to 255; those that follow count on")
	f.StringSliceVar(&o.VIPs, "vip", nil, "virtual address `ADDR/BITS`; can be repeated")
	f.StringArrayVar(&v.groups, "group", nil, "several groups instead: `NAME=ADDR/BITS,...`; can be repeated")
	f.BoolVar(&o.Preempt, "preempt", false, "take addresses back from a host of a worse rank, 10 s after a return")
	f.DurationVar(&o.Advert, "advert", o.Advert, "`TIME` between two adverts; a host is missed after three")
	f.IntVar(&o.Port, "port", o.Port, "`PORT` at which the limiter of this host is asked for its health")
	f.StringVar(&o.TrackFile, "track-file", o.TrackFile, "`FILE` that the limiter writes (its option vrrp-track-file)")
	f.StringVar(&o.Program, "program", o.Program, "`FILE` of leveectl, which keepalived starts")
}

// options are those of a file, if there is one, and over them those that the command
// line gives.
func (v *vrrpFlags) options(f *pflag.FlagSet, path string) (keepalived.Options, error) {
	o := keepalived.Defaults()
	if path != "" {
		if err := readVRRP(path, &o); err != nil {
			return o, config.Unusable(err)
		}
	}
	for _, text := range v.groups {
		name, vips, ok := strings.Cut(text, "=")
		if !ok {
			return o, usage("--group: found %q, expected NAME=ADDR/BITS,...", text)
		}
		v.given.Groups = append(v.given.Groups, keepalived.Group{Name: name, VIPs: strings.Split(vips, ",")})
	}
	g := &v.given
	take := map[string]func(){
		"interface": func() { o.Interface = g.Interface }, "address": func() { o.Address = g.Address },
		"peer": func() { o.Peers = g.Peers }, "multicast": func() { o.Multicast = g.Multicast },
		"rank": func() { o.Rank, o.Priority = g.Rank, 0 }, "router-id": func() { o.RouterID = g.RouterID },
		"vip": func() { o.VIPs, o.Groups = g.VIPs, nil }, "group": func() { o.Groups, o.VIPs = g.Groups, nil },
		"preempt": func() { o.Preempt = g.Preempt }, "advert": func() { o.Advert = g.Advert },
		"port": func() { o.Port = g.Port }, "track-file": func() { o.TrackFile = g.TrackFile },
		"program": func() { o.Program = g.Program },
	}
	f.Visit(func(flag *pflag.Flag) {
		if from, ok := take[flag.Name]; ok {
			from()
		}
	})
	if f.Changed("priority") {
		o.Priority = g.Priority
		if !f.Changed("rank") {
			o.Rank = 0
		}
	}
	if f.Changed("vip") && f.Changed("group") {
		return o, usage("give --vip or --group, not both")
	}
	return o, nil
}
