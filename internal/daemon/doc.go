// Package daemon is what all of Levee's daemons share: everything between the
// operating system and the first line that is the daemon's own. It knows no
// daemon and reads no configuration; values come in as arguments.
//
// The parts, each usable alone:
//
//   - [Main] turns an error into an exit code and lines on stderr.
//   - [Log] is the log: text, JSON or the systemd journal.
//   - [Listen] binds a TCP port, or takes it over from a systemd socket unit.
//   - [Health] says whether the process is ready, and whether it is alive.
//   - [NewRegistry] is the metrics registry, with what every process shows.
//   - [Run] ties them together, with signals, sd_notify and the watchdog, around
//     a setup function.
//
// # A life
//
// Setup starts one thing after the other and says at once how each ends:
// [Daemon.Go] starts a component that runs, [Daemon.OnStop] names a clean-up.
// Whatever was registered last ends first, so the order of the start, read
// backwards, is the order of the stop:
//
//	start                             stop
//	  bind the port                     drain: answer until nobody asks
//	  save the state  (OnStop)          leave the overlay
//	  serve           (Go)              stop the storage
//	  storage         (Go)              stop serving
//	  join            (Go)              save the state
//	  drain           (OnStop)
//	  READY=1
//
// A stop begins with the first SIGINT or SIGTERM, or with the first component
// that fails. It cannot hang: each step has a bound, and a step that exceeds it
// is named in the log and left behind. A second signal does not wait for any of
// it. SIGHUP calls the function given to [Daemon.OnReload], never twice at once.
package daemon
