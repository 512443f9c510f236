package config

import (
	"net/url"
	"strings"
)

// Storage is where the shared configuration is: etcd, or one file.
type Storage struct {
	// Prefix is the root of the tree in etcd, with a slash before it and none
	// after it.
	Prefix string
	// Addrs is the endpoints, never empty: all http://, all https://, or one
	// file:///path.
	Addrs []string
	// Username and PasswordFile are both set or both empty.
	Username, PasswordFile string
	// CAFile verifies the servers; empty means the system's authorities.
	CAFile string
	// CertFile and KeyFile are the client's certificate, both set or both empty.
	CertFile, KeyFile string
	// CacheFile keeps the last good tree; empty means none.
	CacheFile string
}

const fileScheme = "file"

// File returns the path of the file that is the store, or "" when etcd is.
func (st *Storage) File() string {
	if len(st.Addrs) == 0 || scheme(st.Addrs[0]) != fileScheme {
		return ""
	}
	u, err := url.Parse(st.Addrs[0])
	if err != nil {
		return ""
	}
	return u.Path
}

func scheme(addr string) string {
	name, _, _ := strings.Cut(addr, "://")
	return name
}

func (st *Storage) define(s *set) {
	st.defineAccess(s)
	define(s, "storage-cache", &st.CacheFile, "", path(), restart,
		"File that keeps the last good tree, to start from while etcd is away. Empty = off: such a start waits "+
			"for etcd. Costs one write per change. A file store does not need it.")
}

// defineAccess binds what it takes to read and write the store.
func (st *Storage) defineAccess(s *set) {
	s.group("Shared configuration")
	define(s, "storage-prefix", &st.Prefix, "/levee", treeRoot(), restart,
		"Root of the shared configuration in etcd. A file store has no root.")
	defineList(s, "storage-addrs", &st.Addrs, endpoint(), restart,
		"Required. Endpoints of etcd, such as http://127.0.0.1:2379, or one file, such as "+
			"file:///etc/levee/storage.yaml. Impossible: http, https and file mixed; a file without standalone.")
	define(s, "storage-username", &st.Username, "", text(), restart,
		"User for etcd. Empty = no authentication. Impossible without storage-password-file, or with a file store.")
	define(s, "storage-password-file", &st.PasswordFile, "", path(), restart,
		"File with the password for etcd. Impossible without storage-username.")
	define(s, "storage-ca-file", &st.CAFile, "", path(), restart,
		"PEM file with the authorities that vouch for etcd. Empty = those of the system. "+
			"Impossible unless storage-addrs are https.")
	define(s, "storage-cert-file", &st.CertFile, "", path(), restart,
		"PEM file with the client certificate for etcd. Impossible without storage-key-file, or unless "+
			"storage-addrs are https.")
	define(s, "storage-key-file", &st.KeyFile, "", path(), restart,
		"PEM file with the key of the client certificate. Impossible without storage-cert-file.")
}

// treeRoot is a path in etcd.
func treeRoot() kind[string] {
	return words("PATH", "a path such as /levee, without a slash at its end", func(s string) bool {
		below, ok := strings.CutPrefix(s, "/")
		return ok && printable(s) && !emptyPart(below, "/")
	})
}

// emptyPart reports whether one of the parts of s that sep separates is empty.
func emptyPart(s, sep string) bool {
	return strings.Contains(sep+s+sep, sep+sep)
}

// combinations reports impossible combinations. whyNoFile explains why this
// daemon cannot use a file store; empty means that it can.
func (st *Storage) combinations(s *set, whyNoFile string) {
	if len(st.Addrs) == 0 {
		s.fault("storage-addrs", "no store is named; write the endpoints of etcd, such as http://127.0.0.1:2379, "+
			"or for a standalone limiter a file, such as file:///etc/levee/storage.yaml")
		return
	}
	st.schemes(s, whyNoFile)
	pairs := [][2]option{
		{{"storage-username", st.Username}, {"storage-password-file", st.PasswordFile}},
		{{"storage-cert-file", st.CertFile}, {"storage-key-file", st.KeyFile}},
	}
	for _, p := range pairs {
		if p[0].value != "" && p[1].value == "" {
			s.fault(p[0].name, "impossible without %s", p[1].name)
		}
		if p[0].value == "" && p[1].value != "" {
			s.fault(p[1].name, "impossible without %s", p[0].name)
		}
	}
}

// schemes reports endpoints that do not go together, or not with the rest.
func (st *Storage) schemes(s *set, whyNoFile string) {
	first := scheme(st.Addrs[0])
	for _, a := range st.Addrs[1:] {
		if scheme(a) != first {
			s.fault("storage-addrs", "%s:// and %s:// cannot be mixed", first, scheme(a))
			return
		}
	}
	if first == fileScheme && len(st.Addrs) > 1 {
		s.fault("storage-addrs", "found %d files, expected one", len(st.Addrs))
	}
	if first == fileScheme && whyNoFile != "" {
		s.fault("storage-addrs", "%s", whyNoFile)
	}
	if first != "https" {
		refuse(s, "is for https, but storage-addrs are "+first+"://",
			option{"storage-ca-file", st.CAFile}, option{"storage-cert-file", st.CertFile})
	}
	if first == fileScheme {
		refuse(s, "is for etcd, but storage-addrs is a file", option{"storage-username", st.Username})
	}
}

// option is an option that is text, with its value.
type option struct{ name, value string }

// refuse reports those of the options that are set.
func refuse(s *set, why string, options ...option) {
	for _, o := range options {
		if o.value != "" {
			s.fault(o.name, "%s", why)
		}
	}
}
