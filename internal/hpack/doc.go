// Package hpack decodes HPACK header blocks (RFC 7541) for a server that is asked
// one small kind of question millions of times a second. It only decodes, and
// it is pure: no I/O, no goroutine, no clock.
//
// One Decoder serves one connection. Decode takes a whole header block, that is
// the fragments of a HEADERS frame and its CONTINUATIONs joined, and hands each
// field to a function:
//
//	err := d.Decode(block, maxList, func(name hpack.Name, _, value []byte, valid bool) {
//		switch name {
//		case hpack.XResource:
//			resource = append(resource[:0], value...)
//		...
//		}
//	})
//
// # Why it is lean
//
// A field comes with its name already classified (Name) and its characters
// already checked (valid). Both are worked out once, when the field enters
// the dynamic table, so a field that the client sends as an index costs neither
// a comparison of names nor a look at its bytes.
//
// Nothing is a string, and nothing is allocated per field. Text is handed out
// where it lies: in the block, in the dynamic table, or in a scratch buffer when
// it was Huffman coded. That is why a field's bytes are valid only during the
// call they are passed to.
//
// # What it holds
//
// A Decoder that has seen no block holds no memory but itself. The dynamic table
// grows with what the client puts into it, and never over the size announced to
// the client:
//
//	text     one array of bytes, at most the announced size
//	entries  8 bytes each, one per 32 bytes of the announced size at most, rounded
//	         up to a power of two
//	scratch  what was Huffman coded in one field, at most 8/5 of the block and a
//	         bit; dropped after the block when larger than 1 KiB
//
// # What can go wrong
//
// ErrTooLarge is the fault of one request: the block was decoded to its end and
// the connection goes on. ErrCompression means that the two ends no longer share
// one dynamic table: the connection must end with COMPRESSION_ERROR (RFC 9113
// section 4.3).
package hpack
