// Package manual writes the manual pages of all programs, from the definitions that
// --help is made of: those of the commands of leveectl, and those of the options.
//
//	leveectl(1)             and a page for each of its commands: commands.go
//	levee-limiter(8) etc.   a page for each daemon: daemons.go
//	levee.yaml(5)           every option of every program: options.go
//	levee-storage(5)        the shared configuration: storage.go
//
// roff.go is the little of the man macros (man(7), groff_man(7)) that they need.
package manual
