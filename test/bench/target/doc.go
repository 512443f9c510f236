// Package target runs the servers that are compared, each alone on a core of its
// own, and reads from /proc what they use.
//
// All limit the same way: a bucket for each key, none of which the load can
// empty, so that every answer is that of an attempt that passes. That they do
// limit is proved when they start, on a key that is empty soon.
//
// A server ends with [Server.Stop], and with this process however that ends.
package target
