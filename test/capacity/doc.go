// Package capacity measures levee-limiter on a machine that does nothing else:
// its tests run one after another (-p 1 -parallel 1), and not under the race
// detector.
package capacity
