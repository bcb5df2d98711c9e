package multiparty

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/collect/cluster"
)

// A Cast is what every member of a cluster knows of a federation: who is what.
type Cast struct {
	Holders []string `json:"holders"`
	Parties []string `json:"parties"`
	Askers  []string `json:"askers"`
	// Colluding is how many parties may collude; 0: all but one.
	Colluding int `json:"colluding,omitempty"`
	// Shares says how Gaussian noise is shared then.
	Shares discreet.Sharing `json:"shares,omitempty"`
}

// An authority is that of a cluster, by whose certificates members know one another.
type authority struct {
	pool   *x509.CertPool
	digest []byte // of its certificate
}

// key is what a member of a name is known by: nobody else has a certificate of the authority
// for the name.
func (a *authority) key(name string) string {
	if name == "" {
		return ""
	}
	h := sha256.New()
	h.Write(a.digest)
	h.Write([]byte(name))
	return hex.EncodeToString(h.Sum(nil))
}

// AtStation is the federation as a member of a cluster sees it.
func AtStation(s *cluster.Station, cast Cast) (*Federation, *Identity, error) {
	wrap := func(err error) (*Federation, *Identity, error) {
		return nil, nil, fmt.Errorf("join federation of cluster: %w", err)
	}
	pair, err := tls.LoadX509KeyPair(s.File("cert.pem"), s.File("key.pem"))
	if err != nil {
		return wrap(err)
	}
	text, err := os.ReadFile(s.File("ca.pem"))
	if err != nil {
		return wrap(err)
	}
	block, rest := pem.Decode(text)
	if block == nil || len(bytes.TrimSpace(rest)) > 0 {
		return wrap(errors.New("there is not one authority"))
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return wrap(err)
	}
	digest := sha256.Sum256(certificate.Raw)
	a := &authority{x509.NewCertPool(), digest[:]}
	a.pool.AddCert(certificate)
	f := &Federation{Colluding: cast.Colluding, Shares: cast.Shares}
	for _, of := range []struct {
		names []string
		to    *[]Member
	}{{cast.Holders, &f.Holders}, {cast.Parties, &f.Parties}, {cast.Askers, &f.Askers}} {
		for _, name := range of.names {
			*of.to = append(*of.to, Member{Name: name, Key: a.key(name), Address: s.Peers[name]})
		}
	}
	if err := f.members(); err != nil {
		return wrap(err)
	}
	return f, &Identity{Key: a.key(s.Name()), certificate: pair, authority: a}, nil
}

// RunParty is the process of a party in a cluster.
func RunParty(ctx context.Context, s *cluster.Station, cast Cast) (err error) {
	f, id, err := AtStation(s, cast)
	if err != nil {
		return err
	}
	p, err := OpenParty(ctx, PartyOptions{Name: s.Name(), Federation: f, Identity: id, State: s.File("state"), Now: s.Now, Log: s.Log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	return s.Serve(ctx, p.Handler())
}
