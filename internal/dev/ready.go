package dev

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// pollEvery is the time between two looks at what is waited for.
const pollEvery = 50 * time.Millisecond

// wait waits until a URL answers 200 and a body that contains text.
func (c *cluster) wait(ctx context.Context, name, url, text string) error {
	for !answers(ctx, url, text) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s at %s: %w", name, url, context.Cause(ctx))
		case <-time.After(pollEvery):
		}
	}
	return nil
}

func answers(ctx context.Context, url, text string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return err == nil && resp.StatusCode == http.StatusOK && strings.Contains(string(body), text)
}
