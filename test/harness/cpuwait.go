package harness

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// CPUWait is for how long, since the machine's start, anything that could run was
// left waiting: a lower bound that is missed while that goes on all the time says
// little. It is 0 where the kernel does not count it.
func CPUWait() time.Duration {
	text, err := os.ReadFile("/proc/pressure/cpu")
	if err != nil {
		return 0
	}
	_, total, _ := strings.Cut(string(text), "total=")
	total, _, _ = strings.Cut(total, "\n")
	n, err := strconv.ParseInt(total, 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Microsecond
}
