package adminapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

// Bounds of a client: it asks machines of its own cluster for small pages.
const (
	askTime   = 2 * time.Second
	largest   = 4 << 20 // bytes of a page
	keptIdle  = 256
	idleTime  = 30 * time.Second
	headBytes = 16 << 10
)

// Client asks admin ports. It may be used by many goroutines at once.
type Client struct{ http http.Client }

// NewClient returns a client. An answer takes 2 s at most.
func NewClient() *Client {
	return &Client{http: http.Client{
		Timeout: askTime,
		Transport: &http.Transport{ // no proxy
			MaxIdleConns: keptIdle, MaxIdleConnsPerHost: 1, IdleConnTimeout: idleTime,
			MaxResponseHeaderBytes: headBytes,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close ends the connections that are idle.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Status asks the daemon at addr for its status.
func (c *Client) Status(ctx context.Context, addr netip.AddrPort) (*Status, error) {
	return get[Status](ctx, c, addr, "/status")
}

// Top asks the daemon at addr for its hottest keys.
func (c *Client) Top(ctx context.Context, addr netip.AddrPort) (*Top, error) {
	return get[Top](ctx, c, addr, "/top")
}

// Bucket asks the limiter at addr for the bucket of an attempt.
func (c *Client) Bucket(ctx context.Context, addr netip.AddrPort, a *attempt.Attempt) (*Bucket, error) {
	return get[Bucket](ctx, c, addr, "/bucket?"+parameters(a))
}

func get[T any](ctx context.Context, c *Client, addr netip.AddrPort, path string) (*T, error) {
	url := "http://" + addr.String() + path
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", addr, err)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err // it names the URL
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", url, res.Status)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, largest+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", url, err)
	case len(text) > largest:
		return nil, fmt.Errorf("%s answers more than %d bytes", url, largest)
	}
	answer := new(T)
	if err := json.Unmarshal(text, answer); err != nil {
		return nil, fmt.Errorf("%s does not answer what was asked: %w", url, err)
	}
	return answer, nil
}
