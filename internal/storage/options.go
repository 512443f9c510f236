package storage

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/levee-project/levee/internal/storage/etcd"
	"github.com/levee-project/levee/internal/storage/file"
)

// Options are the storage-* options of a daemon's configuration; the error
// messages call them by those names.
type Options struct {
	// Addrs (storage-addrs) are the client URLs of an etcd cluster, all http://
	// or all https://, or the one file:// URL of a YAML file.
	Addrs []string
	// Prefix (storage-prefix) is the root of the tree in etcd; /levee and
	// /levee/ are the same. A file has no root prefix.
	Prefix string
	// Username (storage-username) and the file with the password
	// (storage-password-file), for etcd with authentication.
	Username, PasswordFile string
	// CAFile, CertFile and KeyFile (storage-ca-file, storage-cert-file,
	// storage-key-file) are PEM files for https.
	CAFile, CertFile, KeyFile string
}

// Open returns the store that the options name. It checks them as [Validate]
// and [CheckFiles] do, and opens no connection: that the store is away is for
// Run to wait out.
func Open(o Options, log *slog.Logger) (Store, error) {
	if err := o.CheckFiles(); err != nil {
		return nil, err
	}
	source, err := parseAddrs(o.Addrs)
	if err != nil {
		return nil, err
	}
	if source.file == "" {
		return etcd.New(o.etcd(source), log), nil
	}
	path, err := filepath.Abs(source.file)
	if err != nil {
		return nil, fmt.Errorf("storage-addrs: %w", err)
	}
	return file.New(path, log), nil
}

// Etcd returns the settings of the etcd cluster that the options name, for
// tools that write to it; false when they name a file. The options must be
// valid.
func (o Options) Etcd() (etcd.Config, bool) {
	source, err := parseAddrs(o.Addrs)
	if err != nil || source.file != "" {
		return etcd.Config{}, false
	}
	return o.etcd(source), true
}

// File returns the path of the file that the options name; false when they name
// an etcd cluster. The options must be valid.
func (o Options) File() (string, bool) {
	source, err := parseAddrs(o.Addrs)
	return source.file, err == nil && source.file != ""
}

func (o Options) etcd(s source) etcd.Config {
	return etcd.Config{
		Endpoints: s.endpoints, Prefix: o.Prefix,
		Username: o.Username, PasswordFile: o.PasswordFile,
		CAFile: o.CAFile, CertFile: o.CertFile, KeyFile: o.KeyFile,
	}
}

// Validate reports everything that is wrong with the options themselves. It
// looks at no file and no host.
func (o Options) Validate() error {
	source, err := parseAddrs(o.Addrs)
	if err != nil {
		return err
	}
	var errs []error
	for _, opt := range []struct{ name, value string }{
		{"storage-username", o.Username},
		{"storage-password-file", o.PasswordFile},
		{"storage-ca-file", o.CAFile},
		{"storage-cert-file", o.CertFile},
		{"storage-key-file", o.KeyFile},
	} {
		if why := source.refuses(opt.name); opt.value != "" && why != "" {
			errs = append(errs, fmt.Errorf("%s: %q %s", opt.name, opt.value, why))
		}
	}
	errs = append(errs,
		together("storage-username", o.Username, "storage-password-file", o.PasswordFile),
		together("storage-cert-file", o.CertFile, "storage-key-file", o.KeyFile))
	if source.file == "" && o.Prefix == "" {
		errs = append(errs, errors.New(`storage-prefix: is empty; give the root of the tree, such as /levee`))
	}
	return errors.Join(errs...)
}

// together reports that only one of two options is given.
func together(a, va, b, vb string) error {
	switch {
	case va != "" && vb == "":
		return fmt.Errorf("%s: %q needs %s too", a, va, b)
	case va == "" && vb != "":
		return fmt.Errorf("%s: %q needs %s too", b, vb, a)
	}
	return nil
}

// CheckFiles is [Validate], and then reads the files that log in to etcd: it
// finds a password or a certificate that is missing or not one. The storage
// file is not looked at; it may come later.
func (o Options) CheckFiles() error {
	if err := o.Validate(); err != nil {
		return err
	}
	if conf, ok := o.Etcd(); ok {
		return conf.CheckFiles()
	}
	return nil
}
