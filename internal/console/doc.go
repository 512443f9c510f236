// Package console is the web page that an operator looks at: who is there, what
// passes, which configuration is in force where, and who decides about a resource
// and why. It only reads.
//
// An observer serves it of its cluster, a standalone limiter of itself. While
// somebody watches, one collector asks the admin port of every member once a
// second (collect.go), and hands one picture to all viewers (viewers.go), as
// server-sent events. Nobody is asked while nobody watches.
//
// What is shown comes from clients, who choose the names of resources, and from
// other hosts: the page is a template that escapes, and the scripts put text into
// the document as text only. The policy of the page allows scripts and styles of
// its own, and nothing else (pages.go).
//
// The charts are drawn by uPlot (web/uplot.js, web/uplot.LICENSE), as its authors
// released it.
package console
