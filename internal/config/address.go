package config

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// expectAddress is what a person reads about an address to listen on.
const expectAddress = "ip:port such as 0.0.0.0:5454 or [::]:5454, not a host name"

// address is an address to listen on: ip:port, [ipv6]:port, or :port for all
// addresses of the host. Port 0 lets the system choose. A host name is refused,
// because what it resolves to can change under a running process.
func address() kind[string] {
	return kind[string]{
		word: "IP:PORT", expect: expectAddress, tag: yamlText,
		parse:  parseListen,
		format: func(s string) string { return s },
	}
}

// optionalAddress is an address to listen on, or nothing.
func optionalAddress() kind[string] {
	k := address()
	k.expect += `, or "" for off`
	k.parse = func(s string) (string, bool) {
		if s == "" {
			return "", true
		}
		return parseListen(s)
	}
	return k
}

func parseListen(s string) (string, bool) {
	if port, ok := strings.CutPrefix(s, ":"); ok {
		_, err := strconv.ParseUint(port, 10, 16)
		return s, err == nil
	}
	ap, err := netip.ParseAddrPort(s)
	return ap.String(), err == nil
}

// memberAddress is the ip:port that other members reach this one at, or nothing.
func memberAddress() kind[netip.AddrPort] {
	return kind[netip.AddrPort]{
		word: "IP:PORT", expect: "ip:port such as 10.0.0.1:7373 or [fd00::1]:7373, not a host name", tag: yamlText,
		parse: func(s string) (netip.AddrPort, bool) {
			if s == "" {
				return netip.AddrPort{}, true
			}
			ap, err := netip.ParseAddrPort(s)
			return ap, err == nil
		},
		format: func(ap netip.AddrPort) string {
			if !ap.IsValid() {
				return ""
			}
			return ap.String()
		},
	}
}

// Collector is the address of a Graphite collector. The zero value means none.
type Collector struct {
	// Network is "tcp" or "udp".
	Network string
	// Address is host:port, as net.Dial takes it.
	Address string
}

// String returns the collector as the option spells it: host:port/tcp,
// host:port/udp, or "" for none.
func (c Collector) String() string {
	if c.Address == "" {
		return ""
	}
	return c.Address + "/" + c.Network
}

// collector is host:port[/tcp|/udp], tcp if unsaid, or nothing. A collector is
// dialled again and again, so a host name is fine here.
func collector() kind[Collector] {
	return kind[Collector]{
		word:   "ADDRESS",
		expect: `ip:port or host:port, with /tcp or /udp after it or not, such as 127.0.0.1:2003/udp, or "" for off`,
		tag:    yamlText,
		parse:  parseCollector,
		format: Collector.String,
	}
}

func parseCollector(s string) (Collector, bool) {
	if s == "" {
		return Collector{}, true
	}
	address, network, named := strings.Cut(s, "/")
	if !named {
		network = "tcp"
	}
	if network != "tcp" && network != "udp" {
		return Collector{}, false
	}
	return Collector{Network: network, Address: address}, dialable(address)
}

// dialable reports whether s is host:port with a port that can be dialled, and
// a host that is an IP address or looks like a host name.
func dialable(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return false
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	// A colon or only digits and dots would be an IP address gone wrong.
	return host != "" && strings.Trim(host, "0123456789.") != "" && onlyOf(host, ".-_")
}

// onlyOf reports whether s is made of ASCII letters, digits and the bytes of
// also.
func onlyOf(s, also string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		return !letter && (r < '0' || r > '9') && !strings.ContainsRune(also, r)
	})
}

// endpoint is one address of the shared store. User and password are not
// accepted in it: options with file names carry secrets.
func endpoint() kind[string] {
	return words("URL", "http://HOST:PORT, https://HOST:PORT or file:///PATH, without user, password and query",
		func(s string) bool {
			u, err := url.Parse(s)
			if err != nil || u.Scheme != scheme(s) || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
				return false
			}
			if u.Scheme == "file" {
				return u.Host == "" && strings.HasPrefix(u.Path, "/") && !strings.HasSuffix(u.Path, "/")
			}
			return (u.Scheme == "http" || u.Scheme == "https") && dialable(u.Host) && (u.Path == "" || u.Path == "/")
		})
}
