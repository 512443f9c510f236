package wire

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

// upstream is a Decider that asks another process, which says yes to everything:
// a byte for an attempt. What is asked at about the same time shares a write, and
// one goroutine reads the answers and gives them.
type upstream struct {
	hop  net.Conn
	wake chan struct{}

	mu    sync.Mutex
	asked []attempt.Later // in the order of the bytes
	bytes []byte          // not yet written
}

func newUpstream(b *testing.B) *upstream {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	must(err)
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), benchVariable+"=echo")
	other.ExtraFiles = []*os.File{theirs}
	must(other.Start())
	d := &upstream{wake: make(chan struct{}, 1)}
	d.hop, err = net.FileConn(ours)
	must(err)
	_, _ = ours.Close(), theirs.Close()
	var wg sync.WaitGroup
	wg.Go(d.write)
	wg.Go(d.read)
	b.Cleanup(func() {
		close(d.wake)
		_ = d.hop.Close()
		wg.Wait()
		if err := other.Wait(); err != nil {
			b.Error(err)
		}
	})
	return d
}

// runEcho is the other process.
func runEcho() {
	var b [4 << 10]byte
	for {
		n, err := syscall.Read(3, b[:])
		if n == 0 || err != nil {
			return
		}
		if _, err := syscall.Write(3, b[:n]); err != nil {
			return
		}
	}
}

func (d *upstream) Attempt(_ int64, _ *attempt.Attempt, later attempt.Later) (attempt.Outcome, bool) {
	d.mu.Lock()
	d.asked = append(d.asked, later)
	d.bytes = append(d.bytes, 0)
	first := len(d.bytes) == 1
	d.mu.Unlock()
	if first {
		d.wake <- struct{}{}
	}
	return attempt.Outcome{}, false
}

func (d *upstream) write() {
	var spare []byte
	for range d.wake {
		runtime.Gosched() // let those that are about to ask share the write
		d.mu.Lock()
		bytes := d.bytes
		d.bytes = spare[:0]
		d.mu.Unlock()
		_, _ = d.hop.Write(bytes)
		spare = bytes
	}
}

func (d *upstream) read() {
	var b [4 << 10]byte
	var batch []attempt.Later
	for {
		n, err := d.hop.Read(b[:])
		if err != nil {
			return
		}
		d.mu.Lock()
		batch = append(batch[:0], d.asked[:n]...)
		d.asked = append(d.asked[:0], d.asked[n:]...)
		d.mu.Unlock()
		for _, later := range batch {
			later.Answer(attempt.Outcome{Result: attempt.Accepted, Level: attempt.Resource})
		}
	}
}

// BenchmarkLate is an attempt that a Decider answers later, over loopback. The
// clients are a process of their own, so that cpu-ns/request is the server's.
func BenchmarkLate(b *testing.B) {
	for _, l := range []load{
		{conns: 1, depth: 1},
		{conns: 64, depth: 1},
		{conns: 64, depth: 16},
		{h2: true, conns: 1, depth: 1},
		{h2: true, conns: 1, depth: 8},
		{h2: true, conns: 1, depth: 32},
		{h2: true, conns: 16, depth: 4},
		{h2: true, conns: 64, depth: 1},
	} {
		b.Run(l.name(), func(b *testing.B) { l.run(b, newUpstream(b)) })
		b.Run(l.name()+"/at once", func(b *testing.B) { l.run(b, trivial{}) })
	}
}

// load is what the clients of a benchmark keep in flight: depth attempts on each
// of conns connections.
type load struct {
	h2           bool
	conns, depth int
}

func (l load) name() string {
	if l.h2 {
		return fmt.Sprintf("h2/%dx%d", l.conns, l.depth)
	}
	return fmt.Sprintf("h1/%dx%d", l.conns, l.depth)
}

// benchVariable makes this test's binary another process of a benchmark.
const benchVariable = "LEVEE_WIRE_BENCH"

func runOther(args string) {
	if args == "echo" {
		runEcho()
		return
	}
	runGenerator(args)
}

