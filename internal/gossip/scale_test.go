//go:build !race

package gossip

// scale is how many members a large cluster has.
const scale = 50
