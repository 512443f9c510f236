package storage

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	tests := []struct{ addrs, file, endpoints, wrong string }{
		{addrs: "http://127.0.0.1:2379", endpoints: "http://127.0.0.1:2379"},
		{addrs: "http://a:2379 http://b:2379/ http://a:2379", endpoints: "http://a:2379 http://b:2379"},
		{addrs: "https://[::1]:2379", endpoints: "https://[::1]:2379"},
		{addrs: "HTTPS://a:2379", endpoints: "https://a:2379"},
		{addrs: "file:///etc/levee/storage.yaml", file: "/etc/levee/storage.yaml"},
		{addrs: "file:/etc/levee/storage.yaml", file: "/etc/levee/storage.yaml"},
		{addrs: "file://localhost/etc/levee/storage.yaml", file: "/etc/levee/storage.yaml"},
		{addrs: "file:configs/storage.yaml", file: "configs/storage.yaml"},
		{addrs: "file:///a%20b/c%3Fd", file: "/a b/c?d"},

		{wrong: "storage-addrs: is empty; give etcd's client URLs"},
		{addrs: "127.0.0.1:2379", wrong: `storage-addrs: "127.0.0.1:2379" has no scheme; write http://127.0.0.1:2379 or`},
		{addrs: "localhost:2379", wrong: `"localhost:2379" has no scheme; write http://localhost:2379 or`},
		{addrs: "etcd1", wrong: `"etcd1" has no scheme`},
		{addrs: "/etc/levee/storage.yaml", wrong: `write file:///etc/levee/storage.yaml`},
		{addrs: "configs/storage.yaml", wrong: `write file:configs/storage.yaml`},
		{addrs: "etcd://a:2379", wrong: `"etcd://a:2379" has the unknown scheme etcd; known are http, https (etcd) and file`},
		{addrs: "http://a", wrong: `"http://a" has no port; etcd's is usually 2379: http://a:2379`},
		{addrs: "http://:2379", wrong: "names no host"},
		{addrs: "http://a:port", wrong: `"http://a:port" is not a URL: invalid port`},
		{addrs: "http://a:2379/levee", wrong: "storage-prefix"},
		{addrs: "http://u:secret@a:2379", wrong: `"http://u:xxxxx@a:2379" holds a user; use storage-username`},
		{addrs: "http://a:2379 https://b:2379", wrong: `"https://b:2379" is not of the same kind as "http://a:2379"`},
		{addrs: "http://a:2379 file:///x", wrong: `"file:///x" is not of the same kind`},
		{addrs: "file:///x file:///y", wrong: `"file:///y" is a second file`},
		{addrs: "file://etc/levee.yaml", wrong: "names a host, etc; write file:///etc/levee.yaml for an absolute path, file:etc/levee.yaml"},
		{addrs: "file:///x?y", wrong: "write them as %3F and %23"},
		{addrs: "file:", wrong: "names no file"},
		{addrs: "file:///etc/levee/", wrong: "names no file"},
	}
	for _, tt := range tests {
		t.Run(tt.addrs, func(t *testing.T) {
			o := Options{Addrs: strings.Fields(tt.addrs), Prefix: "/levee"}
			err := o.Validate()
			if tt.wrong != "" {
				if err == nil || !strings.HasPrefix(err.Error(), "storage-addrs: ") || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("the error is %v, want %q", err, tt.wrong)
				}
				if _, err := Open(o, slog.New(slog.DiscardHandler)); err == nil {
					t.Error("Open accepts it")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			conf, isEtcd := o.Etcd()
			path, isFile := o.File()
			if isEtcd == isFile || path != tt.file || strings.Join(conf.Endpoints, " ") != tt.endpoints {
				t.Errorf("file %q %v, endpoints %q %v", path, isFile, conf.Endpoints, isEtcd)
			}
			if store, err := Open(o, slog.New(slog.DiscardHandler)); err != nil || store == nil {
				t.Errorf("Open: %v, %v", store, err)
			}
		})
	}
	if err := (Options{Addrs: []string{""}}).Validate(); err == nil || !strings.Contains(err.Error(), `storage-addrs: "" is empty`) {
		t.Errorf("an empty address: %v", err)
	}
}

