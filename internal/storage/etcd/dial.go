package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// How long a connection without a sign of life is believed in. etcd takes
// pings that come faster than every 5 s for an attack.
const (
	keepAliveTime    = 10 * time.Second
	keepAliveTimeout = 3 * time.Second
)

// Dial returns a client of the cluster, logged in if there is a user. It reads
// the password and certificate files. Without a user it does not wait for a
// connection. The client ends with ctx; the caller closes it.
func (c Config) Dial(ctx context.Context) (*clientv3.Client, error) {
	c = c.withDefaults()
	secrets, err := c.load()
	if err != nil {
		return nil, err
	}
	client, err := clientv3.New(clientv3.Config{
		Context:              ctx,
		Endpoints:            c.Endpoints,
		Username:             c.Username,
		Password:             secrets.password,
		TLS:                  secrets.tls,
		DialTimeout:          c.Timeout,
		DialKeepAliveTime:    keepAliveTime,
		DialKeepAliveTimeout: keepAliveTimeout,
		// A request that found a member gone is tried on the others, and on no
		// more: what to do while etcd is away is decided in one place, Run.
		MaxUnaryRetries:    uint(len(c.Endpoints) + 1),
		BackoffWaitBetween: 50 * time.Millisecond,
		Logger:             zap.NewNop(),
		DialOptions: []grpc.DialOption{
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
				MinConnectTimeout: c.Timeout,
			}),
			grpc.WithChainUnaryInterceptor(failFast),
		},
	})
	if err != nil && c.Username != "" {
		return nil, fmt.Errorf("log in as %q: %w", c.Username, reason(err))
	}
	return client, err
}

// failFast makes a request fail with the reason when no member can be reached.
// The client's own default is to wait until the deadline has passed, which says
// nothing to the operator.
func failFast(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return call(ctx, method, req, reply, cc, append(opts, grpc.WaitForReady(false))...)
}

// reason is an error without what gRPC wraps around the words that matter.
func reason(err error) error {
	if s, ok := status.FromError(err); ok && s.Code() == codes.Unavailable {
		return errors.New(s.Message())
	}
	return err
}

// CheckFiles reads the password and certificate files and reports the first
// that cannot be used. It opens no connection.
func (c Config) CheckFiles() error {
	_, err := c.load()
	return err
}

type secrets struct {
	password string
	tls      *tls.Config // nil without https
}

func (c Config) load() (s secrets, err error) {
	if c.PasswordFile != "" {
		if s.password, err = password(c.PasswordFile); err != nil {
			return secrets{}, err
		}
	}
	if len(c.Endpoints) > 0 && strings.HasPrefix(c.Endpoints[0], "https://") {
		if s.tls, err = c.tlsConfig(); err != nil {
			return secrets{}, err
		}
	}
	return s, nil
}

// password reads the secret; the newline that editors leave at the end is not
// part of it.
func password(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("storage-password-file: %w", err)
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if secret == "" {
		return "", fmt.Errorf("storage-password-file: %s is empty", file)
	}
	return secret, nil
}

func (c Config) tlsConfig() (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("storage-ca-file: %w", err)
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("storage-ca-file: no PEM certificate in %s", c.CAFile)
		}
	}
	if c.CertFile == "" && c.KeyFile == "" {
		return conf, nil
	}
	if c.CertFile == "" || c.KeyFile == "" {
		return nil, errors.New("storage-cert-file and storage-key-file: give both or none")
	}
	pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("storage-cert-file %s, storage-key-file %s: %w", c.CertFile, c.KeyFile, err)
	}
	conf.Certificates = []tls.Certificate{pair}
	return conf, nil
}
