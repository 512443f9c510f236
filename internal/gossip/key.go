package gossip

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
)

// ReadKey reads the key that encrypts gossip (AES-GCM) from a file, as
// gossip-key-file names it: 16, 24 or 32 bytes in base64 on one line, which is
// what "openssl rand -base64 32" prints. No path means no key. Errors name the
// option and the file.
func ReadKey(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("gossip-key-file: %w", err)
	}
	const want = "expected one line as printed by: openssl rand -base64 32"
	line := strings.TrimSpace(string(text))
	switch {
	case line == "":
		return nil, fmt.Errorf("gossip-key-file: %s is empty; %s", path, want)
	case strings.ContainsAny(line, "\r\n"):
		return nil, fmt.Errorf("gossip-key-file: %s has several lines; %s", path, want)
	}
	key, err := base64.StdEncoding.Strict().DecodeString(line)
	if err != nil {
		return nil, fmt.Errorf("gossip-key-file: %s is not base64; %s", path, want) // the error would quote it
	}
	switch len(key) {
	case 16, 24, 32:
		return key, nil
	}
	return nil, fmt.Errorf("gossip-key-file: the key in %s has %d bytes, not 16, 24 or 32; %s", path, len(key), want)
}
