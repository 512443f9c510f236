// Package config reads the local configuration of each daemon: what one process
// needs to know before it can join the others.
//
// Every option is defined once, by a call of define: its name, type, default,
// help line, and whether SIGHUP can apply it. Three sources are applied to these
// definitions, the later one over the earlier one:
//
//  1. the YAML file that --config (or LEVEE_CONFIG) names;
//  2. the environment, LEVEE_LISTEN_ADDR for listen-addr;
//  3. the command line, --listen-addr.
//
// A source is applied whole and strictly: an unknown name, a wrong type and a
// bad value are errors even where a later source would override them. All of
// them are collected (up to 100), so that one start shows every mistake. Combinations are
// judged last, and only when every single value was understood: with one of
// them unknown, a verdict would be a guess.
//
// All errors of a configuration match ErrInvalid. A daemon that gets one exits
// with code 78 (EX_CONFIG of sysexits.h), which tells systemd that a restart
// will not help.
//
// The words: an option is a name with a value, spelled as a key in a file, as a
// variable in the environment and as a flag on the command line; a source is
// one of these three; a combination is a rule about more than one option.
//
// # Adding an option
//
// Give the struct a field, and its define method a call with the name, the
// default, a kind that says what may be written, live or restart, and a help
// line with unit, default, cost and impossible combinations. File, environment,
// command line, --help, Render and Diff follow from that. Combinations belong in
// the combinations method.
package config
