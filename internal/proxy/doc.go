// Package proxy is the daemon that clients ask in a cluster. It decides nothing
// itself: it deals the attempts of each bucket over the limiters of its group,
// asks the next one when one does not answer, and hands the answer on.
//
// # The way of an attempt
//
//	decider.go    which quota, which bucket, whose turn; what the answer becomes
//	deal.go       whose turn it is: one counter for each bucket
//	routes.go     who is in the group of a resource, and who stands in
//	pick.go       who gets a turn when the one that is dealt it cannot
//	call.go       one attempt on its way: retries, spill, the last word
//	waiting.go    attempts that nobody can take right now
//	upstream.go   one limiter: up, down, coming back
//	fleet.go      the connections to all limiters, from one topology to the next
//
// The order in which everything starts and stops is in proxy.go, what becomes of
// a lost observer in observers.go.
package proxy
