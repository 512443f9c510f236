package etcd

import (
	"strings"
	"time"
)

// Config says where the tree is and how to get at it. The zero value of each
// duration and size means its default.
type Config struct {
	// Endpoints are the client URLs of the members, scheme://host:port, all
	// http or all https. One is enough to reach the cluster, all are needed to
	// outlive any member.
	Endpoints []string
	// Prefix is the root of the tree; a slash at its end makes no difference.
	// The tree is what is below <Prefix>/.
	Prefix string

	// Username and the first line of PasswordFile log in to etcd; both empty
	// for a cluster without authentication.
	Username, PasswordFile string
	// CAFile holds the PEM certificates that members may be signed by, empty
	// for those the host trusts. CertFile and KeyFile are the PEM certificate
	// and key shown to the members, both empty for none. All files are read
	// anew for every connection attempt, so they can be replaced at any time.
	CAFile, CertFile, KeyFile string

	// Timeout bounds each request and each connection attempt (3s); half of it
	// bounds a probe.
	Timeout time.Duration
	// ProbeInterval is how often the cluster is asked whether it is still there
	// and still the same (1s). Each probe is one read of one key.
	ProbeInterval time.Duration
	// RetryMax is the longest pause between attempts while etcd is away (1.5s).
	RetryMax time.Duration
	// PageSize is how many keys one request lists (500).
	PageSize int64
}

// maxTree bounds what is kept: bytes of keys and values below the prefix.
const maxTree = 256 << 20

func (c Config) withDefaults() Config {
	c.Prefix = strings.TrimRight(c.Prefix, "/")
	c.Timeout = orDefault(c.Timeout, 3*time.Second)
	c.ProbeInterval = orDefault(c.ProbeInterval, time.Second)
	c.RetryMax = orDefault(c.RetryMax, 1500*time.Millisecond)
	c.PageSize = orDefault(c.PageSize, 500)
	return c
}

func orDefault[T time.Duration | int64](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}

// root is the prefix of every key of the tree, with its slash.
func (c Config) root() string { return strings.TrimRight(c.Prefix, "/") + "/" }
