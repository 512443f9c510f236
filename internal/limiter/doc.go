// Package limiter is the daemon that decides. It puts the key table, the quotas
// and the way attempts come in together, and keeps them current.
//
// What happens to an attempt is in decider.go; how a changed quota gets there is
// the business of package inforce; the order in which everything starts and stops is in
// limiter.go.
package limiter
