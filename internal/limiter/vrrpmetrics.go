package limiter

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/keepalived"
)

// maxVRRPStates bounds the groups that are shown.
const maxVRRPStates = 64

var (
	vrrpMaster = prometheus.NewDesc("levee_vrrp_master",
		"1 where the virtual addresses of the instance are, 0 elsewhere. A sum over all hosts above 1 is a split brain.",
		[]string{"instance"}, nil)
	vrrpTransitions = prometheus.NewDesc("levee_vrrp_transitions_total",
		"Changes of state (master, backup, fault) that keepalived has told of since it began.",
		[]string{"instance"}, nil)
)

// vrrpStates shows, whenever it is asked, what leveectl keepalived notify has
// written last.
type vrrpStates struct {
	dir    string
	log    *slog.Logger
	failed atomic.Bool // the last attempt to read; a failure is logged once
}

func registerVRRP(d *daemon.Daemon, dir string) {
	if dir != "" {
		d.Registry.MustRegister(&vrrpStates{dir: dir, log: d.Log})
	}
}

// Describe implements prometheus.Collector.
func (*vrrpStates) Describe(to chan<- *prometheus.Desc) {
	to <- vrrpMaster
	to <- vrrpTransitions
}

// Collect implements prometheus.Collector.
func (v *vrrpStates) Collect(to chan<- prometheus.Metric) {
	names, err := v.names()
	for _, name := range names {
		s, fault := readVRRPState(filepath.Join(v.dir, name))
		if fault != nil {
			err = fault
			continue
		}
		master := 0.0
		if s.Master() {
			master = 1
		}
		to <- prometheus.MustNewConstMetric(vrrpMaster, prometheus.GaugeValue, master, name)
		to <- prometheus.MustNewConstMetric(vrrpTransitions, prometheus.CounterValue, float64(s.Transitions), name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // keepalived does not run, or has just stopped
	}
	if err != nil && !v.failed.Load() {
		v.log.Warn("cannot tell where the virtual addresses are", "err", err)
	}
	v.failed.Store(err != nil)
}

// names are the groups of which there is a state.
func (v *vrrpStates) names() (names []string, err error) {
	dir, err := os.Open(v.dir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	all, err := dir.Readdirnames(2 * maxVRRPStates) // some are about to be renamed
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for _, name := range all {
		if keepalived.GroupName(name) && len(names) < maxVRRPStates {
			names = append(names, name)
		}
	}
	return names, nil
}

func readVRRPState(path string) (keepalived.State, error) {
	f, err := os.Open(path)
	if err != nil {
		return keepalived.State{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, keepalived.MaxState+1))
	if err != nil {
		return keepalived.State{}, err
	}
	return keepalived.ParseState(text)
}
