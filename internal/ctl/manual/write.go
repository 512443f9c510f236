package manual

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// Write writes all pages into a directory, which must be there. root is leveectl.
// The pages tell the version, and a date if there is one, such as 2026-01-31.
func Write(dir string, root *cobra.Command, version, date string) error {
	for _, p := range pages(root) {
		if err := os.WriteFile(filepath.Join(dir, p.file()), p.bytes(date, version), 0o644); err != nil {
			return fmt.Errorf("manual page: %w", err)
		}
	}
	return nil
}

func pages(root *cobra.Command) []*page {
	list := commandPages(root)
	list = append(list, daemonPages()...)
	return append(list, optionsPage(), storagePage())
}

// The pages that others name.
const (
	toolRef     = "leveectl(1)"
	limiterRef  = "levee-limiter(8)"
	observerRef = "levee-observer(8)"
	proxyRef    = "levee-client-proxy(8)"
	optionsRef  = "levee.yaml(5)"
	storageRef  = "levee-storage(5)"
)
