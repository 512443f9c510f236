//go:build race

package gossip

// scale is how many members a large cluster has. The race detector makes each of
// them cost twenty times as much, so that fifty in one process starve.
const scale = 15
