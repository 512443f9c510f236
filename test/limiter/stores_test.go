package limiter

import (
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/levee-project/levee/test/etcdtest"
	"github.com/levee-project/levee/test/harness"
)

// etcdRoot is the default of storage-prefix.
const etcdRoot = "/levee/"

// etcdStore is a shared tree in an etcd of its own.
type etcdStore struct{ *etcdtest.Server }

func newEtcdStore(t testing.TB, e entries) etcdStore {
	t.Helper()
	s := etcdStore{etcdtest.Start(t, etcdtest.Options{})}
	s.Apply(t, e)
	return s
}

// Addr implements store.
func (s etcdStore) Addr() string { return s.Endpoint() }

// HostPort is the address for a link.
func (s etcdStore) HostPort() string { return strings.TrimPrefix(s.Endpoint(), "http://") }

// Apply implements store.
func (s etcdStore) Apply(t testing.TB, set map[string]string, remove ...string) {
	t.Helper()
	var ops []clientv3.Op
	for key, value := range set {
		ops = append(ops, clientv3.OpPut(etcdRoot+key, value))
	}
	for _, key := range remove {
		ops = append(ops, clientv3.OpDelete(etcdRoot+key))
	}
	s.Do(ops...)
}

// storeKinds make a store of each kind, with entries in it.
var storeKinds = map[string]func(t testing.TB, e entries) store{
	"file": func(t testing.TB, e entries) store { return harness.NewFileStore(t, e) },
	"etcd": func(t testing.TB, e entries) store { return newEtcdStore(t, e) },
}

// eachStore runs a test on each kind of store: nothing but the store may know
// which one it is.
func eachStore(t *testing.T, e entries, test func(t *testing.T, r *rig)) {
	t.Helper()
	for kind, start := range storeKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, on(t, start(t, e)))
		})
	}
}
