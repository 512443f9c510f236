package limiter

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/keytable"
)

const hourly = `{"rate": 1, "per": "1h", "burst": 9}`

// owing returns a decider whose buckets r0 to r99 owe from 1 to 10 hits at 0.
func owing(t *testing.T, key keytable.Key) *Decider {
	t.Helper()
	d := NewDecider(keytable.New(key, 0), options(config.NoQuotaAccept, false))
	setEntries(t, d, map[string]string{"limit/key_default": hourly})
	for i := range 100 {
		ask(d, 0, question(fmt.Sprint("r", i), "", "", uint32(i%10)+1))
	}
	return d
}

func TestDebtsSurviveARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debts")
	stopped := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	saved, err := saveState(path, owing(t, keytable.Key{7, 8}).table, 0, stopped)
	if err != nil || saved != 100 {
		t.Fatalf("saved %d, %v", saved, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; the file holds a secret", info.Mode(), err)
	}
	for name, tc := range map[string]struct {
		down     time.Duration
		restored int
		free     uint32 // hits that pass in the bucket that owed all ten
	}{
		"at once":                 {0, 100, 0},
		"after three hours":       {3 * time.Hour, 70, 3},
		"after a day":             {24 * time.Hour, 0, 10},
		"the wall clock ran back": {-5 * time.Hour, 100, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := loadState(path)
			if err != nil {
				t.Fatal(err)
			}
			d := NewDecider(keytable.New(s.key, 0), options(config.NoQuotaAccept, false))
			setEntries(t, d, map[string]string{"limit/key_default": hourly})
			if n := s.restore(d.table, 5000, stopped.Add(tc.down)); n != tc.restored {
				t.Errorf("%d restored, want %d", n, tc.restored)
			}
			passed := uint32(0)
			for ask(d, 5000, question("r99", "", "", 1)).Result == attempt.Accepted {
				passed++
			}
			if passed != tc.free {
				t.Errorf("%d hits passed, want %d", passed, tc.free)
			}
		})
	}
}

func TestSavingReplacesTheFileWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "debts")
	for range 2 {
		if _, err := saveState(path, owing(t, keytable.Key{}).table, 0, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%d files left behind, want the one", len(files))
	}
	if _, err := saveState(filepath.Join(dir, "missing", "debts"), owing(t, keytable.Key{}).table, 0, time.Now()); err == nil {
		t.Error("no error for a directory that does not exist")
	}
}

func TestDamagedStateIsNotUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debts")
	if s, err := loadState(path); s != nil || err != nil {
		t.Errorf("no file: %v, %v; want no state and no error", s, err)
	}
	if _, err := saveState(path, owing(t, keytable.Key{}).table, 0, time.Now()); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := append([]byte(nil), good...)
		bad[i] ^= 0x10
		if _, err := parseState(bad); err == nil {
			t.Fatalf("byte %d was changed, and the file was taken", i)
		}
		if _, err := parseState(good[:i]); err == nil {
			t.Fatalf("the file was cut to %d bytes, and taken", i)
		}
	}
}

func FuzzState(f *testing.F) {
	f.Add([]byte(stateMagic))
	f.Add(make([]byte, stateHeader+4))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseState(b)
		if err != nil {
			return
		}
		if n := s.restore(keytable.New(s.key, 0), 0, s.wall); n > len(s.debts)/stateRecord {
			t.Errorf("%d debts restored from %d records", n, len(s.debts)/stateRecord)
		}
	})
}
