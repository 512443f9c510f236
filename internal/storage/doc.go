// Package storage brings the shared configuration tree into the process and
// keeps it current. Nothing above it knows which store it comes from.
//
// [Open] chooses by address between an etcd cluster (package etcd) and one YAML
// file (package file). Both hand out the whole tree, raw, first when it is known
// and again at each change, and both wait for a source that is away for as long
// as it takes.
//
// A [Cache] is the last good tree on disk, and [WithCache] a store that starts
// from it when the real one does not answer.
package storage
