package wire

// fault is why a connection ends. The peer is told with a GOAWAY.
type fault struct {
	code   uint32
	reason Reason
	text   string // for a person; it goes out with the GOAWAY
}

func (f *fault) Error() string { return f.text }

// The ends that are nobody's fault.
var (
	faultNone = &fault{code: codeNone, text: "the server shuts down"}
	faultIdle = &fault{code: codeNone, text: "nothing was asked for a long time"}
)

func framing(code uint32, text string) *fault {
	return &fault{code: code, reason: ReasonFraming, text: text}
}

// The faults of framing (RFC 9113, sections 4 to 6).
var (
	faultFrameSize      = framing(codeFrameSize, "a frame has a length that its type cannot have")
	faultNoSettings     = framing(codeProtocol, "the first frame is not SETTINGS")
	faultInterrupted    = framing(codeProtocol, "a header block is interrupted by another frame")
	faultContinuation   = framing(codeProtocol, "a CONTINUATION continues nothing")
	faultPadding        = framing(codeProtocol, "a frame has more padding than payload")
	faultPush           = framing(codeProtocol, "a client cannot push")
	faultStreamZero     = framing(codeProtocol, "a frame is on stream 0 that must not be")
	faultNotStreamZero  = framing(codeProtocol, "a frame is on a stream that must be on stream 0")
	faultStreamID       = framing(codeProtocol, "a client's streams have odd, rising numbers")
	faultIdleStream     = framing(codeProtocol, "a frame is on a stream that was never opened")
	faultClosedStream   = framing(codeStreamClosed, "a HEADERS frame is on a stream that is closed")
	faultSetting        = framing(codeProtocol, "a setting has a value that it cannot have")
	faultIncrement      = framing(codeProtocol, "a WINDOW_UPDATE adds nothing")
	faultSelfDependency = framing(codeProtocol, "a stream depends on itself")
)

// The other faults.
var (
	faultCompression   = &fault{codeCompression, ReasonCompression, "a header block cannot be decoded"}
	faultInitialWindow = &fault{codeFlowControl, ReasonFlowControl, "a window is larger than 2^31-1"}
	faultFlood         = &fault{codeCalm, ReasonFlood, "too many frames that ask nothing"}
	faultBlock         = &fault{codeCalm, ReasonFlood, "a header block is longer than 64 KiB"}
	faultLate          = &fault{codeProtocol, ReasonTimeout, "a frame or header block was not whole in time"}
)
