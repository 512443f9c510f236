// Levee-observer is where members of a cluster find each other, and where
// client-proxies learn which limiters there are.
package main

import (
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/observer"
)

func main() { daemon.Main("levee-observer", observer.Main) }