// run measures the server under load.
func (l load) run(b *testing.B, d attempt.Decider) {
	s := serve(b, func(o *Options) {
		o.Decider = d
		began := time.Now()
		o.Clock = func() int64 { return int64(time.Since(began)) }
	})
	answer := len(s.prepared.Load().accepted)
	if l.h2 {
		answer = len(s.prepared.Load().frames.accepted)
	}
	clients := exec.Command(os.Args[0])
	clients.Env = append(os.Environ(), fmt.Sprintf("%s=%s %t %d %d %d", benchVariable, s.addr, l.h2, l.conns, l.depth, answer))
	clients.Stderr = os.Stderr
	in, err := clients.StdinPipe()
	must(err)
	out, err := clients.StdoutPipe()
	must(err)
	must(clients.Start())
	b.Cleanup(func() {
		_ = in.Close()
		if err := clients.Wait(); err != nil {
			b.Error(err)
		}
	})
	lines := bufio.NewReader(out)
	ask := func(n int) {
		_, _ = fmt.Fprintln(in, n)
		if line, err := lines.ReadString('\n'); err != nil || line != "done\n" {
			b.Fatalf("the clients said %q: %v", line, err)
		}
	}
	ask(l.conns * l.depth * 10)
	b.ReportAllocs()
	b.ResetTimer()
	before := cpuTime()
	ask(b.N)
	b.ReportMetric(float64(cpuTime()-before)/float64(b.N), "cpu-ns/op")
}

// cpuTime is what this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// generator is the clients of a benchmark: a process with one thread, which costs
// the server nothing that real clients would not.
type generator struct {
	load
	answer int // bytes
	epoll  int
	byFD   map[int32]*generatorConn
	left   int // attempts to ask
	open   int // attempts asked and not answered
	buf    []byte
}

// generatorConn is one connection of them.
type generatorConn struct {
	fd            int
	open          int // attempts asked and not answered
	got           int // bytes of answers that are not taken
	first, others *volley
	request       []byte
	out           []byte
}

// runGenerator does what the parent says: so many attempts for each line.
func runGenerator(args string) {
	l := &generator{byFD: map[int32]*generatorConn{}, buf: make([]byte, 64<<10)}
	var addr string
	var conns int
	_, err := fmt.Sscan(args, &addr, &l.h2, &conns, &l.depth, &l.answer)
	must(err)
	runtime.LockOSThread()
	l.epoll, err = syscall.EpollCreate1(0)
	must(err)
	for range conns {
		l.connect(addr)
	}
	lines := bufio.NewReader(os.Stdin)
	for {
		if _, err := fmt.Fscanln(lines, &l.left); err != nil {
			return
		}
		l.drive()
		fmt.Println("done")
	}
}

func (l *generator) connect(addr string) {
	host, port, _ := strings.Cut(addr, ":")
	sa := &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
	_, err := fmt.Sscan(port, &sa.Port)
	must(err)
	if host != "127.0.0.1" {
		panic(host)
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	must(err)
	must(syscall.Connect(fd, sa))
	must(syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1))
	c := &generatorConn{fd: fd, request: []byte(benchAttempts[1].text)}
	if l.h2 {
		c.first, c.others = newVolley(1, same)
		c.write(frame{kind: frameSettings}.append([]byte(preface)))
		c.write(frame{kind: frameSettings, flags: flagAck}.append(nil))
		for n := len(appendSettings(nil)) + frameHeader; n > 0; {
			got, err := syscall.Read(fd, l.buf[:n])
			must(err)
			n -= got
		}
	}
	l.byFD[int32(fd)] = c
	must(syscall.EpollCtl(l.epoll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)}))
}

func (c *generatorConn) write(b []byte) {
	for len(b) > 0 {
		n, err := syscall.Write(c.fd, b)
		must(err)
		b = b[n:]
	}
}

// ask sends n attempts on a connection, or what is left of them.
func (l *generator) ask(c *generatorConn, n int) {
	n = min(n, l.left)
	l.left -= n
	l.open += n
	c.open += n
	c.out = c.out[:0]
	for range n {
		switch {
		case !l.h2:
			c.out = append(c.out, c.request...)
		case c.first != nil:
			c.out = append(c.out, c.first.number()...)
			c.others.next, c.first = c.first.next, nil
		default:
			c.out = append(c.out, c.others.number()...)
		}
	}
	c.write(c.out)
}

// drive keeps the load up until all is asked and answered.
func (l *generator) drive() {
	for _, c := range l.byFD {
		l.ask(c, l.depth)
	}
	events := make([]syscall.EpollEvent, 64)
	for l.open > 0 {
		n, err := syscall.EpollWait(l.epoll, events, -1)
		if err == syscall.EINTR {
			continue
		}
		must(err)
		for _, e := range events[:n] {
			l.receive(l.byFD[e.Fd])
		}
	}
}

// receive counts answers, and asks as many times again. A pipeline is answered
// in full before it is filled again.
func (l *generator) receive(c *generatorConn) {
	n, err := syscall.Read(c.fd, l.buf)
	must(err)
	if n == 0 {
		panic(io.ErrUnexpectedEOF)
	}
	c.got += n
	answers := c.got / l.answer
	if !l.h2 && answers < c.open {
		return
	}
	c.got -= answers * l.answer
	c.open -= answers
	l.open -= answers
	l.ask(c, answers)
}
