package config

import (
	"os"
	"time"
)

// Common is what every daemon has.
type Common struct {
	// InstanceID names the instance in gossip, metrics and logs; unique in a
	// cluster. Never empty.
	InstanceID string
	// Storage is where the shared configuration is.
	Storage Storage
	// Graphite is where metrics are pushed to.
	Graphite Graphite
	// MetricsAddr is the address of the HTTP server with /metrics, /healthz and
	// /readyz, as net.Listen takes it. Empty means none.
	MetricsAddr string
	// Verbose logs every attempt and every change of topology.
	Verbose bool
	// LogFormat is the form of the log lines.
	LogFormat LogFormat
}

// Graphite is the push of metrics to a Graphite collector.
type Graphite struct {
	// Collector is the zero value when nothing is pushed.
	Collector Collector
	// Interval is the time between two pushes.
	Interval time.Duration
	// Prefix goes before every metric name, with a dot between them. Empty means
	// none.
	Prefix string
}

// LogFormat is the form of the log lines.
type LogFormat string

// The log formats.
const (
	// LogAuto is LogJournal under systemd and LogText elsewhere.
	LogAuto LogFormat = "auto"
	// LogText is key=value text.
	LogText LogFormat = "text"
	// LogJSON is one JSON object a line.
	LogJSON LogFormat = "json"
	// LogJournal is for the systemd journal, which adds the time itself.
	LogJournal LogFormat = "journal"
)

// Base returns the options that every daemon has, whatever else it has.
func (c *Common) Base() *Common { return c }

// define binds the options that every daemon has. metricsAddr is the default of
// metrics-addr, which differs so that the daemons can share a host.
func (c *Common) define(s *set, metricsAddr string) {
	s.group("Instance and logs")
	define(s, "instance-id", &c.InstanceID, "", identifier(), restart,
		"Unique name of this instance in gossip, metrics and logs. Empty = the host name.")
	define(s, "verbose", &c.Verbose, false, boolean(), live,
		"Log every attempt and every change of topology. Costs a log line per attempt; those that the log is too slow for are dropped and counted.")
	define(s, "log-format", &c.LogFormat, LogAuto, oneOf(LogAuto, LogText, LogJSON, LogJournal), restart,
		"Form of the log lines: auto (journal under systemd, text elsewhere), text, json or journal.")
	c.Storage.define(s)
	s.group("Metrics")
	define(s, "metrics-addr", &c.MetricsAddr, metricsAddr, optionalAddress(), restart,
		"Address of the HTTP server with /metrics, /healthz and /readyz. Empty = off.")
	define(s, "graphite-addr", &c.Graphite.Collector, Collector{}, collector(), restart,
		"Graphite collector, ip:port or host:port, with /tcp or /udp after it; tcp if unsaid. Empty = off.")
	define(s, "graphite-interval", &c.Graphite.Interval, 15*time.Second, duration(time.Second), restart,
		"Time between two pushes to Graphite, at least 1s.")
	define(s, "graphite-prefix", &c.Graphite.Prefix, "", graphitePath(), restart,
		"Put before every Graphite metric name, with a dot between them. Empty = none.")
}

// graphitePath is a dotted name that Graphite takes as it is, or nothing.
func graphitePath() kind[string] {
	return words("NAME", "letters, digits, - and _, in parts with a dot between them", func(s string) bool {
		return s == "" || onlyOf(s, "-_.") && !emptyPart(s, ".")
	})
}

// resolve names the instance after the host when nothing else does. Where the
// host has no name, validation says so.
func (c *Common) resolve() {
	if c.InstanceID != "" {
		return
	}
	if host, err := os.Hostname(); err == nil {
		c.InstanceID = host
	}
}

func (c *Common) combinations(s *set) {
	if c.InstanceID == "" {
		s.fault("instance-id", "this host has no name, so the instance needs one")
	}
}
