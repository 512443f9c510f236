// Package file is the store of one host: the shared tree as one YAML file that
// a person can read and change.
//
// The file is the tree without its root prefix. A mapping key is a part of the
// path, and nested keys are joined with a slash, unchanged:
//
//	limit:
//	  key_default: {rate: 100, burst: 10}        # limit/key_default
//	  key:
//	    photos:
//	      quota: {rate: 50, burst: 5}            # limit/key/photos/quota
//	      sublimit:
//	        albums/GET: {rate: 10, burst: 1}     # limit/key/photos/sublimit/albums/GET
//	        videos: {GET: {rate: 2, burst: 1}}   # limit/key/photos/sublimit/videos/GET
//	factor: {default: 2}                         # factor/default
//
// The store gives no entry a meaning, but it must know where a mapping stops to
// be a path and starts to be a value (a quota, an observer): see place.go. A
// mistake at such a place becomes a value that the owner of the entry rejects,
// so that it is seen. Nothing in the file is silently dropped.
//
// A file that is not YAML, or says the same thing twice, is no tree at all: the
// last one stays in force and the status says line and reason.
package file
