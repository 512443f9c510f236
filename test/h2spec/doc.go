// Package h2spec runs the conformance tests of github.com/summerwind/h2spec
// against the attempt interface.
package h2spec
