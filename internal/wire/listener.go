package wire

import (
	"fmt"
	"net"
	"time"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Times at the end of a drain.
const (
	handshakeTime = 100 * time.Millisecond // a handshake that has begun is over by then
	lastAnswers   = 500 * time.Millisecond // what is in flight is answered by then
	firstRequest  = 400 * time.Millisecond // a client that has just connected has asked by then
)

// refuseConnections makes the kernel ignore new connections on a listener that
// goes on accepting those whose handshake has begun. Closing a listener resets
// what is in its queue, which may already hold a request; so the queue has to
// run dry first, and it only does when nothing new comes in. A client whose SYN
// is ignored sends it again, and by then is refused or reaches another node.
func refuseConnections(l *net.TCPListener) error {
	filter, err := dropSYN()
	if err != nil {
		return err
	}
	return control(l, "attach a filter to", func(fd int) error {
		return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{
			Len: uint16(len(filter)), Filter: &filter[0],
		})
	})
}

// admitConnections ends what refuseConnections began.
func admitConnections(l *net.TCPListener) error {
	return control(l, "take the filter from", func(fd int) error {
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0)
	})
}

// control does something to a listener's socket.
func control(l *net.TCPListener, what string, do func(fd int) error) error {
	raw, err := l.SyscallConn()
	if err != nil {
		return fmt.Errorf("listener of %v: %w", l.Addr(), err)
	}
	var done error
	err = raw.Control(func(fd uintptr) { done = do(int(fd)) })
	if err == nil {
		err = done
	}
	if err != nil {
		return fmt.Errorf("%s the listener of %v: %w", what, l.Addr(), err)
	}
	return nil
}

// dropSYN is a socket filter that drops segments with SYN and without ACK. A
// TCP socket's filter sees the segment from its TCP header on, where byte 13
// holds the flags.
func dropSYN() ([]unix.SockFilter, error) {
	const flags, syn, ack, all = 13, 0x02, 0x10, 0xffffffff
	program, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: flags, Size: 1},
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: syn | ack},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: syn, SkipTrue: 1},
		bpf.RetConstant{Val: all},
		bpf.RetConstant{Val: 0},
	})
	if err != nil {
		return nil, fmt.Errorf("assemble the listener's filter: %w", err)
	}
	filter := make([]unix.SockFilter, len(program))
	for i, in := range program {
		filter[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	return filter, nil
}
