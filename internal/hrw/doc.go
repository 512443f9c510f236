// Package hrw ranks members for a key by highest random weight (rendezvous
// hashing; Thaler and Ravishankar, 1998): every member gets a score for the key,
// and the highest scores win. Who joins or leaves changes only the keys that
// it wins or has won.
//
// All parties of a cluster must come to the same ranks, also while different
// versions of the software run together. So the scores are a promise: integers
// only, and golden vectors in the tests that never change.
package hrw
