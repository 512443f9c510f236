// Leveectl is the operator's tool: quotas, factors, observers, and questions to
// a running Levee.
package main

import (
	"github.com/levee-project/levee/internal/ctl"
	"github.com/levee-project/levee/internal/daemon"
)

func main() { daemon.Main("leveectl", ctl.Main) }
