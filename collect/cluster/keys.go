package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/entropy"
)

const (
	certFile = "cert.pem"
	keyFile  = "key.pem"
	caFile   = "ca.pem"
)

// validYears is how long keys are good for. Nothing can renew them, since their authority is gone.
const validYears = 10

// An authority signs the certificates of one cluster. Its key is in memory alone.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	now  time.Time
}

func newAuthority(now time.Time) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), entropy.New())
	if err != nil {
		return nil, fmt.Errorf("make the cluster's key: %w", err)
	}
	a := &authority{key: key, now: now}
	t, err := a.template("discreet cluster")
	if err != nil {
		return nil, err
	}
	t.IsCA, t.BasicConstraintsValid, t.KeyUsage, t.MaxPathLenZero = true, true, x509.KeyUsageCertSign, true
	der, err := x509.CreateCertificate(entropy.New(), t, t, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign the cluster's certificate: %w", err)
	}
	a.cert, err = x509.ParseCertificate(der)
	return a, err
}

func (a *authority) template(name string) (*x509.Certificate, error) {
	serial := make([]byte, 16)
	if _, err := entropy.New().Read(serial); err != nil {
		return nil, err
	}
	return &x509.Certificate{SerialNumber: new(big.Int).SetBytes(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: a.now.Add(-time.Hour), NotAfter: a.now.AddDate(validYears, 0, 0)}, nil
}

// issue writes a member's key, its certificate and the authority's to its folder.
func (a *authority) issue(folder, name string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), entropy.New())
	if err != nil {
		return fmt.Errorf("make the key of %s: %w", name, err)
	}
	t, err := a.template(name)
	if err != nil {
		return err
	}
	t.DNSNames, t.KeyUsage = []string{name}, x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(entropy.New(), t, a.cert, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("sign the certificate of %s: %w", name, err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name, kind string
		der        []byte
	}{{keyFile, "PRIVATE KEY", secret}, {certFile, "CERTIFICATE", der}, {caFile, "CERTIFICATE", a.cert.Raw}} {
		if err := custody.Write(filepath.Join(folder, f.name), pem.EncodeToMemory(&pem.Block{Type: f.kind, Bytes: f.der})); err != nil {
			return err
		}
	}
	return nil
}

// identity reads a member's keys, as TLS for both sides of a connection.
func identity(folder string) (*tls.Config, error) {
	if err := custody.Secret(filepath.Join(folder, keyFile)); err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(folder, certFile), filepath.Join(folder, keyFile))
	if err != nil {
		return nil, fmt.Errorf("read the keys in %s: %w", folder, err)
	}
	text, err := os.ReadFile(filepath.Join(folder, caFile))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate", filepath.Join(folder, caFile))
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair},
		RootCAs: roots, ClientCAs: roots, ClientAuth: tls.RequireAndVerifyClientCert}, nil
}
