// Levee-client-proxy answers POST /attempt in a cluster: it asks the limiters of
// the resource's group.
package main

import (
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/proxy"
)

func main() { daemon.Main("levee-client-proxy", proxy.Main) }
