package docs

import (
	"testing"

	"github.com/levee-project/levee/test/harness"
)

// packaged is why what is about packages is not run here.
const packaged = "is tried on machines of its own, in test/packages"

// renderVRRP is what people are told to fill in, filled in.
const renderVRRP = "leveectl keepalived render --interface eth0 --address 192.0.2.1 --peer 192.0.2.2 --rank 1 --vip 192.0.2.10/24"

// played is why what is about Ansible is not run here.
const played = "is tried on machines of its own, in test/ansible"

// TestReadme follows it with a limiter that is alone, and the quotas of the example.
func TestReadme(t *testing.T) {
	const build = "builds everything, and runs it or its tests: this test among them"
	const curl = "curl -i -X POST http://127.0.0.1:5454/attempt -H 'X-Resource: photos' -H 'X-Prefix: albums' -H 'X-Method: GET'"
	store := harness.NewFileStore(t, nil)
	store.Write(t, read(t, "configs/storage.yaml"))
	l := harness.StartLimiter(t, "--storage-addrs="+store.Addr())
	s := newSession(t, map[string]rule{
		"make run":                             {why: build},
		"make run-standalone":                  {why: build},
		"make test":                            {why: build},
		"make bench":                           {why: "takes ten minutes, and servers to compare with"},
		"make repo":                            {why: packaged},
		"ssh -L 8080:127.0.0.1:8080 obs-1":     {why: "needs another host; the console is tried in test/console"},
		curl:                                   {says: "HTTP/1.1 200 OK"},
		"make packages VERSION=0.1.0":          {why: packaged},
		"cd ansible":                           {why: played},
		"cp -r inventories/small my-site":      {why: played},
		"ansible-playbook -i my-site site.yml": {why: played},
		"apt install ./dist/packages/levee-limiter_0.1.0-1_amd64.deb": {why: packaged},
		"leveectl limit size --rps 6000 --group 4":                    {says: "6600"},
		"leveectl explain photos GET --prefix albums":                 {says: `"rate": 6600, "burst": 165}  <-- applies`},
		"leveectl attempt photos GET --prefix albums":                 {says: "accepted"},
		"leveectl check": {says: "0 errors"},
		"leveectl top":   {instead: "leveectl top --once --admin " + l.MetricsAddr, says: " photos "},

		"apt install levee-vrrp":            {why: packaged},
		"editor /etc/levee/vrrp.yaml":       {why: packaged},
		"systemctl enable --now levee-vrrp": {why: packaged},
		"leveectl keepalived render":        {instead: renderVRRP, says: "vrrp_instance"},
	}, store.Addr(), l.Addr, "127.0.0.1:5454", l.Addr, "/etc/levee/storage.yaml", store.Path)
	s.follow(extract(read(t, "README.md")))
	s.finish()
}
