// Package inforce follows the shared configuration for a daemon: it opens the
// store, compiles what it hands out, and gives the daemon each new configuration
// whole. What is invalid never gets past it.
//
// It is what the three daemons have in common about the shared tree, together
// with the metrics, the log lines and the words on /readyz that go with it.
package inforce
