// Package storage tests the etcd store against a real etcd.
package storage

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/levee-project/levee/internal/storage/etcd"
	"github.com/levee-project/levee/internal/tree"
	"github.com/levee-project/levee/test/etcdtest"
)

// quick is a store with short times, so that a test of an outage is short.
func quick(s *etcdtest.Server) etcd.Config {
	return etcd.Config{
		Endpoints: []string{s.Endpoint()}, Prefix: "/levee",
		ProbeInterval: 100 * time.Millisecond, RetryMax: 300 * time.Millisecond,
	}
}

// TestListAndWatch follows puts, deletes and transactions, with the times that
// daemons use.
func TestListAndWatch(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{})
	s.Put("/levee/limit/key_default", "a", "/levee", "not below", "/levee/", "no entry", "/leveex/b", "outside", "/levef", "outside")
	conf := quick(s)
	conf.ProbeInterval, conf.RetryMax, conf.Prefix = 0, 0, "/levee/"
	r := follow(t, conf)
	if tr := r.waitTree("limit/key_default", "a"); tr.Revision != s.Revision() {
		t.Errorf("the revision is %d, etcd's is %d", tr.Revision, s.Revision())
	}
	s.Put("/levee/factor/default", "2")
	tr := r.waitTree("limit/key_default", "a", "factor/default", "2")
	if tr.Revision != s.Revision() {
		t.Errorf("the revision is %d, etcd's is %d", tr.Revision, s.Revision())
	}
	s.Put("/other/x", "1", "/levee", "2", "/levee/", "3", "/levee0", "4") // makes no tree, or one with nothing in it
	s.Delete("/levee/limit/key_default")
	r.waitTree("factor/default", "2")
	s.Do(clientv3.OpDelete("/levee/factor/default"), clientv3.OpPut("/levee/limit/key/\xff/quota", "\x00"), clientv3.OpPut("/levee/limit/key//quota", ""))
	r.waitTree("limit/key/\xff/quota", "\x00", "limit/key//quota", "")
	s.Do(clientv3.OpDelete("/levee/", clientv3.WithPrefix()))
	r.waitTree()
	if len(tr.Entries) != 2 {
		t.Errorf("a tree that was handed out has changed: %v", tr.Entries)
	}
	r.stop()
	for _, tr := range r.trees {
		// The last transaction replaced one entry by two: never one without the other.
		if _, a := tr.Entries["limit/key/\xff/quota"]; a {
			if _, b := tr.Entries["limit/key//quota"]; !b {
				t.Errorf("a transaction was torn: %v", tr.Entries)
			}
		}
	}
	if r.logged("etcd is read") != 1 || r.logged("\n") != 1 {
		t.Errorf("the log is\n%s", &r.log)
	}
}

// TestIdle holds that a watch of a tree that nobody changes does not count as dead,
// and that what was listed is not handed out again.
func TestIdle(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{})
	s.Put("/levee/a", "1")
	conf := quick(s)
	conf.ProbeInterval = 20 * time.Millisecond
	r := follow(t, conf)
	r.waitTree("a", "1")
	time.Sleep(50 * conf.ProbeInterval) // in which a watch taken for dead would have been left many times
	s.Put("/levee/a", "2")
	r.waitTree("a", "2")
	r.stop()
	if len(r.trees) != 2 || r.logged("\n") != 1 {
		t.Errorf("%d trees; the log is\n%s", len(r.trees), &r.log)
	}
}

// TestPages lists 2,500 entries in pages, while they change.
func TestPages(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{})
	pairs := func(value string) (all []string) {
		for i := range 2500 {
			all = append(all, fmt.Sprintf("/levee/limit/key/%04d/quota", i), value)
		}
		return all
	}
	write := func(value string) {
		for all := pairs(value); len(all) > 0; all = all[200:] {
			s.Put(all[:200]...) // etcd takes 128 operations in a transaction
		}
	}
	write("1")
	conf := quick(s)
	conf.PageSize = 100
	r := follow(t, conf)
	whole := func(value string) func(tree.Tree, tree.Status) bool {
		return func(tr tree.Tree, s tree.Status) bool {
			for _, v := range tr.Entries {
				if v != value {
					return false
				}
			}
			return s.Connected && len(tr.Entries) == 2500
		}
	}
	r.wait("2,500 entries", whole("1"))
	write("2")
	r.wait("2,500 changed entries", whole("2"))
	r.stop()
	if first := r.trees[0]; len(first.Entries) != 2500 {
		t.Errorf("the first tree has %d entries", len(first.Entries))
	}
}

// TestStopAndStart has etcd away while values change and history is compacted.
func TestStopAndStart(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{})
	s.Put("/levee/a", "1", "/levee/b", "1")
	r := follow(t, quick(s))
	r.waitTree("a", "1", "b", "1")
	for round, compact := range []bool{false, true} {
		s.Stop()
		r.waitAway(s.Endpoint())
		if tr, _ := r.last(); len(tr.Entries) != 2 {
			t.Errorf("the tree while etcd is away is %v", tr.Entries)
		}
		value := fmt.Sprint(2 + round)
		s.Elsewhere(func() {
			s.Put("/levee/a", value)
			s.Delete("/levee/b")
			s.Put("/levee/b", value)
			if compact {
				s.Compact()
			}
		})
		s.Start()
		r.waitTree("a", value, "b", value)
		s.Put("/levee/a", "1", "/levee/b", "1")
		r.waitTree("a", "1", "b", "1")
	}
	if away, back := r.logged("etcd is away"), r.logged("etcd is read "); away != 2 || back > 3 {
		t.Errorf("%d lines of going and %d of coming for two outages:\n%s", away, back, &r.log)
	}
	if !strings.Contains(r.log.String(), s.Endpoint()) || !strings.Contains(r.log.String(), "connection refused") {
		t.Errorf("the log does not say who and why:\n%s", &r.log)
	}
}

