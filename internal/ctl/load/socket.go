package load

import (
	"encoding/binary"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls of a loop that has its thread for itself. The scheduler of Go is not
// told: those that do not block need not, and about those that do it would find
// other work for the processor, of which there is none. That costs more than an
// attempt. When it has need of the thread, a signal ends the call.

// readSocket is read(2).
func readSocket(fd int, into []byte) (int, error) {
	return result(unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(into))), uintptr(len(into)))) //nolint:gosec // the kernel fills it
}

// writeSocket is write(2).
func writeSocket(fd int, out []byte) (int, error) {
	return result(unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(out))), uintptr(len(out)))) //nolint:gosec // the kernel reads it
}

func result(n, _ uintptr, errno unix.Errno) (int, error) {
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// rest lets time pass, to the microsecond; less when there is a signal.
func rest(t time.Duration) {
	if t > 0 {
		spec := unix.NsecToTimespec(int64(t))
		_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&spec)), 0, 0) //nolint:gosec // the kernel reads it
	}
}

// stamps has the kernel note when something arrives. So an open loop need not wake
// for answers, which would cost as much again as to wake for what is due.
type stamps struct {
	message unix.Msghdr
	vector  unix.Iovec
	control [64]byte
}

// want has what arrives on a socket stamped.
func (*stamps) want(fd int) error {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
}

// read is readSocket, and says how long ago the last of what it brings arrived.
func (s *stamps) read(fd int, into []byte) (n int, ago time.Duration, err error) {
	s.vector.Base = unsafe.SliceData(into) //nolint:gosec // the kernel fills it
	s.vector.SetLen(len(into))
	s.message = unix.Msghdr{Iov: &s.vector, Control: &s.control[0]}
	s.message.SetIovlen(1)
	s.message.SetControllen(len(s.control))
	n, err = result(unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&s.message)), 0)) //nolint:gosec // the kernel fills it
	if n == 0 || err != nil {
		return 0, 0, err
	}
	return n, sinceStamp(s.control[:s.message.Controllen], time.Now()), nil
}

// sinceStamp reads a control message (cmsg(3)) that has a time. Where it has none,
// what it is about arrives now.
func sinceStamp(control []byte, now time.Time) time.Duration {
	const head, whole = 16, 32 // on 64-bit machines
	if len(control) < whole {
		return 0
	}
	level, kind := binary.NativeEndian.Uint32(control[8:]), binary.NativeEndian.Uint32(control[12:])
	if level != unix.SOL_SOCKET || kind != unix.SCM_TIMESTAMPNS {
		return 0
	}
	seconds, nanoseconds := binary.NativeEndian.Uint64(control[head:]), binary.NativeEndian.Uint64(control[head+8:])
	return now.Sub(time.Unix(int64(seconds), int64(nanoseconds)))
}
