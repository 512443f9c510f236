// Package graphite pushes metrics to a Graphite collector: it polls a Prometheus
// registry and sends what it finds in carbon's plaintext protocol, a line a
// series, over TCP or UDP.
//
//	PREFIX.NAME;TAG=VALUE;TAG=VALUE NUMBER SECONDS
//
// # What becomes of a metric
//
//   - Labels are tags. Two more, job and instance, say who pushes, as Prometheus
//     adds them to what it scrapes; a label of the same name becomes
//     exported_job and so on, and name, which Graphite keeps for itself,
//     exported_name. A label without a value is left out: that is what it means.
//   - A histogram is NAME_bucket;le=..., cumulative, NAME_sum and NAME_count. One
//     that has native buckets only is folded to powers of two, so that its series
//     stay the same when its resolution changes.
//   - A summary is NAME;quantile=..., NAME_sum and NAME_count.
//   - What carbon or a query would take for something else is replaced by _.
//   - NaN and the infinities have no place in Graphite: they are left out, and
//     counted.
//
// # What happens when the collector does not
//
// Nothing here is on the way of an attempt. What was polled waits in a queue, of
// which the oldest poll is dropped when it is full; over TCP nothing leaves it
// before the collector's host has acknowledged it, and what was under way when a
// connection broke is sent again whole, which changes nothing: a series has one
// value at a time. Over UDP nobody knows what arrives. At the stop the registry
// is polled once more, and what waits is sent, the newest first, for as long as
// flushTime.
//
//	bridge.go   the rounds: poll, queue, the end
//	deliver.go  a poll to the collector, whatever it takes
//	queue.go    polls that wait
//	lines.go    a poll as lines
//	safe.go     names and tag values
//	native.go   native histograms as buckets
//	link.go     a connection to the collector; tcp.go, udp.go
package graphite
