package keepalived

import "time"

// Options is what a host's part in the sharing of addresses depends on. The names
// are those of the file that leveectl reads, and of its options.
type Options struct {
	// Interface is where adverts are sent and addresses are put, such as eth0.
	Interface string `yaml:"interface"`
	// Address is this host's own address on the interface, from which adverts are
	// sent. It may be empty with Multicast.
	Address string `yaml:"address"`
	// Peers are the same of the other hosts; none with Multicast.
	Peers []string `yaml:"peers"`
	// Multicast sends adverts to whoever listens, instead of to the peers.
	Multicast bool `yaml:"multicast"`
	// Rank is this host's place among the hosts: 1 is the one that gets the first
	// group's addresses when all start at once, 2 the next.
	Rank int `yaml:"rank"`
	// Priority is what VRRP makes of a rank, 255 - rank. Given, it replaces Rank;
	// 0 is not given.
	Priority int `yaml:"priority"`
	// RouterID tells the first group from others on the network, 1 to 255. The
	// groups after it have the numbers that follow.
	RouterID int `yaml:"router-id"`
	// VIPs are the addresses of the only group, with their prefix: 10.0.0.10/24.
	VIPs []string `yaml:"vips"`
	// Groups are sets of addresses that move together, in place of VIPs.
	Groups []Group `yaml:"groups"`
	// Preempt lets a host take a group back from one of a worse rank.
	Preempt bool `yaml:"preempt"`
	// Advert is the time between two adverts, a multiple of 10 ms; on all hosts the
	// same.
	Advert time.Duration `yaml:"advert"`
	// Port is the one at which the limiter answers attempts on this host.
	Port int `yaml:"port"`
	// TrackFile is what the limiter writes: 0 when it is ready.
	TrackFile string `yaml:"track-file"`
	// Program is leveectl, which checks the limiter and is told of changes. No part
	// of its path may be writable for others than root.
	Program string `yaml:"program"`
}

// Group is a set of addresses that are on the same host at any time.
type Group struct {
	// Name is for logs and metrics.
	Name string `yaml:"name"`
	// VIPs are its addresses.
	VIPs []string `yaml:"vips"`
	// Rank is this host's place for this group. 0 has the hosts take turns: on the
	// host of rank 1 the second group has rank 2, and so on.
	Rank int `yaml:"rank"`
	// RouterID tells the group from others; 0 is that of the first group and as many
	// more as it comes after.
	RouterID int `yaml:"router-id"`
}

// The defaults that the limiter and its package go by.
const (
	// TrackFile is where the packaged limiter writes.
	TrackFile = "/run/levee/vrrp-track"
	// StateDir is where each group's state is written down, for the limiter's
	// metrics.
	StateDir = "/run/levee-vrrp"
	// OnlyGroup is the name of the group that has the option vips.
	OnlyGroup = "levee"
)

// Ready and Unready are what the limiter writes to the tracked file, a line each.
const (
	Ready   = "0"
	Unready = "-254"
)

// Defaults returns options as they are where nothing is said.
func Defaults() Options {
	return Options{
		RouterID: 51, Advert: 100 * time.Millisecond, Port: 5454, TrackFile: TrackFile, Program: "/usr/bin/leveectl",
	}
}
