//go:build race

package wire

import (
	"errors"
	"syscall"
)

// The race detector knows that what was written to a socket comes before what is
// read from it, but only by the standard library's calls.

func readSocket(fd uintptr, p []byte) (int, syscall.Errno) {
	return again(func() (int, error) { return syscall.Read(int(fd), p) })
}

func writeSocket(fd uintptr, p []byte) (int, syscall.Errno) {
	return again(func() (int, error) { return syscall.Write(int(fd), p) })
}

func again(call func() (int, error)) (int, syscall.Errno) {
	for {
		n, err := call()
		var errno syscall.Errno
		if errors.As(err, &errno); errno != syscall.EINTR {
			return n, errno
		}
	}
}
