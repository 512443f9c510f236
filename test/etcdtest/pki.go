package etcdtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// PKI is an authority made for one test, and certificates of it, as PEM files.
type PKI struct {
	CA                    string
	ServerCert, ServerKey string // for host
	ClientCert, ClientKey string

	host net.IP // of the server
}

// NewPKI makes an authority and its certificates in a directory of the test.
func NewPKI(t testing.TB) *PKI {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir(), host: ownHost()}
	a.key, a.cert = a.issue("authority", &x509.Certificate{
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	p := &PKI{CA: filepath.Join(a.dir, "authority.crt"), host: a.host}
	p.ServerCert, p.ServerKey = a.leaf("server", x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth)
	p.ClientCert, p.ClientKey = a.leaf("client", x509.ExtKeyUsageClientAuth)
	return p
}

// clientConfig is what a client of a server of this PKI needs.
func (p *PKI) clientConfig(t testing.TB) *tls.Config {
	t.Helper()
	text, err := os.ReadFile(p.CA)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(p.ClientCert, p.ClientKey)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
}

type authority struct {
	t    testing.TB
	dir  string
	host net.IP
	key  *ecdsa.PrivateKey // nil until it has issued itself
	cert *x509.Certificate
	last int64
}

func (a *authority) leaf(name string, usage ...x509.ExtKeyUsage) (cert, key string) {
	a.issue(name, &x509.Certificate{
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: usage,
		IPAddresses: []net.IP{a.host},
	})
	return filepath.Join(a.dir, name+".crt"), filepath.Join(a.dir, name+".key")
}

// issue writes name.crt and name.key.
func (a *authority) issue(name string, cert *x509.Certificate) (*ecdsa.PrivateKey, *x509.Certificate) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	a.last++
	cert.SerialNumber, cert.Subject = big.NewInt(a.last), pkix.Name{CommonName: name}
	cert.NotBefore, cert.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if signer == nil {
		parent, signer = cert, key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, key.Public(), signer)
	if err != nil {
		a.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	a.write(name+".crt", "CERTIFICATE", der)
	a.write(name+".key", "PRIVATE KEY", secret)
	if cert, err = x509.ParseCertificate(der); err != nil {
		a.t.Fatal(err)
	}
	return key, cert
}

func (a *authority) write(name, kind string, der []byte) {
	a.t.Helper()
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(filepath.Join(a.dir, name), text, 0o600); err != nil {
		a.t.Fatal(err)
	}
}
