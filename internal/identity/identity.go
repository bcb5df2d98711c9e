// Package identity is how processes of one owner know each other: each has a key of its own, and
// knows the others by the digests of their public keys.
//
// It guarantees that a connection has two ends that hold the private keys of the digests which the
// other end was told. The names in certificates count for nothing, nor who signed them: TLS proves
// that the other side has the private key, and its public key is the one that was pinned.
//
// It does not guarantee that a key is still its owner's alone, nor has it a way to revoke one: whoever
// is no longer to be trusted is taken out of the lists of the others.
package identity

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"regexp"
	"time"

	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/entropy"
)

// Name is what a process or a person may be called, and Digest what a key is known by.
var (
	Name   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)
	Digest = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// validYears is how long a certificate is good for. Nobody signs another.
const validYears = 10

// New draws a key, and returns the text of a file with it and its certificate.
func New(name string, now time.Time) ([]byte, error) {
	if !Name.MatchString(name) {
		return nil, fmt.Errorf("make identity: %q cannot be a member's name", name)
	}
	random := entropy.New()
	raw := make([]byte, ed25519.SeedSize)
	if _, err := random.Read(raw); err != nil {
		return nil, fmt.Errorf("make identity: %w", err)
	}
	private := ed25519.NewKeyFromSeed(raw)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(validYears, 0, 0), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	certificate, err := x509.CreateCertificate(random, template, template, private.Public(), private)
	if err != nil {
		return nil, fmt.Errorf("make identity: %w", err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("make identity: %w", err)
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})...), nil
}

// Read reads the file of a key, which nobody else may be able to read, and returns what others know
// it by.
func Read(path string) (pair tls.Certificate, digest string, err error) {
	if err := custody.Secret(path); err != nil {
		return pair, "", fmt.Errorf("read identity: %w", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return pair, "", fmt.Errorf("read identity: %w", err)
	}
	if pair, err = tls.X509KeyPair(text, text); err != nil {
		return pair, "", fmt.Errorf("read identity %s: %w", path, err)
	}
	return pair, digestOf(pair.Leaf), nil
}

// digestOf is what a certificate's key is known by.
func digestOf(c *x509.Certificate) string {
	sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}

// Caller is the digest of who has sent a request; "" of nobody.
func Caller(r *http.Request) string {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return ""
	}
	return digestOf(r.TLS.PeerCertificates[0])
}

// ErrStranger says that the other side has none of the keys that are known.
var ErrStranger = errors.New("the other side has not the key of the member")

// Server is how the holder of a key listens: to those alone whose digests are known.
func Server(pair tls.Certificate, known func(digest string) bool) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAnyClientCert, VerifyConnection: only(known)}
}

// Client is how the holder of a key speaks to the holder of another.
func Client(pair tls.Certificate, digest string) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair},
		InsecureSkipVerify: true, //nolint:gosec // the key is pinned below, which is more than a chain of signatures
		VerifyConnection:   only(func(d string) bool { return d == digest })}
}

func only(known func(digest string) bool) func(tls.ConnectionState) error {
	return func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 || !known(digestOf(s.PeerCertificates[0])) {
			return ErrStranger
		}
		return nil
	}
}
