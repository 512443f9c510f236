package etcdtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// wait bounds everything that a server is waited for, and each request of Must.
const wait = 30 * time.Second

// Options of a server. The zero value is a server without TLS.
type Options struct {
	// TLS makes clients come by https, and show a certificate of its CA.
	TLS *PKI
	// Down leaves the server stopped; its address is already taken.
	Down bool
}

// Server is one etcd member. Its methods fail the test that it was made for.
type Server struct {
	t            testing.TB
	opts         Options
	dir          string
	client, peer string // host:port
	etcd         *embed.Etcd
}

// Start starts a new server with an empty store. It is stopped when the test
// ends.
func Start(t testing.TB, opts Options) *Server {
	t.Helper()
	host := ownHost()
	if opts.TLS != nil {
		host = opts.TLS.host
	}
	s := &Server{
		t: t, opts: opts, dir: filepath.Join(t.TempDir(), "etcd"),
		client: net.JoinHostPort(host.String(), "2379"), peer: net.JoinHostPort(host.String(), "2380"),
	}
	t.Cleanup(s.Stop)
	if !opts.Down {
		s.Start()
	}
	return s
}

// ownHost returns a loopback address of this server's own, so that nobody can
// have its ports while it is stopped: the whole of 127.0.0.0/8 is this host.
func ownHost() net.IP {
	return net.IPv4(127, byte(1+rand.IntN(254)), byte(rand.IntN(256)), byte(1+rand.IntN(254)))
}

// Endpoint is the client URL, the same for ever.
func (s *Server) Endpoint() string {
	if s.opts.TLS != nil {
		return "https://" + s.client
	}
	return "http://" + s.client
}

// Start starts a stopped server with the data it had, and waits until it serves.
func (s *Server) Start() {
	s.t.Helper()
	e, err := embed.StartEtcd(s.config())
	if err != nil {
		s.t.Fatalf("start etcd: %v", err)
	}
	s.etcd = e
	select {
	case <-e.Server.ReadyNotify():
	case <-time.After(wait):
		s.t.Fatalf("etcd is not ready after %v", wait)
	}
}

func (s *Server) config() *embed.Config {
	cfg := embed.NewConfig()
	cfg.Dir = s.dir
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop()) // Close logs errors that mean nothing
	clients, peers := mustURL(s.Endpoint()), mustURL("http://"+s.peer)
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = clients, clients
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = peers, peers
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.UnsafeNoFsync = true
	cfg.TickMs, cfg.ElectionMs = 10, 100 // the default waits 1 s for the first election
	cfg.BcryptCost = 4                   // a log-in is not to take a tenth of a second
	if pki := s.opts.TLS; pki != nil {
		cfg.ClientTLSInfo = transport.TLSInfo{
			CertFile: pki.ServerCert, KeyFile: pki.ServerKey,
			TrustedCAFile: pki.CA, ClientCertAuth: true,
		}
	}
	return cfg
}

func mustURL(s string) []url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(fmt.Sprintf("etcdtest: %q: %v", s, err))
	}
	return []url.URL{*u}
}

// Stop stops the server, as a crash would as far as clients can tell, and keeps
// its data. Stopping a stopped server does nothing.
func (s *Server) Stop() {
	if s.etcd != nil {
		s.etcd.Close()
		s.etcd = nil
	}
}

// Backup returns a directory with a copy of the data. The server must be
// stopped.
func (s *Server) Backup() string {
	s.t.Helper()
	if s.etcd != nil {
		s.t.Fatal("backup of a running server")
	}
	dir := filepath.Join(s.t.TempDir(), "backup")
	if err := os.CopyFS(dir, os.DirFS(s.dir)); err != nil {
		s.t.Fatalf("back up: %v", err)
	}
	return dir
}

// Restore stops the server and starts it with the data of a backup, which can
// be used again. The revision goes back to that of the backup.
func (s *Server) Restore(backup string) {
	s.t.Helper()
	s.Wipe()
	if err := os.CopyFS(s.dir, os.DirFS(backup)); err != nil {
		s.t.Fatalf("restore: %v", err)
	}
	s.Start()
}

