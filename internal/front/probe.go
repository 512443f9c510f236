package front

import (
	"context"
	"fmt"
	"net"
	"net/http"
)

// probe returns the proof that the process works: a request for its health
// through its own serving port, on a connection that is kept. Any answer is one;
// what it says is the load balancer's business.
func probe(addr net.Addr) func(context.Context) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConns: 1}}
	url := "http://" + reachable(addr) + "/healthz"
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodHead, url, http.NoBody)
		if err != nil {
			return fmt.Errorf("probe %s: %w", url, err)
		}
		res, err := client.Do(req)
		if err != nil {
			return fmt.Errorf("probe: %w", err)
		}
		return res.Body.Close()
	}
}

// reachable returns an address at which a listener can be reached from its own
// host.
func reachable(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return addr.String()
	}
	host := "127.0.0.1"
	if tcp.IP.To4() == nil {
		host = "::1"
	}
	return net.JoinHostPort(host, fmt.Sprint(tcp.Port))
}
