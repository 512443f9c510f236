package config

import "time"

// Serving is what the two daemons that take attempts have: limiter and
// client-proxy.
type Serving struct {
	// ListenAddr is where attempts come in, as net.Listen takes it.
	ListenAddr string
	// HeaderTimeout is the time for a whole header, from its first byte.
	HeaderTimeout time.Duration
	// BodyTimeout is the time for a whole body.
	BodyTimeout time.Duration
	// IdleTimeout is how long a connection stays open between attempts.
	IdleTimeout time.Duration
	// WriteTimeout is how long a peer may leave an answer unread.
	WriteTimeout time.Duration
	// MaxConnections bounds the open connections; 0 means that only the process's
	// file limit does.
	MaxConnections int
	// ResponseHeaders is what answers tell clients about the quota.
	ResponseHeaders ResponseHeaders
	// DrainTimeout is the longest time between SIGTERM and the end of serving.
	DrainTimeout time.Duration
	// GCMaxKeys is the number of keys above which the collector runs; 0 means
	// never.
	GCMaxKeys int
	// GCPeriod is the time between two runs of the collector.
	GCPeriod time.Duration
}

// ResponseHeaders is what answers tell clients about the quota.
type ResponseHeaders string

// The response headers.
const (
	// HeadersRetryAfter is Retry-After on 429.
	HeadersRetryAfter ResponseHeaders = "retry-after"
	// HeadersRateLimit is Retry-After on 429, and RateLimit and RateLimit-Policy
	// on 200 and 429.
	HeadersRateLimit ResponseHeaders = "ratelimit"
	// HeadersNone is nothing.
	HeadersNone ResponseHeaders = "none"
)

func (v *Serving) define(s *set) {
	s.group("Serving")
	define(s, "listen-addr", &v.ListenAddr, "0.0.0.0:5454", address(), restart,
		"Address for attempts: ip:port, [ipv6]:port, or :port for all addresses, IPv4 and IPv6.")
	define(s, "response-headers", &v.ResponseHeaders, HeadersRetryAfter,
		oneOf(HeadersRetryAfter, HeadersRateLimit, HeadersNone), live,
		"What answers tell about the quota: retry-after (on 429), ratelimit (also RateLimit and RateLimit-Policy, "+
			"on 200 and 429; costs about 100 bytes an answer) or none.")
	define(s, "header-timeout", &v.HeaderTimeout, 10*time.Second, duration(time.Millisecond), restart,
		"Time for a whole request header, then the connection is closed.")
	define(s, "body-timeout", &v.BodyTimeout, 10*time.Second, duration(time.Millisecond), restart,
		"Time for a whole request body, then the connection is closed.")
	define(s, "idle-timeout", &v.IdleTimeout, 5*time.Minute, duration(time.Millisecond), restart,
		"Time that a connection stays open without a request.")
	define(s, "write-timeout", &v.WriteTimeout, 10*time.Second, duration(time.Millisecond), restart,
		"Time that a peer may leave an answer unread, then the connection is closed.")
	define(s, "max-connections", &v.MaxConnections, 0, count(), restart,
		"Most open connections. 0 = no bound but the process's file limit.")
	define(s, "drain-timeout", &v.DrainTimeout, 10*time.Second, duration(time.Second), restart,
		"Longest time from SIGTERM to the end of serving, at least 1s. It ends sooner once no attempt has come for 1s.")
}

// defineCollector binds the options of the key collector, in the group of the
// daemon's choice.
func (v *Serving) defineCollector(s *set) {
	define(s, "gc-max-keys", &v.GCMaxKeys, 0, count(), live,
		"Number of keys above which idle ones are collected. 0 = never: memory grows with every new key.")
	define(s, "gc-period", &v.GCPeriod, time.Hour, duration(time.Second), live,
		"Time between two runs of the collector, at least 1s.")
}
