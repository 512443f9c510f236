// Package leveectl tests the built leveectl from outside, by transcripts: each
// script under testdata is a session of commands with what they print and exit
// with. Those in both run twice, on a file and on a real etcd; those in limiter
// and cluster have running daemons beside them.
//
// Beside the commands of testscript there are
//
//	exits CODE leveectl ARGS...   run it, and want this exit code
//	raw FILE                      make the store what the file says, as spelled there
//	waitfor FILE PATTERN          wait until a line of the file matches
package leveectl
