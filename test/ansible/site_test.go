package ansible

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/levee-project/levee/test/lab"
)

// vars are variables of Ansible.
type vars map[string]any

// host is a host of an inventory.
type host struct {
	name, addr string
	groups     []string
	vars       vars
}

// site is machines, and what an operator says about them.
type site struct {
	hosts []host
	// vars are of all hosts.
	vars vars
	// scarce is the bucket that is asked for more than its quota.
	scarce   bucket
	machines map[string]*lab.Machine
}

// newSite boots the machines of the suite. Three run etcd, an observer and a limiter
// each, a fourth is spare, two run a client-proxy each, and two are limiters that
// share a virtual address.
func newSite(t *testing.T) *site {
	t.Helper()
	serveRepo(t)
	s := &site{scarce: scarce(), machines: map[string]*lab.Machine{}, vars: vars{
		"ansible_user": "root", "ansible_ssh_private_key_file": built("key"), "ansible_python_interpreter": "/usr/bin/python3",
		"levee_repo_url": repoURL, "levee_repo_key_file": built("repo/levee.asc"), "levee_version": oldVersion,
		"levee_etcd_binaries_dir": built("etcd"),
		"levee_limits":            limits(scarce(), plenty(), shared()),
		"levee_vip_addresses":     []string{vip + "/16"},
		// So long that a busy machine takes no part of it.
		"levee_client_proxy_options": vars{"attempt-timeout": "500ms"},
	}}
	for i, name := range []string{"node1", "node2", "node3"} {
		s.add(name, 11+i, "levee_etcd", "levee_observers", "levee_limiters")
	}
	s.add("proxy1", 21, "levee_client_proxies")
	s.add("proxy2", 22, "levee_client_proxies")
	s.add("pair1", 31, "levee_standalone", "levee_vip")
	s.add("pair2", 32, "levee_standalone", "levee_vip")
	for _, h := range append(s.hosts, spare) {
		s.machines[h.name] = newMachine(t, h.name, h.addr)
	}
	return s
}

// spare is a machine that is no host of the inventory at first.
var spare = host{name: "node4", addr: address(14), groups: []string{"levee_limiters"}}

func address(n int) string { return fmt.Sprintf("10.77.0.%d", n) }

func (s *site) add(name string, n int, groups ...string) {
	s.hosts = append(s.hosts, host{name: name, addr: address(n), groups: groups})
}

// with is another description of the same machines.
func (s *site) with(more vars, change func([]host) []host) *site {
	other := *s
	other.vars = maps.Clone(s.vars)
	maps.Copy(other.vars, more)
	if change != nil {
		other.hosts = change(slices.Clone(s.hosts))
	}
	return &other
}

// write writes the inventory.
func (s *site) write(t testing.TB) (path string) {
	t.Helper()
	type group struct {
		Hosts map[string]vars `yaml:"hosts"`
	}
	children := map[string]group{}
	for _, h := range s.hosts {
		v := vars{"ansible_host": h.addr}
		maps.Copy(v, h.vars)
		for _, name := range h.groups {
			if children[name].Hosts == nil {
				children[name] = group{map[string]vars{}}
			}
			children[name].Hosts[h.name] = v
		}
	}
	text, err := yaml.Marshal(vars{"all": vars{"children": vars{"levee": vars{"vars": s.vars, "children": children}}}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.CreateTemp(lab.Work(), "inventory-*.yml")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(text); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// print of a disk: each file with its time and size, but for those that change by
// themselves.
func (s *site) print(t testing.TB) map[string]string {
	t.Helper()
	prints := map[string]string{}
	for name, m := range s.machines {
		prints[name] = m.Shell(t, `find / -xdev \( -path /proc -o -path /sys -o -path /run -o -path /tmp -o -path /var/tmp -o -path /var/log \
			-o -path /var/lib/systemd -o -path /var/lib/levee -o -path /var/lib/levee-etcd -o -path /root \) -prune \
			-o -type f -printf '%p %T@ %s\n' | sort`)
	}
	return prints
}

// wantPrint fails the test if a machine's disk is not as it was.
func (s *site) wantPrint(t testing.TB, before map[string]string) {
	t.Helper()
	for name, now := range s.print(t) {
		if now != before[name] {
			t.Errorf("%s is not as it was: %s", name, difference(before[name], now))
		}
	}
}

// in are the hosts of a group.
func (s *site) in(group string) (hosts []host) {
	for _, h := range s.hosts {
		if slices.Contains(h.groups, group) {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// difference is the lines that only one of two texts has, the first ones.
func difference(before, after string) string {
	const most = 10
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	var lines []string
	for _, l := range old {
		if _, found := slices.BinarySearch(now, l); !found {
			lines = append(lines, "-"+l)
		}
	}
	for _, l := range now {
		if _, found := slices.BinarySearch(old, l); !found {
			lines = append(lines, "+"+l)
		}
	}
	return strings.Join(lines[:min(most, len(lines))], "\n")
}
