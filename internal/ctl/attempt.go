package ctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/levee-project/levee/internal/attempt"
)

// answer is what a limiter or client-proxy said.
type answer struct {
	// Result is accepted, rejected or failed.
	Result string `json:"result"`
	Status int    `json:"status"`
	// Fields are those of the answer that are about quotas.
	Fields map[string]string `json:"fields,omitempty"`
	// Reason is the text of a failure.
	Reason string `json:"reason,omitempty"`
}

// The exit codes of attempt beside 0, accepted.
const (
	exitRejected = 1
	exitFailed   = 2
)

// maxReason bounds what is read of an answer's body.
const maxReason = 4 << 10

func (t *tool) attemptCommand() *cobra.Command {
	var g target
	var addr, reqID string
	var hits int
	cmd := &cobra.Command{
		Use:   "attempt RESOURCE [METHOD] [--prefix PREFIX] [--hits N] [--addr HOST:PORT]",
		Short: "Ask a limiter or client-proxy one question",
		Long: `Attempt sends one POST /attempt and prints the answer. It counts like any other;
--hits 0 only looks. Exit codes: 0 accepted, 1 rejected, 2 failed or no answer.`,
		Example: `  leveectl attempt photos GET --prefix albums
  leveectl attempt photos --hits 0 --addr 10.0.0.1:5454`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := g.parse(args); err != nil {
				return err
			}
			if hits < 0 || hits > attempt.MaxHits {
				return usage("--hits must be from 0 to %d", attempt.MaxHits)
			}
			conf, err := t.conf()
			if err != nil {
				return err
			}
			addr = cmp.Or(addr, conf.AttemptAddr)
			ctx, cancel := context.WithTimeout(cmd.Context(), conf.Timeout)
			defer cancel()
			header := g.header()
			if cmd.Flags().Changed("hits") {
				header.Set("X-Hits", strconv.Itoa(hits))
			}
			if reqID != "" {
				header.Set("X-Req-Id", reqID)
			}
			a, err := ask(ctx, addr, header)
			if err != nil {
				return exit{fmt.Errorf("no answer from %s: %w", addr, err), exitFailed}
			}
			if err := t.print(a, a.table); err != nil {
				return err
			}
			return a.err()
		},
	}
	g.flags(cmd, false)
	cmd.Flags().IntVar(&hits, "hits", 1, "The attempt stands for `N` requests; 0 = what one would get, without counting")
	cmd.Flags().StringVar(&addr, "addr", "", "Limiter or client-proxy, `HOST:PORT`, over the option attempt-addr")
	cmd.Flags().StringVar(&reqID, "req-id", "", "Trace `ID`, for the logs of the daemons")
	return cmd
}

// header is the target as an attempt's fields.
func (g *target) header() http.Header {
	h := http.Header{"X-Resource": {g.resource}}
	if g.prefix != "" {
		h["X-Prefix"] = []string{g.prefix}
	}
	if g.method != "" {
		h["X-Method"] = []string{g.method}
	}
	return h
}

// ask sends one attempt.
func ask(ctx context.Context, addr string, header http.Header) (*answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/attempt", http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header = header
	resp, err := new(http.Transport).RoundTrip(req)
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, errLate
		}
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxReason))
	if err != nil {
		return nil, err
	}
	a := &answer{Status: resp.StatusCode, Reason: strings.TrimSpace(string(body)), Result: resultOf(resp.StatusCode).String()}
	for name := range resp.Header {
		if name == "Retry-After" || strings.HasPrefix(name, "Ratelimit") {
			if a.Fields == nil {
				a.Fields = map[string]string{}
			}
			a.Fields[strings.Replace(name, "Ratelimit", "RateLimit", 1)] = resp.Header.Get(name)
		}
	}
	return a, nil
}

// err is what the process ends with.
func (a *answer) err() error {
	switch a.Result {
	case attempt.Accepted.String():
		return nil
	case attempt.Rejected.String():
		return quietly(exitRejected)
	}
	return quietly(exitFailed)
}

func (a *answer) table(w io.Writer) {
	text := fmt.Sprintf("%s (%d %s)", a.Result, a.Status, http.StatusText(a.Status))
	if a.Reason != "" {
		text += ": " + a.Reason
	}
	row(w, text)
	for _, name := range slices.Sorted(maps.Keys(a.Fields)) {
		row(w, name+":", a.Fields[name])
	}
}

var errLate = errors.New("it took too long; see --timeout")

// resultOf is what a status says.
func resultOf(code int) attempt.Result {
	switch code {
	case http.StatusOK:
		return attempt.Accepted
	case http.StatusTooManyRequests:
		return attempt.Rejected
	}
	return attempt.Failed
}
