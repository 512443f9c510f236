// Package lab gives tests whole machines: Debian with systemd as process 1, each
// with a disk, a network interface and cgroups of its own, all on one bridge, and
// the test itself on that bridge beside them.
//
// [Main] is a test package's TestMain. It runs the tests in a process with
// namespaces of its own for mounts, processes and the network:
//
//	host            lock, root file system (cached), what the suite prepares
//	  process 1     of the namespaces; it does nothing but wait
//	  the tests     10.77.0.1/16, on the bridge
//	    machine     systemd-nspawn on an overlay of the root; 10.77.0.11/16
//	    machine     ...
//
// So nothing outlives the tests, however they end: with their process, the kernel
// ends every machine, and its disk, its mounts and its network are gone. What is
// left, empty cgroups and a directory, the next run removes.
//
// [New] makes a [Machine], [Machine.Start] boots it in about a second, and
// [Machine.Run] runs a command in it. Its addresses can be reached from the test
// in the usual ways, without any tool.
//
// Commands in a machine cannot set the clock, which is that of the real machine:
// CAP_SYS_TIME is taken from them, and machines do not have it.
//
// The lab needs root. It runs one suite at a time. All that it changes on the host is
// how many users of inotify root may have.
package lab
