package ctl

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/levee-project/levee/internal/explain"
	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/tree"
)

// finding is something that check has to say about an entry.
type finding struct {
	// Severity is error or warning.
	Severity string `json:"severity"`
	Key      string `json:"key"`
	Text     string `json:"text"`
}

func (t *tool) checkCommand() *cobra.Command {
	var limiters int
	var strict, cluster bool
	var path string
	cmd := &cobra.Command{
		Use:   "check [--limiters N | --cluster] [--strict] [-f FILE]",
		Short: "Find mistakes in the shared configuration",
		Long: `Check reads the whole tree and lists entries without effect (errors: invalid, in
two spellings, unknown) and entries that are probably not meant (warnings: a rate of 0,
less than one request of burst for each limiter, also where a default applies to a
resource with a larger group, groups larger than there are limiters). It exits with 1 if there are errors, or warnings with --strict. With -f it
checks a file, such as an export, and needs no store.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limiters < 0 || cluster && cmd.Flags().Changed("limiters") {
				return usage("--limiters must be at least 1, and cannot go with --cluster")
			}
			read, err := t.readOr(cmd.Context(), path)
			if err != nil {
				return err
			}
			if cluster {
				view, err := t.view(cmd.Context(), read)
				if err != nil {
					return err
				}
				limiters = view.Live()
			}
			found := check(read, limiters, path == "" && t.alone())
			errors := 0
			for _, f := range found {
				if f.Severity == severe {
					errors++
				}
			}
			if err := t.print(found, func(w io.Writer) { checkTable(w, read, found, errors) }); err != nil {
				return err
			}
			if errors > 0 || strict && len(found) > 0 {
				return quietly(1)
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&limiters, "limiters", 0, "`N` limiters serve, to compare group sizes with")
	cmd.Flags().BoolVar(&cluster, "cluster", false, "Ask an observer how many limiters serve")
	cmd.Flags().BoolVar(&strict, "strict", false, "Exit with 1 on warnings too")
	cmd.Flags().StringVarP(&path, "file", "f", "", "Check this YAML `FILE` rather than the store; - is the standard input")
	return cmd
}

const (
	severe = "error"
	mild   = "warning"
)

// check lists what is wrong with a tree, errors first. limiters is how many serve,
// 0 if that is not known; where each is alone, group sizes mean nothing.
func check(t *tree.Tree, limiters int, alone bool) []finding {
	found := []finding{} // [] in JSON
	snapshot, faults := compile(t)
	for key, text := range faults {
		found = append(found, finding{severe, key, text})
	}
	warn := func(key, format string, args ...any) {
		found = append(found, finding{mild, key, fmt.Sprintf(format, args...)})
	}
	services := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(t.Entries)) {
		if faults[key] != "" {
			continue
		}
		if l, ok := limitOf(key, t.Entries[key]); ok {
			q, err := quota.ParseQuota(t.Entries[key])
			if err != nil {
				continue // it is among the faults
			}
			size := snapshot.Factor([]byte(l.Resource))
			if alone {
				size = 1
			}
			for _, risk := range risks(q, size) {
				warn(key, "%s", risk)
			}
		}
		if f, ok := factorOf(key, t.Entries[key]); ok && limiters > 0 && f.Factor > limiters {
			warn(key, "a group of %d is wanted, and %s: each passes a larger part, and the loss of one is felt more",
				f.Factor, plural(limiters, "limiter serves", "limiters serve"))
		}
	}
	if !alone {
		tooSmall(t, snapshot, faults, warn)
	}
	for _, o := range observersOf(t) {
		for _, addr := range []string{o.Gossip, o.Service} {
			if other := services[addr]; addr != "" && other != "" && faults[o.key] == "" {
				warn(o.key, "has the address %s, which %s has too", addr, other)
			}
			services[addr] = o.key
		}
	}
	slices.SortFunc(found, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Text, b.Text))
	})
	return found
}

// risks tells what is probably not meant about a quota that d limiters share.
func risks(q *quota.Quota, d int) (list []string) {
	if q.Rate().Sign() == 0 {
		if q.Shadow() {
			return []string{"the rate is 0: everything counts as exceeding it"}
		}
		return []string{"the rate is 0: everything is rejected"}
	}
	if part, yes := uneven(q, d); yes {
		list = append(list, fmt.Sprintf("burst %s is %s for each limiter in a group of %d: with less than 1, requests that come "+
			"unevenly are rejected; raise the burst to %d or more, or make the group smaller", q.Value().Burst, explain.Decimal(part), d, d))
	}
	return list
}

func checkTable(w io.Writer, t *tree.Tree, found []finding, errors int) {
	for _, f := range found {
		_, _ = fmt.Fprintf(w, "%s: %s: %s\n", f.Severity, show(f.Key), f.Text) // a buffer takes everything
	}
	row(w, fmt.Sprintf("%s: %s, %s", plural(len(t.Entries), "entry", "entries"),
		plural(errors, "error", "errors"), plural(len(found)-errors, "warning", "warnings")))
}
