// Levee-limiter answers POST /attempt: may this request pass now?
package main

import (
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/limiter"
)

func main() { daemon.Main("levee-limiter", limiter.Main) }
