package target

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// CPU is what the server has used so far, with all its processes and threads.
func (s *Server) CPU() (time.Duration, error) {
	family, err := s.proc.family()
	if err != nil {
		return 0, err
	}
	sum := time.Duration(0)
	for _, pid := range family {
		used, err := cpuOf(pid)
		if err != nil {
			return 0, fmt.Errorf("CPU time of %s: %w", s.Name, err)
		}
		sum += used
	}
	return sum, nil
}

// RSS is the memory that the server's processes hold now, in octets.
func (s *Server) RSS() (int64, error) {
	family, err := s.proc.family()
	if err != nil {
		return 0, err
	}
	sum := int64(0)
	for _, pid := range family {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return 0, fmt.Errorf("memory of %s: %w", s.Name, err)
		}
		rss, err := rssOf(string(text))
		if err != nil {
			return 0, fmt.Errorf("memory of %s: %w", s.Name, err)
		}
		sum += rss
	}
	return sum, nil
}

// family is the process and those that it has started, and they.
func (p *process) family() ([]int, error) {
	family := []int{p.cmd.Process.Pid}
	for i := 0; i < len(family); i++ {
		// Of each thread, since any of them may have started some.
		lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", family[i]))
		if err != nil || len(lists) == 0 {
			return nil, fmt.Errorf("process %d has ended\n%s", family[i], p.tail())
		}
		for _, list := range lists {
			text, err := os.ReadFile(list)
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // the thread may have ended
				return nil, err
			}
			for _, field := range strings.Fields(string(text)) {
				pid, err := strconv.Atoi(field)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", list, err)
				}
				family = append(family, pid)
			}
		}
	}
	return family, nil
}

// cpuOf sums up the threads' times in nanoseconds where the kernel has them;
// otherwise it takes the process's in ticks.
func cpuOf(pid int) (time.Duration, error) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0, err
	}
	sum := time.Duration(0)
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the thread has ended
		}
		if err != nil {
			return 0, err
		}
		used, err := schedstat(text)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", list, err)
		}
		sum += used
	}
	if sum > 0 {
		return sum, nil
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return ticks(text)
}

// schedstat reads the time on a core from /proc/.../schedstat: the first number,
// in nanoseconds.
func schedstat(text []byte) (time.Duration, error) {
	first, _, _ := bytes.Cut(text, []byte(" "))
	n, err := strconv.ParseInt(string(first), 10, 64)
	return time.Duration(n), err
}

// ticks reads utime and stime, fields 14 and 15 of /proc/.../stat, in hundredths
// of a second whatever the kernel's own tick is (USER_HZ).
func ticks(text []byte) (time.Duration, error) {
	behindName := bytes.LastIndexByte(text, ')') // field 2, which may hold anything
	fields := strings.Fields(string(text[behindName+1:]))
	const utime, stime = 14 - 3, 15 - 3
	if len(fields) <= stime {
		return 0, fmt.Errorf("stat is cut short: %q", text)
	}
	sum := time.Duration(0)
	for _, field := range []string{fields[utime], fields[stime]} {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("stat: %w", err)
		}
		sum += time.Duration(n) * 10 * time.Millisecond
	}
	return sum, nil
}

// rssOf reads VmRSS from /proc/.../status. A process that is ending has none.
func rssOf(status string) (int64, error) {
	for line := range strings.Lines(status) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			return kb << 10, err
		}
	}
	return 0, errors.New("status has no VmRSS")
}
