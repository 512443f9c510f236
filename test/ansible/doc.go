// Package ansible tests the collection as those who use it see it: playbooks run
// against machines that boot, over ssh, with packages from a signed repository.
//
// prepare builds once for all tests:
//
//	packages/   versions 0.1.0 and 0.2.0, for this architecture
//	repo/       a signed repository of both, which the tests serve over HTTP
//	etcd/       static etcd and etcdctl
//	key         of the one who runs the playbooks
//
// The tests themselves are the controller: what ansible-playbook reaches, it
// reaches from their network. One set of machines serves the whole suite, whose
// main test is one life of a cluster: set up, run twice, changed, grown, shrunk,
// upgraded, and a machine of it replaced.
package ansible
