package packages

import (
	"strings"
	"testing"
)

// What somebody has changed on the way is refused.
func TestTampered(t *testing.T) {
	tests := map[string]struct {
		script  string // in a copy of the repository
		refused string // what fails then
	}{
		"the index": {`rm -r dists/stable/main/binary-*/by-hash dists/stable/main/binary-*/Packages.*
			sed -i 's/^Version: .*/Version: 9.9.9/' dists/stable/main/binary-*/Packages`, "update"},
		"the signed list": {`sed -i 's/^Label: .*/Label: Other/' dists/stable/InRelease`, "update"},
		"the key": {`rm dists/stable/InRelease dists/stable/Release.gpg; export GNUPGHOME=$(mktemp -d)
			gpg --batch --quiet --passphrase '' --quick-generate-key other rsa2048 sign 1d
			gpg --batch --quiet --clearsign -o dists/stable/InRelease dists/stable/Release`, "update"},
		"no signature": {`rm dists/stable/InRelease dists/stable/Release.gpg`, "update"},
		"the package":  {`for deb in pool/levee-limiter_*; do printf x >>"$deb"; done`, "install"},
	}
	m := debHost(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m.Shell(t, "rm -rf /srv/tampered /var/lib/apt/lists/* && cp -r "+built("repo")+"/apt /srv/tampered && cd /srv/tampered && "+tt.script+
				"\nsed -i 's|^URIs: .*|URIs: file:/srv/tampered|' /etc/apt/sources.list.d/levee.sources")
			_, err := m.Try("apt-get", "update", "-qq", "-o", "APT::Update::Error-Mode=any")
			if tt.refused == "update" && err == nil {
				t.Error("apt-get update accepts it")
			}
			if tt.refused == "install" && err != nil {
				t.Errorf("apt-get update: %v", err)
			}
			if _, err := m.Try("apt-get", "install", "-y", "levee-limiter"); err == nil {
				t.Error("it can be installed")
			}
			if strings.Contains(m.Run(t, "dpkg", "-l"), "levee-limiter") {
				t.Error("it is installed")
			}
		})
	}
}
