package topology

import "net/netip"

// Reachable returns where others reach a port that is bound at an address of a
// host: at that address, or at the host's where it is bound at all of them. The
// result is the zero value if only the host itself reaches it.
func Reachable(bound netip.AddrPort, host netip.Addr) netip.AddrPort {
	at := bound.Addr().Unmap()
	switch {
	case !bound.IsValid(), !host.IsValid():
		return netip.AddrPort{}
	case at.IsUnspecified():
		at = host
	case at.IsLoopback() && !host.IsLoopback():
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(at, bound.Port())
}
