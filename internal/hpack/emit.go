package hpack

// Emit takes one field of a header block. Its arguments are four and no struct
// because so they stay in registers.
//
// The bytes belong to the Decoder or to the block: they are valid only until
// Emit returns, and are to be left unchanged.
//
//   - name is what raw means to the server.
//   - raw and value are the field's name and value as they were sent.
//   - valid reports that the characters of both are those that RFC 9113 allows.
//
// A valid name (sections 8.2.1 and 8.3) is a token of RFC 9110 section 5.6.2
// without capital letters: at least one character; no control, no space, no
// separator, nothing above 0x7e. One colon may go before it and makes it the name
// of a pseudo-header; whether that one exists is for Name to say.
//
// A valid value (section 8.2.1) contains no NUL, CR or LF, and neither starts nor
// ends with a space or a tab. It may be empty. Other controls, and bytes above
// 0x7e, are allowed in it.
//
// Valid says nothing about what may come only once, only first or not at all:
// that is for whoever knows the message.
type Emit func(name Name, raw, value []byte, valid bool)

// fieldOverhead is what each field counts beside its bytes, both in the dynamic
// table (RFC 7541 section 4.1) and in a header list (RFC 9113 section 6.5.2).
const fieldOverhead = 32
