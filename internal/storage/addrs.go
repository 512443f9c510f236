package storage

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// source is what storage-addrs names: a file, or the endpoints of a cluster.
type source struct {
	file      string   // path, empty for a cluster
	endpoints []string // scheme://host:port each
	secure    bool     // https
}

// refuses says why an option has no place with this source, "" if it has one.
func (s source) refuses(option string) string {
	login := option == "storage-username" || option == "storage-password-file"
	switch {
	case s.file != "":
		return "has no meaning for a storage file"
	case !s.secure && !login:
		return "needs https:// in storage-addrs"
	}
	return ""
}

// parseAddrs reads storage-addrs. Its errors name the option and the address.
func parseAddrs(addrs []string) (source, error) {
	if len(addrs) == 0 {
		return source{}, errors.New("storage-addrs: is empty; give etcd's client URLs (http://10.0.0.1:2379), or one file (file:///etc/levee/storage.yaml)")
	}
	var s source
	kinds := map[string]bool{}
	for _, addr := range addrs {
		kind, where, err := parseAddr(addr)
		if err != nil {
			return source{}, fmt.Errorf("storage-addrs: %q %w", withoutSecret(addr), err)
		}
		kinds[kind] = true
		switch {
		case len(kinds) > 1:
			return source{}, fmt.Errorf("storage-addrs: %q is not of the same kind as %q; give all http://, all https://, or one file://", addr, addrs[0])
		case kind == "file" && s.file != "":
			return source{}, fmt.Errorf("storage-addrs: %q is a second file; give one", addr)
		case kind == "file":
			s.file = where
		case !slices.Contains(s.endpoints, where):
			s.endpoints, s.secure = append(s.endpoints, where), kind == "https"
		}
	}
	return s, nil
}

// withoutSecret is the address as a message may show it.
func withoutSecret(addr string) string {
	if u, err := url.Parse(addr); err == nil && u.User != nil {
		return u.Redacted()
	}
	return addr
}

// parseAddr returns the scheme of one address, and its path or endpoint.
func parseAddr(addr string) (kind, where string, err error) {
	scheme, rest, ok := strings.Cut(addr, ":")
	scheme = strings.ToLower(scheme)
	switch {
	case ok && scheme == "file":
		where, err = parseFile(addr, rest)
		return scheme, where, err
	case ok && strings.HasPrefix(rest, "//") && (scheme == "http" || scheme == "https"):
		where, err = parseEndpoint(addr)
		return scheme, where, err
	case ok && strings.HasPrefix(rest, "//"):
		return "", "", fmt.Errorf("has the unknown scheme %s; known are http, https (etcd) and file", scheme)
	case strings.HasPrefix(addr, "/"):
		return "", "", fmt.Errorf("has no scheme; write file://%s for a file", addr)
	case strings.HasSuffix(addr, ".yaml"), strings.HasSuffix(addr, ".yml"):
		return "", "", fmt.Errorf("has no scheme; write file:%s for a file", addr)
	case addr == "":
		return "", "", errors.New("is empty; write http://10.0.0.1:2379 for etcd, or file:///etc/levee/storage.yaml for a file")
	}
	return "", "", fmt.Errorf("has no scheme; write http://%s or https://%s for etcd", addr, addr)
}

// parseFile takes file:///path, file:/path and the relative file:path.
func parseFile(addr, rest string) (string, error) {
	u, err := url.Parse(addr)
	if err != nil {
		return "", fmt.Errorf("is not a URL: %w", errors.Unwrap(err))
	}
	path := u.Path
	if u.Opaque != "" {
		if path, err = url.PathUnescape(u.Opaque); err != nil {
			return "", fmt.Errorf("is not a URL: %w", err)
		}
	}
	switch {
	case u.Host != "" && u.Host != "localhost":
		hint := strings.TrimPrefix(rest, "//")
		return "", fmt.Errorf("names a host, %s; write file:///%s for an absolute path, file:%s for a relative one", u.Host, hint, hint)
	case u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("has ? or # in the path; write them as %3F and %23")
	case path == "" || strings.HasSuffix(path, "/"):
		return "", errors.New("names no file; write it like file:///etc/levee/storage.yaml")
	}
	return path, nil
}

func parseEndpoint(addr string) (string, error) {
	u, err := url.Parse(addr)
	if err != nil {
		return "", fmt.Errorf("is not a URL: %w", errors.Unwrap(err))
	}
	switch {
	case u.User != nil:
		return "", errors.New("holds a user; use storage-username and storage-password-file")
	case u.Hostname() == "":
		return "", errors.New("names no host")
	case u.Port() == "":
		return "", fmt.Errorf("has no port; etcd's is usually 2379: %s://%s:2379", u.Scheme, u.Host)
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("has something after the port; the tree's root is storage-prefix")
	}
	return u.Scheme + "://" + u.Host, nil
}
