package gossip

import (
	"time"

	"github.com/hashicorp/memberlist"
)

// The times of the protocol. Detecting a failure takes, in a cluster of n:
//
//	until somebody probes the dead node      about 0.8 × probeInterval
//	until that probe has failed              probeInterval
//	suspicion: until it has had its chance   suspicionMult × max(1, log10 n) × probeInterval
//	until everybody has heard                a few gossipIntervals
//
// which makes 3 to 5 s for ten members and 4 to 6 s for fifty. Suspicion lasts up
// to suspicionMaxMult times as long where too few others confirm it.
const (
	// probeInterval is how often each member probes another, in random order. Half
	// as long finds failures in half the time, and costs twice the packets and more
	// false alarms on busy hosts.
	probeInterval = 500 * time.Millisecond
	// probeTimeout is how long the direct answer to a probe may take before others
	// are asked to probe too, and TCP is tried. It leaves them the rest of
	// probeInterval.
	probeTimeout = 300 * time.Millisecond
	// suspicionMult is how long a suspect has to refute: long enough for gossip to
	// reach it and come back several times, and for a pause of a second or two.
	suspicionMult = 4
	// suspicionMaxMult makes 8 s at the most with ten members.
	suspicionMaxMult = 4
	// awarenessMax is how many times slower a member that hears little probes at
	// the most: it may be the one in trouble (Lifeguard).
	awarenessMax = 4

	// gossipInterval and gossipFanout spread news: 200 ms and 3 reach fifty members
	// in about four rounds.
	gossipInterval = 200 * time.Millisecond
	gossipFanout   = 3
	// gossipToDead is how long a dead node is still sent news, so that it can
	// refute when it was not dead. It is longer than most hiccups of a network;
	// what takes longer is healed by joining again.
	gossipToDead = 30 * time.Second
	// pushPullInterval is how often a member compares all it knows with another. It
	// mends what was lost on the way, and tells who is silent. That is about 300
	// bytes for each member, so the more there are the longer memberlist makes it:
	// 10 s for fifty, 20 s for two hundred.
	pushPullInterval = 5 * time.Second
	// streamTimeout bounds connecting to a member over TCP, and each exchange.
	streamTimeout = 2 * time.Second

	// rejoinInterval, give or take a quarter, is how often Run looks after the
	// observers. A partition heals within two of these once the link is back, and a
	// restarted observer is known again within one.
	rejoinInterval = 2 * time.Second
	// settling is for how long a new member asks one of the observers each time for
	// all it knows. When all start at once, news goes round before all are there to
	// hear it; the second time finds everybody.
	settling = 2 * rejoinInterval
	// patience is how long a member waits for somebody to join before it goes on
	// without: the daemons may start in any order. patienceAlone is for the only
	// observer there is, which can join nobody; whoever knew its old self comes
	// within a rejoinInterval.
	patience      = 5 * time.Second
	patienceAlone = 3 * time.Second
	// updateTimeout is how long a new state may take to be sent to others. It is
	// sent a few times, one gossipInterval apart.
	updateTimeout = 2 * time.Second
)

// settings are memberlist's, for a node called name.
func settings(name, label string, key []byte) *memberlist.Config {
	c := memberlist.DefaultLANConfig()
	c.Name = name
	c.Label = label
	c.SecretKey = key // and with one, what is not encrypted is refused
	c.ProbeInterval, c.ProbeTimeout = probeInterval, probeTimeout
	c.SuspicionMult, c.SuspicionMaxTimeoutMult = suspicionMult, suspicionMaxMult
	c.AwarenessMaxMultiplier = awarenessMax
	c.GossipInterval, c.GossipNodes = gossipInterval, gossipFanout
	c.GossipToTheDeadTime = gossipToDead
	c.PushPullInterval = pushPullInterval
	c.TCPTimeout = streamTimeout
	c.EnableCompression = false // messages are small, and mostly random addresses
	// Names are never used again, so none is ever taken over.
	c.DeadNodeReclaimTime = 0
	return c
}