// TestCompactionUnderTheWatch compacts what a connected store has already seen,
// and goes on.
func TestCompactionUnderTheWatch(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{})
	r := follow(t, quick(s))
	r.waitTree()
	for i := range 3 {
		s.Put("/levee/a", fmt.Sprint(i), "/elsewhere", "x")
		r.waitTree("a", fmt.Sprint(i))
		s.Compact()
	}
}

// TestRestore has the revision go back, with the same cluster and term, and a
// restart that is over before the next probe.
func TestRestore(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{})
	s.Put("/levee/a", "old")
	s.Stop()
	backup := s.Backup()
	s.Start()
	for i := range 20 {
		s.Put("/levee/a", fmt.Sprint(i), "/levee/b", "new")
	}
	conf := quick(s)
	conf.ProbeInterval = time.Minute
	r := follow(t, conf)
	before := r.waitTree("a", "19", "b", "new")
	s.Restore(backup)
	after := r.waitTree("a", "old")
	if after.Revision >= before.Revision {
		t.Errorf("the revision went from %d to %d", before.Revision, after.Revision)
	}
	if r.logged("older revision") != 1 {
		t.Errorf("the log does not tell of it:\n%s", &r.log)
	}
	s.Put("/levee/a", "newest") // at a revision that the first watch would have taken for old
	r.waitTree("a", "newest")
}

// TestAnotherCluster has a new cluster at the old address.
func TestAnotherCluster(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{})
	s.Put("/levee/a", "1")
	r := follow(t, quick(s))
	r.waitTree("a", "1")
	s.Wipe()
	s.Start()
	r.waitTree()
	s.Put("/levee/b", "2")
	r.waitTree("b", "2")
}

// TestStartWhileAway starts the store before etcd.
func TestStartWhileAway(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{Down: true})
	r := follow(t, quick(s))
	r.waitAway("connection refused")
	if tr, _ := r.last(); tr.Entries != nil {
		t.Errorf("a tree came from nowhere: %v", tr)
	}
	s.Start()
	s.Put("/levee/a", "1")
	r.waitTree("a", "1")
}

// TestStopWhileAway ends a store that never had a connection.
func TestStopWhileAway(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{Down: true})
	r := follow(t, quick(s))
	r.waitAway("connection refused")
	r.stop()
	if r.logged("\n") != 1 {
		t.Errorf("the log has more than one line for one outage:\n%s", &r.log)
	}
}

// TestOneEndpointOfTwo has one address that nobody answers at.
func TestOneEndpointOfTwo(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{})
	dead := etcdtest.Start(t, etcdtest.Options{Down: true})
	s.Put("/levee/a", "1")
	conf := quick(s)
	conf.Endpoints = []string{dead.Endpoint(), s.Endpoint()}
	r := follow(t, conf)
	r.waitTree("a", "1")
	s.Put("/levee/a", "2")
	r.waitTree("a", "2")
	if r.logged("level=ERROR") != 0 {
		t.Errorf("the log is\n%s", &r.log)
	}
}

// TestPassword logs in, and follows a password that changes.
func TestPassword(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{})
	s.Put("/levee/a", "1", "/secret", "x")
	s.EnableAuth("levee", "first", "/levee/")
	root := s.ClientAs("root", "root")
	file := filepath.Join(t.TempDir(), "password")
	password := func(text string) { writeFile(t, file, text+"\n") }
	put := func(value string) {
		if _, err := root.Put(t.Context(), "/levee/a", value); err != nil {
			t.Fatal(err)
		}
	}
	password("wrong")
	conf := quick(s)
	conf.Username, conf.PasswordFile = "levee", file
	r := follow(t, conf)
	r.waitAway(`log in as "levee": etcdserver: authentication failed`)
	password("first")
	r.waitTree("a", "1")
	put("2")
	r.waitTree("a", "2")

	if _, err := root.UserChangePassword(t.Context(), "levee", "second"); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	s.Start()
	r.waitAway("authentication failed")
	password("second")
	put("3")
	r.waitTree("a", "3")

	conf.Prefix = "/secret"
	follow(t, conf).waitAway("permission denied")
}

// TestTLS shows certificates to each other, and does not connect without.
func TestTLS(t *testing.T) {
	t.Parallel()
	pki, stranger := etcdtest.NewPKI(t), etcdtest.NewPKI(t)
	s := etcdtest.Start(t, etcdtest.Options{TLS: pki})
	s.Put("/levee/a", "1")
	conf := quick(s)
	conf.CAFile, conf.CertFile, conf.KeyFile = pki.CA, pki.ClientCert, pki.ClientKey
	r := follow(t, conf)
	r.waitTree("a", "1")
	s.Put("/levee/a", "2")
	r.waitTree("a", "2")

	conf.CAFile = stranger.CA
	follow(t, conf).waitAway("certificate signed by unknown authority")
	conf.CAFile, conf.CertFile, conf.KeyFile = pki.CA, "", ""
	follow(t, conf).waitAway("certificate required")
	conf.CAFile = filepath.Join(t.TempDir(), "none")
	follow(t, conf).waitAway("storage-ca-file: open " + conf.CAFile + ": no such file")
}
