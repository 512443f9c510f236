package topology

import (
	"net/netip"
	"testing"
)

func TestReachable(t *testing.T) {
	tests := []struct{ bound, host, want string }{
		{"10.0.0.1:9454", "10.0.0.1", "10.0.0.1:9454"},
		{"192.168.0.1:9454", "10.0.0.1", "192.168.0.1:9454"},
		{"0.0.0.0:9454", "10.0.0.1", "10.0.0.1:9454"},
		{"[::]:9454", "10.0.0.1", "10.0.0.1:9454"},
		{"[::]:9454", "fd00::1", "[fd00::1]:9454"},
		{"[::ffff:10.0.0.1]:9454", "10.0.0.2", "10.0.0.1:9454"},
		{"127.0.0.1:9454", "127.0.0.1", "127.0.0.1:9454"},
		{"[::1]:9454", "127.0.0.1", "[::1]:9454"},
		{"127.0.0.1:9454", "10.0.0.1", ""},
		{"[::1]:9454", "fd00::1", ""},
		{"", "10.0.0.1", ""},
		{"0.0.0.0:9454", "", ""},
	}
	for _, tt := range tests {
		bound, _ := netip.ParseAddrPort(tt.bound)
		host, _ := netip.ParseAddr(tt.host)
		want, _ := netip.ParseAddrPort(tt.want)
		if got := Reachable(bound, host); got != want {
			t.Errorf("%s on %s is reached at %s, want %q", tt.bound, tt.host, got, tt.want)
		}
	}
}
