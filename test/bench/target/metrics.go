package target

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Mallocs is how many heap objects Levee has allocated so far, by its own
// metrics. Asking costs some itself.
func (s *Server) Mallocs(ctx context.Context) (float64, error) {
	return s.Metric(ctx, "go_memstats_mallocs_total", "")
}

// Metric asks one of Levee's daemons for a metric, and returns the sum of its
// series whose labels have a text in them: name="value", or several with commas
// between them as the daemon writes them. That there is none is an error.
func (s *Server) Metric(ctx context.Context, name, labels string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.admin.String()+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, fmt.Errorf("metrics of %s: %w", s.Name, err)
	}
	defer answer.Body.Close()
	sum, found := 0.0, false
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		series, ok := strings.CutPrefix(lines.Text(), name)
		if !ok || series == "" || series[0] != ' ' && series[0] != '{' || !strings.Contains(series, labels) {
			continue
		}
		value, err := strconv.ParseFloat(series[strings.LastIndexByte(series, ' ')+1:], 64)
		if err != nil {
			return 0, fmt.Errorf("metrics of %s: %s: %w", s.Name, name, err)
		}
		sum, found = sum+value, true
	}
	if err := lines.Err(); err != nil {
		return 0, fmt.Errorf("metrics of %s: %w", s.Name, err)
	}
	if !found {
		return 0, fmt.Errorf("metrics of %s: there is no %s{%s}", s.Name, name, labels)
	}
	return sum, nil
}
