// Levee-dev runs a whole cluster on this machine, for a developer.
package main

import (
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/dev"
)

func main() { daemon.Main("levee-dev", dev.Main) }
