package ctl

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/levee-project/levee/keepalived"
)

// checkTimeout is how long a limiter may take to answer for its health before it
// counts as hanging. keepalived asks every second.
const checkTimeout = 1500 * time.Millisecond

// longestHealth bounds what is read of the answer, in bytes.
const longestHealth = 512

func (t *tool) keepalivedCheck() *cobra.Command {
	port, track := 5454, keepalived.TrackFile
	cmd := &cobra.Command{
		Use:   "check [--port PORT] [--track-file FILE]",
		Short: "Ask the limiter of this host for its health, as keepalived does",
		Long: `Check asks /healthz at the port for attempts, at 127.0.0.1. It exits with 0 if the
limiter is ready, and with 1 if it is not, or has not answered within 1.5 s. One that drains is
fine until it says in the track file that its clients have gone, and the addresses may follow.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if port < 1 || port > 65535 {
				return usage("--port: must be from 1 to 65535")
			}
			return checkHealth(cmd.Context(), net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), track)
		},
	}
	cmd.Flags().IntVar(&port, "port", port, "`PORT` for attempts")
	cmd.Flags().StringVar(&track, "track-file", track, "`FILE` that the limiter writes")
	return cmd
}

func checkHealth(ctx context.Context, addr, track string) error {
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
	if res.StatusCode == http.StatusServiceUnavailable && strings.HasPrefix(string(line), "draining") {
		if text, err := os.ReadFile(track); err == nil && strings.TrimSpace(string(text)) == keepalived.Ready {
			return nil
		}
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", url, res.Status, strings.TrimSpace(string(line)))
	}
	return nil
}
