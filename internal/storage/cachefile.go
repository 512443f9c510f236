package storage

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/levee-project/levee/internal/tree"
)

// The cache file is one line that says what it is, and a JSON object:
//
//	levee-storage-cache 1 <SHA-256 of the rest, hexadecimal>
//	{"prefix": "/levee", "addrs": [...], "saved": "...", "revision": 7, "entries": {...}}
//
// cacheFormat is the number in the first line. It changes when an older daemon
// could not read the rest.
const (
	cacheMagic  = "levee-storage-cache"
	cacheFormat = 1
	maxCache    = 512 << 20 // bytes of a cache file
	maxHeader   = 256       // bytes of its first line
)

// cached is the body of a cache file.
type cached struct {
	// Prefix and Addrs say what store the tree is of.
	Prefix string   `json:"prefix"`
	Addrs  []string `json:"addrs"`
	// Saved is when, by the wall clock; for people only.
	Saved    time.Time         `json:"saved"`
	Revision int64             `json:"revision"`
	Entries  map[string]string `json:"entries"`
	// Binary holds, as pairs of key and value, the entries that are not UTF-8
	// and that JSON text would change.
	Binary [][2][]byte `json:"binary,omitempty"`
}

func newCached(t *tree.Tree, prefix string, addrs []string, now time.Time) cached {
	c := cached{Prefix: prefix, Addrs: addrs, Saved: now.UTC(), Revision: t.Revision, Entries: make(map[string]string, len(t.Entries))}
	for key, value := range t.Entries {
		if utf8.ValidString(key) && utf8.ValidString(value) {
			c.Entries[key] = value
		} else {
			c.Binary = append(c.Binary, [2][]byte{[]byte(key), []byte(value)})
		}
	}
	return c
}

func (c cached) tree() *tree.Tree {
	t := &tree.Tree{Revision: c.Revision, Entries: make(map[string]string, len(c.Entries)+len(c.Binary))}
	for key, value := range c.Entries {
		t.Entries[key] = value
	}
	for _, pair := range c.Binary {
		t.Entries[string(pair[0])] = string(pair[1])
	}
	return t
}

// writeCached puts a new file in the place of the old one, whole or not at all,
// also when the power fails. Only its owner can read it.
func writeCached(path string, c cached) (err error) {
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if len(body) > maxCache-maxHeader {
		return fmt.Errorf("the tree is larger than %d MiB", maxCache>>20)
	}
	// One fixed name, so that a crash leaves one file behind at most.
	temp := path + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %d %x\n", cacheMagic, cacheFormat, sha256.Sum256(body))
	if err == nil {
		_, err = f.Write(body)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes a rename last.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// readCached reads a file that writeCached wrote. The error of a missing file
// is os.ErrNotExist; any other says what is wrong with it.
func readCached(path string) (cached, error) {
	f, err := os.Open(path)
	if err != nil {
		return cached{}, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxCache+1))
	if err != nil {
		return cached{}, err
	}
	if len(text) > maxCache {
		return cached{}, fmt.Errorf("larger than %d MiB", maxCache>>20)
	}
	head, body, _ := bytes.Cut(text, []byte("\n"))
	var format int
	var sum string
	if n, _ := fmt.Sscanf(string(head[:min(len(head), maxHeader)]), cacheMagic+" %d %s", &format, &sum); n != 2 {
		return cached{}, errors.New("not a cache of the storage")
	}
	if format != cacheFormat {
		return cached{}, fmt.Errorf("written in format %d, this program reads format %d", format, cacheFormat)
	}
	if sum != fmt.Sprintf("%x", sha256.Sum256(body)) {
		return cached{}, errors.New("damaged: the checksum does not match")
	}
	var c cached
	if err := json.Unmarshal(body, &c); err != nil {
		return cached{}, fmt.Errorf("damaged: %w", err)
	}
	return c, nil
}
