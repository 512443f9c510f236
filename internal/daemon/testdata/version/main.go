// Command version prints what it was built from. A test builds it as a release
// is built.
package main

import (
	"fmt"

	"github.com/levee-project/levee/internal/daemon"
)

func main() { fmt.Println(daemon.Version()) }
