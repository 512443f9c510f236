package hpack

// Name is what a field's name means to the server: the classes below, and Other
// for all the rest.
type Name uint8

// The names that are told apart. Each stands for the lower-case header name that
// its identifier spells; the classes of the methods below are ranges of it.
const (
	Other Name = iota // any name not listed, malformed ones included

	Method      // :method
	Path        // :path
	Scheme      // :scheme
	Authority   // :authority
	Status      // :status, in responses only
	OtherPseudo // any other name that starts with a colon

	Connection       // connection
	TransferEncoding // transfer-encoding
	KeepAlive        // keep-alive
	ProxyConnection  // proxy-connection
	Upgrade          // upgrade

	XResource     // x-resource
	XPrefix       // x-prefix
	XMethod       // x-method
	XHits         // x-hits
	XReqID        // x-req-id
	ContentLength // content-length
	Expect        // expect
	Host          // host
	RetryAfter    // retry-after
	TE            // te
	Trailer       // trailer
)

// Pseudo reports whether the name starts with a colon (RFC 9113 section 8.3),
// known or not.
func (n Name) Pseudo() bool { return n >= Method && n <= OtherPseudo }

// ConnectionSpecific reports whether the name is one of those that make an
// HTTP/2 message malformed whatever their value (RFC 9113 section 8.2.2). TE is
// not among them: its value decides.
func (n Name) ConnectionSpecific() bool { return n >= Connection && n <= Upgrade }

// classify returns the class of a name as it was sent. Names compare as bytes:
// one in upper case is Other, and not valid.
func classify(name []byte) Name {
	switch string(name) { // no allocation: the compiler compares in place
	case ":method":
		return Method
	case ":path":
		return Path
	case ":scheme":
		return Scheme
	case ":authority":
		return Authority
	case ":status":
		return Status
	case "connection":
		return Connection
	case "transfer-encoding":
		return TransferEncoding
	case "keep-alive":
		return KeepAlive
	case "proxy-connection":
		return ProxyConnection
	case "upgrade":
		return Upgrade
	case "x-resource":
		return XResource
	case "x-prefix":
		return XPrefix
	case "x-method":
		return XMethod
	case "x-hits":
		return XHits
	case "x-req-id":
		return XReqID
	case "content-length":
		return ContentLength
	case "expect":
		return Expect
	case "host":
		return Host
	case "retry-after":
		return RetryAfter
	case "te":
		return TE
	case "trailer":
		return Trailer
	}
	if len(name) > 0 && name[0] == ':' {
		return OtherPseudo
	}
	return Other
}
