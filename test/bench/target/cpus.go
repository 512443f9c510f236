package target

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// TwoCPUs returns two cores that this process may use: one for the servers, one
// for itself.
func TwoCPUs() (servers, own int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0, 0, fmt.Errorf("ask for the cores: %w", err)
	}
	const most = 1024 // CPU_SETSIZE
	var found []int
	for cpu := 0; cpu < most && len(found) < 2; cpu++ {
		if set.IsSet(cpu) {
			found = append(found, cpu)
		}
	}
	if len(found) < 2 {
		return 0, 0, errors.New("there is one core: server and load need one each")
	}
	return found[0], found[1], nil
}

// Pin binds this process, with all its threads, to a core.
func Pin(cpu int) error {
	var only unix.CPUSet
	only.Set(cpu)
	for bound := map[string]bool{}; ; {
		// A thread that is started meanwhile may be a free one's child: look until
		// there is none that is new.
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("list the threads: %w", err)
		}
		fresh := 0
		for _, thread := range threads {
			if bound[thread.Name()] {
				continue
			}
			tid, err := strconv.Atoi(thread.Name())
			if err != nil {
				return fmt.Errorf("thread %q: %w", thread.Name(), err)
			}
			if err := unix.SchedSetaffinity(tid, &only); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("bind a thread to core %d: %w", cpu, err)
			}
			bound[thread.Name()] = true
			fresh++
		}
		if fresh == 0 {
			return nil
		}
	}
}
