// Package edit changes the shared tree, in etcd and in a storage file, for tools
// that operators use. The daemons only read it.
//
// A [Store] is read once, and then takes [Change]s, each of which says what was
// read and what is to be there. If anything else has been written meanwhile,
// nothing is, and the error matches [ErrConflict].
//
// In etcd, changes are one transaction as far as one can hold them, else several.
// A file is replaced as a whole, with the comments, the order and the lines that
// are not concerned as they were.
//
// [Render] is the tree as the text of a storage file in its canonical form.
package edit
