package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Paper is a page with a chart.
type Paper interface {
	Markdown(w io.Writer, picture string) error
	Chart(w io.Writer) error
}

// Write writes NAME.md into a directory, which is made, and NAME.png if the page
// shall have its chart. It returns their paths.
func Write(dir, name string, p Paper, charted bool) (paths []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("directory for the results: %w", err)
	}
	page, picture := filepath.Join(dir, name+".md"), ""
	paths = []string{page}
	if charted {
		picture = name + ".png"
		paths = append(paths, filepath.Join(dir, picture))
		if err := create(paths[1], p.Chart); err != nil {
			return nil, err
		}
	}
	return paths, create(page, func(w io.Writer) error { return p.Markdown(w, picture) })
}

func create(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
