package hpack

import (
	"errors"
	"fmt"
)

// ErrTooLarge says that a header list is larger than the caller's bound. The
// block was decoded to its end; the stream is to be refused, with 431, and the
// connection goes on (RFC 9113 section 10.5.1).
var ErrTooLarge = errors.New("header list is too large")

// ErrCompression says that a block cannot be decoded. The dynamic tables of the
// two ends now differ, so the connection has to end with COMPRESSION_ERROR
// (RFC 9113 section 4.3). The error that Decode returns says what is wrong.
var ErrCompression = errors.New("header block cannot be decoded")

// What is wrong, with the section of RFC 7541 that says so.
var (
	errIndex         = fmt.Errorf("%w: index is 0 or beyond the tables", ErrCompression)            // 2.3.3
	errInteger       = fmt.Errorf("%w: integer has over 32 bits or over 5 bytes", ErrCompression)   // 5.1
	errTruncated     = fmt.Errorf("%w: it ends within a field", ErrCompression)                     // 5
	errHuffman       = fmt.Errorf("%w: Huffman coded string is malformed", ErrCompression)          // 5.2
	errUpdatePlace   = fmt.Errorf("%w: table size update after a field", ErrCompression)            // 4.2
	errUpdateSize    = fmt.Errorf("%w: table size update above the announced size", ErrCompression) // 6.3
	errUpdateMissing = fmt.Errorf("%w: no table size update after a smaller size", ErrCompression)  // 4.2
)
