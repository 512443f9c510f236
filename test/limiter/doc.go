// Package limiter looks at levee-limiter from outside, as its users do: over
// real sockets, with real stores, signals and clocks. It knows nothing of the
// program's inside and holds for any server engine.
//
// The tests run beside each other, each with a limiter of its own. What needs an
// idle machine is in package capacity.
package limiter
