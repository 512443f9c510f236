package ansible

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/test/lab"
)

// serveRepo serves the repository to the machines, until the end of the test.
func serveRepo(t *testing.T) {
	t.Helper()
	ln, err := net.Listen("tcp", strings.TrimPrefix(repoURL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.FileServer(http.Dir(built("repo")))}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(ln) // until it is closed
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
}

// newMachine boots a machine that has nothing but ssh and Python, and knows the
// key of the controller.
func newMachine(t *testing.T, name, addr string) *lab.Machine {
	t.Helper()
	m := lab.New(t, name, addr)
	start(t, m)
	return m
}

// start boots a machine from a fresh disk.
func start(t *testing.T, m *lab.Machine) {
	t.Helper()
	m.WriteFile(t, "/etc/ssh/authorized_keys", readFile(t, built("key.pub")), 0o600)
	m.WriteFile(t, "/etc/ssh/sshd_config.d/controller.conf", "AuthorizedKeysFile /etc/ssh/authorized_keys\n", 0o644)
	m.Start(t)
	m.Shell(t, `ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key; systemctl --quiet enable --now ssh`)
}
