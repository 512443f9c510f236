// Package ctl is the commands of leveectl, the operator's tool.
//
// Each command is a function that makes a cobra.Command; [Main] puts them
// together. What they have in common is the tool: options, store, and output in
// the form that was asked for.
//
// Everything that writes works the same way: read the tree, plan (plan.go), write
// with every change guarded by what was read. Entries are written under their
// canonical keys, and any other spelling of the same entry goes in the same
// step, so that no change leaves an ambiguity behind.
//
// Exit codes: 0, 1 for failures and findings, 2 for a wrong command line, 78 for
// a wrong configuration. Errors are one line that names the key, address or file
// and what to do.
package ctl
