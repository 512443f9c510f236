// Package docs runs the commands that the documents tell people to type, so that
// they cannot rot: those in README.md and OPERATIONS.md, in blocks and in lines, and
// the examples of the manual pages.
//
// extract_test.go finds them, session_test.go runs them in an environment that
// resembles the one they are meant for, and each test has rules for those that need
// one: what stands for a placeholder, what a command is expected to end with, or why
// it cannot be run here. A rule that no document needs any more fails the test.
package docs
