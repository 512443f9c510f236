package config

import (
	"net/netip"
	"time"
)

// Limiter is the configuration of a limiter.
type Limiter struct {
	Common
	Serving
	Gossip
	// Standalone means no cluster: the group size is 1, and the gossip options are
	// not looked at.
	Standalone bool
	// GossipAddr is where the other members reach this one. Valid, and a concrete
	// address, unless Standalone.
	GossipAddr netip.AddrPort
	// OnPartition is what to do about members that fell silent.
	OnPartition OnPartition
	// Weight is how many times as many keys this limiter gets as one of weight 1.
	Weight int
	// GCCollect is how long a key must have been untouched to be collected.
	GCCollect time.Duration
	// MaxKeys is the hard bound of keys in memory; 0 means none.
	MaxKeys int
	// NoQuota is the answer when no quota applies.
	NoQuota NoQuota
	// StateFile keeps live debts over a planned restart; empty means none.
	StateFile string
	// VRRPTrackFile tells keepalived whether this limiter is ready; empty means that
	// nobody is told.
	VRRPTrackFile string
	// VRRPStateDir is where leveectl keepalived notify writes which virtual addresses
	// this host has; empty means nowhere.
	VRRPStateDir string
}

// OnPartition is what limiters do about members that fell silent without leaving.
type OnPartition string

// The choices for a partition.
const (
	// PartitionAvailable: the live members serve the whole quota. A crash costs
	// nothing; a partition into k sides may pass k times a quota.
	PartitionAvailable OnPartition = "available"
	// PartitionConservative: every limiter multiplies its share by live / known.
	// The sum never passes the quota; a crash costs its fraction.
	PartitionConservative OnPartition = "conservative"
)

// NoQuota is the answer to an attempt for which no quota is found.
type NoQuota string

// The answers without a quota.
const (
	NoQuotaAccept NoQuota = "accept"
	NoQuotaReject NoQuota = "reject"
	NoQuotaFail   NoQuota = "fail"
)

// Validate checks the configuration as it is. It opens no file and no socket.
// The error joins everything that is wrong and matches ErrInvalid.
func (l *Limiter) Validate() error { return bind(limiterBinary, l).validate(l) }

func (l *Limiter) define(s *set) {
	l.Serving.define(s)
	s.group("Cluster")
	define(s, "standalone", &l.Standalone, false, boolean(), restart,
		"Serve alone: the group size is 1, factors are ignored, and the gossip options have no effect.")
	define(s, "gossip-addr", &l.GossipAddr, netip.AddrPort{}, memberAddress(), restart,
		"Address in the gossip overlay, TCP and UDP, as the other members reach it. "+
			"Impossible to leave out, or to be 0.0.0.0 or [::], unless standalone.")
	l.Gossip.define(s)
	define(s, "on-partition", &l.OnPartition, PartitionAvailable,
		oneOf(PartitionAvailable, PartitionConservative), restart,
		"When members fall silent: available (the others serve the whole quota; a partition into k sides may pass "+
			"it k times) or conservative (each serves its share only; a crash costs its fraction).")
	define(s, "weight", &l.Weight, 1, weight(), restart,
		"How many times as many keys this limiter gets as one of weight 1, whole, 1 to 100. "+
			"Each proxy hashes that many times for every new key.")
	s.group("Quotas and keys")
	define(s, "no-quota", &l.NoQuota, NoQuotaAccept, oneOf(NoQuotaAccept, NoQuotaReject, NoQuotaFail), live,
		"Answer when no quota applies: accept (200), reject (429) or fail (500).")
	l.defineCollector(s)
	define(s, "gc-collect", &l.GCCollect, time.Minute, duration(0), live,
		"Time that a key must have been untouched to be collected. Keys that still owe are never collected.")
	define(s, "max-keys", &l.MaxKeys, 0, count(), live,
		"Most keys in memory; beyond it, those nearest to idle are dropped. 0 = no bound. "+
			"Impossible unless larger than gc-max-keys, where both are set: the collector would never run.")
	define(s, "state-file", &l.StateFile, "", path(), restart,
		"File that carries live debts over a planned restart. Empty = off: a restart forgives all debts. "+
			"Costs one write of all live keys at the stop.")
	s.group("Virtual addresses")
	define(s, "vrrp-track-file", &l.VRRPTrackFile, "", path(), restart,
		"File that tells keepalived whether this limiter is ready: 0, and -254 from the moment when SIGTERM arrives. "+
			"Its directory must be there and stay. Empty = off.")
	define(s, "vrrp-state-dir", &l.VRRPStateDir, "", path(), restart,
		"Directory in which leveectl keepalived notify keeps which virtual addresses are here, for the metrics levee_vrrp_*. "+
			"Empty = off.")
	l.Common.define(s, "127.0.0.1:9454")
}

func (l *Limiter) combinations(s *set) {
	whyNoFile := ""
	if !l.Standalone {
		whyNoFile = "a file store serves standalone limiters only; set standalone, or name the endpoints of etcd"
	}
	l.Common.combinations(s)
	l.Storage.combinations(s, whyNoFile)
	if l.MaxKeys > 0 && l.MaxKeys <= l.GCMaxKeys {
		s.fault("max-keys", "found %d, expected more than gc-max-keys (%d), or the collector would never run",
			l.MaxKeys, l.GCMaxKeys)
	}
	switch {
	case l.Standalone:
	case !l.GossipAddr.IsValid():
		s.fault("gossip-addr", "a limiter in a cluster needs the address at which the other members reach it, "+
			"such as 10.0.0.1:7373; or set standalone")
	case l.GossipAddr.Addr().IsUnspecified():
		s.fault("gossip-addr", "found %s, expected the address of this host at which the other members reach it",
			l.GossipAddr)
	}
}
