package metrics

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/levee-project/levee/test/harness"
)

// carbon is a carbon-cache with an address of its own, at which it can be started
// again.
type carbon struct {
	*program
	addr string // of both its line receivers, TCP and UDP
	dir  string
}

const carbonConf = `[cache]
STORAGE_DIR = %[1]s
LOCAL_DATA_DIR = %[1]s/whisper
CONF_DIR = %[1]s
LOG_DIR = %[1]s
PID_DIR = %[1]s
USER =
MAX_CACHE_SIZE = inf
MAX_UPDATES_PER_SECOND = inf
MAX_CREATES_PER_MINUTE = inf
LOG_UPDATES = False
LOG_LISTENER_CONN_SUCCESS = False
LINE_RECEIVER_INTERFACE = %[2]s
LINE_RECEIVER_PORT = 2003
ENABLE_UDP_LISTENER = True
UDP_RECEIVER_INTERFACE = %[2]s
UDP_RECEIVER_PORT = 2003
PICKLE_RECEIVER_INTERFACE = %[2]s
PICKLE_RECEIVER_PORT = 2004
CACHE_QUERY_INTERFACE = %[2]s
CACHE_QUERY_PORT = 7002
# There is no graphite-web to tell tags to.
ENABLE_TAGS = False
`

const carbonSchemas = `[default]
pattern = .*
retentions = 1s:1h
`

// startCarbon starts one and waits until it listens.
func startCarbon(t *testing.T) *carbon {
	t.Helper()
	own := host()
	c := &carbon{addr: net.JoinHostPort(own, "2003"), dir: t.TempDir()}
	for name, text := range map[string]string{
		"carbon.conf": fmt.Sprintf(carbonConf, c.dir, own), "storage-schemas.conf": carbonSchemas,
	} {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c.start(t)
	return c
}

func (c *carbon) start(t *testing.T) {
	t.Helper()
	c.program = launch(t, "carbon-cache", "--config="+filepath.Join(c.dir, "carbon.conf"), "--nodaemon", "start")
	harness.Eventually(t, patience, "carbon listens", func() bool {
		conn, err := net.Dial("tcp", c.addr)
		if err != nil {
			return false
		}
		_ = conn.Close()
		return true
	})
}

// point is a value at a time, in seconds.
type point struct {
	at    uint32
	value float64
}

// points are what carbon has stored of a series, in the order of its ring, nil when
// it has never heard of it. The file is whisper's: a head of 16 octets, 12 for the
// one archive that the schema makes, and points of 12 octets. A tagged series is
// in the file that its hash names.
func (c *carbon) points(series string) (points []point) {
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(series)))
	b, err := os.ReadFile(filepath.Join(c.dir, "whisper", "_tagged", hash[:3], hash[3:6], hash+".wsp"))
	if err != nil || len(b) < 28 {
		return nil
	}
	for b = b[28:]; len(b) >= 12; b = b[12:] {
		if at := binary.BigEndian.Uint32(b); at > 0 {
			points = append(points, point{at, math.Float64frombits(binary.BigEndian.Uint64(b[4:]))})
		}
	}
	return points
}

// last is the latest value of a series.
func (c *carbon) last(series string) (value float64, found bool) {
	latest := uint32(0)
	for _, p := range c.points(series) {
		if p.at >= latest {
			latest, value, found = p.at, p.value, true
		}
	}
	return value, found
}
