package file

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// errMoving says that the file was being written while it was read.
var errMoving = errors.New("the file is being written")

// read returns the file's bytes and what it looked like. It never waits for a
// writer, as opening a named pipe would.
func read(path string) (text []byte, seen os.FileInfo, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }()
	seen, err = f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file", path)
	}
	// One byte over the bound is enough for the parser to refuse it.
	text, err = io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", path, err)
	}
	after, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !unchanged(seen, after) {
		return nil, nil, errMoving
	}
	return text, seen, nil
}

// unchanged compares two looks at a file by what a stat tells: identity, size
// and time of the last write.
func unchanged(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