// Wipe stops the server and removes its data: the next start makes another
// cluster at the same address.
func (s *Server) Wipe() {
	s.t.Helper()
	s.Stop()
	if err := os.RemoveAll(s.dir); err != nil {
		s.t.Fatal(err)
	}
}

// Elsewhere starts the stopped server at another address, where nobody follows
// it, calls do, and stops it: what do changes happens while etcd is away.
func (s *Server) Elsewhere(do func()) {
	s.t.Helper()
	known := s.client
	s.client = strings.Replace(known, ":2379", ":2381", 1)
	s.Start()
	do()
	s.Stop()
	s.client = known
}

// Client returns a client that is closed with the test.
func (s *Server) Client() *clientv3.Client {
	s.t.Helper()
	return s.ClientAs("", "")
}

// ClientAs returns a client that logs in.
func (s *Server) ClientAs(user, password string) *clientv3.Client {
	s.t.Helper()
	conf := clientv3.Config{
		Endpoints: []string{s.Endpoint()}, Username: user, Password: password,
		DialTimeout: wait, Logger: zap.NewNop(),
	}
	if s.opts.TLS != nil {
		conf.TLS = s.opts.TLS.clientConfig(s.t)
	}
	c, err := clientv3.New(conf)
	if err != nil {
		s.t.Fatalf("client of %s: %v", s.Endpoint(), err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// Put puts pairs, key and value in turn, in one transaction.
func (s *Server) Put(pairs ...string) {
	s.t.Helper()
	var ops []clientv3.Op
	for i := 0; i < len(pairs); i += 2 {
		ops = append(ops, clientv3.OpPut(pairs[i], pairs[i+1]))
	}
	s.Do(ops...)
}

// Delete deletes keys in one transaction.
func (s *Server) Delete(keys ...string) {
	s.t.Helper()
	var ops []clientv3.Op
	for _, key := range keys {
		ops = append(ops, clientv3.OpDelete(key))
	}
	s.Do(ops...)
}

// Do does everything in one transaction.
func (s *Server) Do(ops ...clientv3.Op) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	c := s.Client()
	if _, err := c.Txn(ctx).Then(ops...).Commit(); err != nil {
		s.t.Fatalf("write to etcd: %v", err)
	}
	_ = c.Close()
}

// Revision is the store's revision.
func (s *Server) Revision() int64 {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	resp, err := s.Client().Get(ctx, "x", clientv3.WithCountOnly())
	if err != nil {
		s.t.Fatalf("read from etcd: %v", err)
	}
	return resp.Header.Revision
}

// Compact forgets every revision before the present one.
func (s *Server) Compact() {
	s.t.Helper()
	revision := s.Revision()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	if _, err := s.Client().Compact(ctx, revision, clientv3.WithCompactPhysical()); err != nil {
		s.t.Fatalf("compact: %v", err)
	}
}

// EnableAuth turns authentication on: root with the password root, and a user
// who may read what is below a prefix.
func (s *Server) EnableAuth(user, password, prefix string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	c := s.Client()
	steps := []func() error{
		func() error { _, err := c.UserAdd(ctx, "root", "root"); return err },
		func() error { _, err := c.UserGrantRole(ctx, "root", "root"); return err },
		func() error { _, err := c.RoleAdd(ctx, "reader"); return err },
		func() error {
			_, err := c.RoleGrantPermission(ctx, "reader", prefix, clientv3.GetPrefixRangeEnd(prefix), clientv3.PermissionType(clientv3.PermRead))
			return err
		},
		func() error { _, err := c.UserAdd(ctx, user, password); return err },
		func() error { _, err := c.UserGrantRole(ctx, user, "reader"); return err },
		func() error { _, err := c.AuthEnable(ctx); return err },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			s.t.Fatalf("enable authentication: %v", err)
		}
	}
}
