//go:build !race

package wire

import (
	"syscall"
	"unsafe"
)

// The calls on a socket that never block do without telling the scheduler, as
// calls that may block must. That saves a little on each, and the scheduler does
// not hand the processor to another thread in the middle of one, which on a busy
// host costs far more.

// readSocket reads what is there; EAGAIN says that nothing is.
func readSocket(fd uintptr, p []byte) (int, syscall.Errno) {
	return onSocket(syscall.SYS_READ, fd, p)
}

// writeSocket writes what there is room for; EAGAIN says that there is none.
func writeSocket(fd uintptr, p []byte) (int, syscall.Errno) {
	return onSocket(syscall.SYS_WRITE, fd, p)
}

// onSocket makes a call again that a signal has interrupted. p is not empty.
func onSocket(call, fd uintptr, p []byte) (int, syscall.Errno) {
	for {
		//nolint:gosec // the pointer lives as long as p
		n, _, errno := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
		if errno != syscall.EINTR {
			return int(n), errno
		}
	}
}
