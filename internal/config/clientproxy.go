package config

import "time"

// ClientProxy is the configuration of a client-proxy.
type ClientProxy struct {
	Common
	Serving
	// AttemptTimeout is the time for one limiter to answer; an attempt as a whole
	// gets twice that.
	AttemptTimeout time.Duration
	// OnFailure is the answer when no limiter can give one.
	OnFailure OnFailure
	// Spill asks the next limiter of the group once when one rejects.
	Spill bool
	// ObserverTimeout is how long all observers may be out of reach.
	ObserverTimeout time.Duration
	// OnObserverLoss is what to do after ObserverTimeout.
	OnObserverLoss OnObserverLoss
}

// OnFailure is the answer when no limiter can give one.
type OnFailure string

// The answers to a failure.
const (
	FailureFail   OnFailure = "fail"
	FailureAccept OnFailure = "accept"
	FailureReject OnFailure = "reject"
)

// OnObserverLoss is what to do when no observer can be reached for long.
type OnObserverLoss string

// The choices when observers are lost.
const (
	// ObserverLossExit ends the process with an error, as the manual says.
	ObserverLossExit OnObserverLoss = "exit"
	// ObserverLossServe goes on with the last topology, and is not ready.
	ObserverLossServe OnObserverLoss = "serve"
)

// Validate checks the configuration as it is. It opens no file and no socket.
// The error joins everything that is wrong and matches ErrInvalid.
func (c *ClientProxy) Validate() error { return bind(proxyBinary, c).validate(c) }

func (c *ClientProxy) define(s *set) {
	c.Serving.define(s)
	s.group("Routing")
	define(s, "attempt-timeout", &c.AttemptTimeout, 100*time.Millisecond, duration(time.Millisecond), restart,
		"Time for one limiter to answer, at least 1ms. Then the next one is asked; after twice this time, "+
			"on-failure answers.")
	define(s, "on-failure", &c.OnFailure, FailureFail, oneOf(FailureFail, FailureAccept, FailureReject), restart,
		"Answer when no limiter can give one: fail (500), accept (200, unlimited) or reject (429).")
	define(s, "spill", &c.Spill, false, boolean(), live,
		"When a limiter rejects, ask the next one of its group once. A small quota that falls unevenly on its group "+
			"then loses less, and no more passes than the sum of the shares. Costs a second question for each rejection.")
	define(s, "observer-timeout", &c.ObserverTimeout, 30*time.Second, duration(time.Second), restart,
		"Time without any observer after which on-observer-loss applies, at least 1s.")
	define(s, "on-observer-loss", &c.OnObserverLoss, ObserverLossExit, oneOf(ObserverLossExit, ObserverLossServe), restart,
		"When no observer can be reached: exit (with an error) or serve (with the last topology, and not ready).")
	s.group("Keys")
	c.defineCollector(s)
	c.Common.define(s, "127.0.0.1:9456")
}

func (c *ClientProxy) combinations(s *set) {
	c.Common.combinations(s)
	c.Storage.combinations(s, "a file store serves standalone limiters only; name the endpoints of etcd")
}
