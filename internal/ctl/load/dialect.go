package load

// dialect is one connection's side of a protocol.
type dialect interface {
	// hello appends what a client says first.
	hello(out []byte) []byte
	// room is how many attempts may be under way: none until the server has said
	// enough, or once it wants no more on this connection.
	room() int
	// ask appends an attempt about a resource, and returns the number, above 0,
	// that its answer will have on this connection.
	ask(out, resource []byte) (longer []byte, number uint32)
	// hear takes what is whole of what has arrived, and returns how much that was.
	hear(in []byte, got *heard) (used int, err error)
	// over is true when no attempt is taken any more, ever.
	over() bool
}

// heard is what hear found.
type heard struct {
	answers []answer
	reply   []byte // what the protocol says back
}

// answer is one answer. Its status is 0 for a stream that was reset.
type answer struct {
	number uint32
	status uint16
}
