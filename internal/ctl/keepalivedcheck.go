package ctl

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// checkTimeout is how long a limiter may take to answer for its health before it
// counts as hanging. keepalived asks every second.
const checkTimeout = 1500 * time.Millisecond

// longestHealth bounds what is read of the answer, in bytes.
const longestHealth = 512

func (t *tool) keepalivedCheck() *cobra.Command {
	port := 5454
	cmd := &cobra.Command{
		Use:   "check [--port PORT]",
		Short: "Ask the limiter of this host for its health, as keepalived does",
		Long: `Check asks /healthz at the port for attempts, at 127.0.0.1. It exits with 0 if the
limiter is ready, and with 1 if it is not, or has not answered within 1.5 s.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if port < 1 || port > 65535 {
				return usage("--port: must be from 1 to 65535")
			}
			return checkHealth(cmd.Context(), net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		},
	}
	cmd.Flags().IntVar(&port, "port", port, "`PORT` for attempts")
	return cmd
}

func checkHealth(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	url := "http://" + addr + "/healthz"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("no answer within %v: %w", checkTimeout, err)
	}
	defer res.Body.Close()
	line, err := io.ReadAll(io.LimitReader(res.Body, longestHealth))
	if err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", url, res.Status, strings.TrimSpace(string(line)))
	}
	return nil
}
