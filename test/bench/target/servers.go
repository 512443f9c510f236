package target

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"text/template"
	"time"

	"github.com/levee-project/levee/test/bench/load"
)

// Names of the servers.
const (
	Levee   = "levee"
	NGINX   = "nginx"
	HAProxy = "haproxy"
	NetHTTP = "nethttp"
)

// Names lists them; Levee is the one that the others are compared with.
var Names = []string{Levee, NGINX, HAProxy, NetHTTP}

// Server is a running server.
type Server struct {
	// Name is one of Names.
	Name  string
	addrs map[load.Protocol]netip.AddrPort
	admin netip.AddrPort // Levee's port for metrics
	tight string         // the path where a key is empty soon
	proc  *process
}

// Addr is where the server speaks a protocol.
func (s *Server) Addr(p load.Protocol) netip.AddrPort { return s.addrs[p] }

// startTime bounds a start.
const startTime = 15 * time.Second

// Start starts a server and returns when it has been seen to accept and to
// refuse, over both protocols.
func (s *Site) Start(ctx context.Context, name string) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	dir, err := s.room(name)
	if err != nil {
		return nil, err
	}
	start, ok := map[string]func(context.Context, string) (*Server, error){
		Levee: s.levee, NGINX: s.nginx, HAProxy: s.haproxy, NetHTTP: s.netHTTP,
	}[name]
	if !ok {
		return nil, fmt.Errorf("server %q: there are %v", name, Names)
	}
	server, err := start(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	server.Name = name
	if err := server.prove(ctx); err != nil {
		server.Stop()
		return nil, fmt.Errorf("start %s: %w\n%s", name, err, server.proc.tail())
	}
	return server, nil
}

// leveeTree gives every key the same as the others' configurations do.
const leveeTree = `limit:
  key_default: {rate: 1000000, burst: 1000000}
  key:
    tight: {quota: {rate: 1, burst: 5}}
`

func (s *Site) levee(ctx context.Context, dir string) (*Server, error) {
	tree := filepath.Join(dir, "storage.yaml")
	if err := os.WriteFile(tree, []byte(leveeTree), 0o600); err != nil {
		return nil, err
	}
	admin, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	server, err := s.own(ctx, "levee-limiter", "--standalone", "--instance-id=bench", "--log-format=json",
		"--listen-addr=127.0.0.1:0", "--metrics-addr="+admin.String(), "--storage-addrs=file://"+tree)
	if err != nil {
		return nil, err
	}
	server.admin = admin
	return server, nil
}

func (s *Site) netHTTP(ctx context.Context, _ string) (*Server, error) { return s.own(ctx, "nethttp") }

// own starts a server that says where it serves, both protocols on one port.
func (s *Site) own(ctx context.Context, binary string, args ...string) (*Server, error) {
	p, err := start(exec.Command(s.binary(binary), args...), s.cpu) //nolint:noctx // ends by Stop
	if err != nil {
		return nil, err
	}
	addr, err := p.serves(ctx)
	if err != nil {
		p.stop(stopTime)
		return nil, err
	}
	return &Server{addrs: map[load.Protocol]netip.AddrPort{load.HTTP1: addr, load.H2C: addr}, tight: "/attempt", proc: p}, nil
}

func (s *Site) nginx(ctx context.Context, dir string) (*Server, error) {
	server, config, err := configured(ctx, dir, "nginx.conf")
	if err != nil {
		return nil, err
	}
	path, err := find("nginx")
	if err != nil {
		return nil, err
	}
	server.proc, err = start(exec.Command(path, "-p", dir, "-c", config), s.cpu) //nolint:noctx // ends by Stop
	return server, err
}

func (s *Site) haproxy(ctx context.Context, dir string) (*Server, error) {
	server, config, err := configured(ctx, dir, "haproxy.cfg")
	if err != nil {
		return nil, err
	}
	path, err := find("haproxy")
	if err != nil {
		return nil, err
	}
	server.proc, err = start(exec.Command(path, "-db", "-f", config), s.cpu) //nolint:noctx // ends by Stop
	return server, err
}

// find returns the path of a program that may be where only root looks.
func find(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	if path, sbinErr := exec.LookPath("/usr/sbin/" + name); sbinErr == nil {
		return path, nil
	}
	return "", fmt.Errorf("%w; test/bench/setup.sh installs it", err)
}

//go:embed nginx.conf haproxy.cfg
var configs embed.FS

// configured writes a server's configuration with ports of its own.
func configured(ctx context.Context, dir, name string) (server *Server, path string, err error) {
	t, err := template.ParseFS(configs, name)
	if err != nil {
		return nil, "", err
	}
	var ports struct{ HTTP1, H2C netip.AddrPort }
	if ports.HTTP1, err = freePort(ctx); err != nil {
		return nil, "", err
	}
	if ports.H2C, err = freePort(ctx); err != nil {
		return nil, "", err
	}
	var text bytes.Buffer
	if err := t.Execute(&text, ports); err != nil {
		return nil, "", err
	}
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		return nil, "", err
	}
	addrs := map[load.Protocol]netip.AddrPort{load.HTTP1: ports.HTTP1, load.H2C: ports.H2C}
	return &Server{addrs: addrs, tight: "/tight"}, path, nil
}

// freePort returns a port that nothing listens on, for those who cannot be given
// port 0.
func freePort(ctx context.Context) (netip.AddrPort, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return netip.ParseAddrPort(l.Addr().String())
}
