// Package instructions counts the processor's instructions for a request's way
// through the engine, and compares them with the numbers that are committed.
// Unlike a time, such a count is the same on a busy machine.
package instructions
