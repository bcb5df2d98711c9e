package serve

import (
	"crypto/tls"
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A certificate is read from its files again at every reload; connections that are open
// keep theirs. nil is none.
type certificate struct {
	files TLS
	now   atomic.Pointer[tls.Certificate]
}

func newCertificate(files TLS) (*certificate, error) {
	if files.Certificate == "" {
		return nil, nil
	}
	c := &certificate{files: files}
	return c, c.read()
}

// Check reads the certificate and its key, as a start does.
func (t TLS) Check() error {
	_, err := newCertificate(t)
	return err
}

func (c *certificate) read() error {
	if c == nil {
		return nil
	}
	if err := custody.Secret(c.files.Key); err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(c.files.Certificate, c.files.Key)
	if err != nil {
		return diagnostic.New("D216", diagnostic.Span{}, "the certificate cannot be used: %v", err).Try("[tls] names a certificate with its chain, and its key, in PEM")
	}
	c.now.Store(&pair)
	return nil
}

func (c *certificate) config() *tls.Config {
	if c == nil {
		return nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.now.Load(), nil }}
}