func TestCombinations(t *testing.T) {
	http, https, file := []string{"http://a:2379"}, []string{"https://a:2379"}, []string{"file:///x.yaml"}
	tests := []struct {
		name  string
		o     Options
		wrong []string
	}{
		{"a login", Options{Addrs: http, Prefix: "/l", Username: "u", PasswordFile: "/p"}, nil},
		{"everything", Options{Addrs: https, Prefix: "/l", Username: "u", PasswordFile: "/p", CAFile: "/c", CertFile: "/d", KeyFile: "/k"}, nil},
		{"a file needs no prefix", Options{Addrs: file}, nil},
		{"no prefix", Options{Addrs: http}, []string{"storage-prefix: is empty"}},
		{"half a login", Options{Addrs: http, Prefix: "/l", Username: "u"}, []string{`storage-username: "u" needs storage-password-file too`}},
		{"half a login", Options{Addrs: http, Prefix: "/l", PasswordFile: "/p"}, []string{`storage-password-file: "/p" needs storage-username too`}},
		{"half a certificate", Options{Addrs: https, Prefix: "/l", CertFile: "/c"}, []string{`storage-cert-file: "/c" needs storage-key-file too`}},
		{
			"certificates without TLS",
			Options{Addrs: http, Prefix: "/l", CAFile: "/c", CertFile: "/d", KeyFile: "/k"},
			[]string{`storage-ca-file: "/c" needs https://`, `storage-cert-file: "/d" needs https://`, `storage-key-file: "/k" needs https://`},
		},
		{
			"a login to a file",
			Options{Addrs: file, Username: "u", PasswordFile: "/p", CAFile: "/c"},
			[]string{`storage-username: "u" has no meaning for a storage file`, `storage-password-file: "/p" has`, `storage-ca-file: "/c" has`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.o.Validate()
			if len(tt.wrong) == 0 && err != nil {
				t.Fatal(err)
			}
			for _, wrong := range tt.wrong {
				if err == nil || !strings.Contains(err.Error(), wrong) {
					t.Errorf("the error is %v, want %q in it", err, wrong)
				}
			}
		})
	}
}

func TestFilesOfALogin(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	password, empty, noPEM := file("password", "secret\n"), file("empty", "\n"), file("no.pem", "hello")
	tests := []struct {
		name  string
		o     Options
		wrong string
	}{
		{"a password", Options{Username: "u", PasswordFile: password}, ""},
		{"an empty password", Options{Username: "u", PasswordFile: empty}, "storage-password-file: " + empty + " is empty"},
		{"no password", Options{Username: "u", PasswordFile: dir + "/none"}, "storage-password-file: open " + dir + "/none: no such file"},
		{"no authority", Options{CAFile: dir + "/none"}, "storage-ca-file: open " + dir + "/none: no such file"},
		{"not an authority", Options{CAFile: noPEM}, "storage-ca-file: no PEM certificate in " + noPEM},
		{"not a certificate", Options{CertFile: noPEM, KeyFile: noPEM}, "storage-cert-file " + noPEM + ", storage-key-file " + noPEM + ": tls: failed to find any PEM"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Addrs, tt.o.Prefix = []string{"https://a:2379"}, "/levee"
			for _, err := range []error{tt.o.CheckFiles(), openError(tt.o)} {
				if tt.wrong == "" && err != nil || tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
					t.Errorf("the error is %v, want %q in it", err, tt.wrong)
				}
			}
		})
	}
}

func openError(o Options) error {
	_, err := Open(o, slog.New(slog.DiscardHandler))
	return err
}
