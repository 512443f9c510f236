// Package etcdtest runs a real one-member etcd inside a test, on loopback ports
// that stay the same while it is stopped and started again.
//
//	s := etcdtest.Start(t, etcdtest.Options{})
//	c := s.Client()                 // a client of it, closed with the test
//	s.Stop()                        // keeps the data
//	dir := s.Backup()               // a copy of the data, while it is stopped
//	s.Start()
//	s.Restore(dir)                  // stopped, the older data, started
//
// It is ready within a fraction of a second, and it is not for benchmarks: it
// does not wait for the disk.
package etcdtest
