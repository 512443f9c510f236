package config

import "time"

// Gossip is what limiters and observers share about the overlay.
type Gossip struct {
	// GossipKeyFile holds the key that encrypts gossip; empty means plain text.
	GossipKeyFile string
	// GossipForget is how long a silent member is remembered.
	GossipForget time.Duration
}

func (g *Gossip) define(s *set) {
	define(s, "gossip-key-file", &g.GossipKeyFile, "", path(), restart,
		"File with the key that encrypts gossip; the same on all members. Empty = plain text.")
	define(s, "gossip-forget", &g.GossipForget, 10*time.Minute, duration(time.Second), restart,
		"Time after which a silent member is forgotten, at least 1s. Longer = a dead host counts as missing for longer.")
}
