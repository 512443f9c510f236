// Package metrics tests what Levee shows of itself with those who look at it: a real
// Prometheus that scrapes a whole cluster, with the alerts and the dashboard of
// configs/, and a real carbon that metrics are pushed to. It also counts: what
// clients were told against what the daemons say they did.
package metrics
