// Package front is the side that a daemon turns to its clients: the port that
// answers attempts, with its counts, its probe and its drain. Limiter and
// client-proxy have the same; they differ in the Decider behind it.
package front
