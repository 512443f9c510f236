package gossip

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadKey(t *testing.T) {
	for _, c := range []struct{ name, text, says string }{
		{"16 bytes", "AAAAAAAAAAAAAAAAAAAAAA==\n", ""},
		{"24 bytes, no newline", strings.Repeat("AAAA", 8), ""},
		{"32 bytes, a DOS file", strings.Repeat("AAAA", 10) + "AAA=\r\n", ""},
		{"empty", "", "is empty; expected one line as printed by: openssl rand -base64 32"},
		{"white space", " \n\n", "is empty"},
		{"two lines", "AAAAAAAAAAAAAAAAAAAAAA==\nAAAAAAAAAAAAAAAAAAAAAA==\n", "has several lines"},
		{"a password", "correct horse battery staple", "is not base64"},
		{"hexadecimal", strings.Repeat("0f", 32), "has 48 bytes, not 16, 24 or 32"},
		{"15 bytes", strings.Repeat("AAAA", 5), "has 15 bytes"},
		{"not all of the last character counts", "AAAAAAAAAAAAAAAAAAAAAB==", "is not base64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "gossip.key")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			key, err := ReadKey(path)
			switch {
			case c.says == "":
				if err != nil || !bytes.Equal(key, make([]byte, len(key))) || len(key) < 16 {
					t.Errorf("key %v, error %v", key, err)
				}
			case err == nil:
				t.Errorf("key %v", key)
			default:
				for _, part := range []string{"gossip-key-file: ", path, c.says} {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%q does not say %q", err, part)
					}
				}
				if text := strings.TrimSpace(c.text); text != "" && strings.Contains(err.Error(), text) {
					t.Errorf("%q tells the key", err)
				}
			}
		})
	}
	if key, err := ReadKey(""); key != nil || err != nil {
		t.Errorf("no path: %v, %v", key, err)
	}
	if _, err := ReadKey(filepath.Join(t.TempDir(), "absent")); err == nil || !strings.Contains(err.Error(), "gossip-key-file: ") {
		t.Errorf("no file: %v", err)
	}
}
