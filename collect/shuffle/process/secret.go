package process

import (
	"context"
	"crypto/hpke"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/shuffle"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/entropy"
)

// secret reads a key that a role made, or makes it: whole, before it is told to anybody.
func secret(s *cluster.Station, name string, make func() ([]byte, error)) ([]byte, error) {
	path := s.File(name)
	text, err := os.ReadFile(path)
	if err == nil {
		if err := custody.Secret(path); err != nil {
			return nil, err
		}
		return hex.DecodeString(string(text))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	k, err := make()
	if err != nil {
		return nil, err
	}
	// A key that others know must not be lost with the power.
	if err := custody.Replace(path, []byte(hex.EncodeToString(k))); err != nil {
		return nil, err
	}
	return k, nil
}

// sealKey is the key by which a role opens what is sealed for it.
func sealKey(s *cluster.Station) (hpke.PrivateKey, error) {
	b, err := secret(s, "seal.key", func() ([]byte, error) {
		k, err := shuffle.NewKey()
		if err != nil {
			return nil, err
		}
		return k.Bytes()
	})
	if err != nil {
		return nil, fmt.Errorf("make the key of %s: %w", s.Name(), err)
	}
	return shuffle.ParseKey(b)
}

// tokenKey is the issuer's.
func tokenKey(s *cluster.Station) (*rsa.PrivateKey, error) {
	b, err := secret(s, "token.key", func() ([]byte, error) {
		k, err := rsa.GenerateKey(entropy.New(), shuffle.TokenBits)
		if err != nil {
			return nil, err
		}
		return x509.MarshalPKCS1PrivateKey(k), nil
	})
	if err != nil {
		return nil, fmt.Errorf("make the key of %s: %w", s.Name(), err)
	}
	return x509.ParsePKCS1PrivateKey(b)
}

// publicIssuer reads the issuer's key from hexadecimal digits.
func publicIssuer(text string) (*rsa.PublicKey, error) {
	b, err := hex.DecodeString(text)
	if err != nil {
		return nil, err
	}
	k, err := x509.ParsePKCS1PublicKey(b)
	if err != nil {
		return nil, err
	}
	if k.Size() != shuffle.TokenBits/8 {
		return nil, fmt.Errorf("%w: the issuer's key has not %d bits", shuffle.ErrToken, shuffle.TokenBits)
	}
	return k, nil
}

// knownIssuer is the issuer's key as a shuffler first met it. It is kept: an issuer with
// another key could tell respondents apart.
func knownIssuer(ctx context.Context, s *cluster.Station, p *shuffle.Protocol) (*rsa.PublicKey, string, error) {
	text, err := met(ctx, s, p, Issuer, func(k key) (string, error) {
		_, err := publicIssuer(k.Issuer)
		return k.Issuer, err
	})
	if err != nil {
		return nil, "", err
	}
	k, err := publicIssuer(text)
	return k, text, err
}

// knownReaders are the keys of all readers as the issuer first met them. The issuer keeps them
// and tells all respondents the same: a reader who gave one respondent a key of its own would
// know what is sealed with it.
func knownReaders(ctx context.Context, s *cluster.Station, p *shuffle.Protocol) (map[string]string, error) {
	all := map[string]string{}
	for _, peer := range readers() {
		text, err := met(ctx, s, p, peer, func(k key) (string, error) {
			_, err := publicReader(k.Key)
			return k.Key, err
		})
		if err != nil {
			return nil, err
		}
		all[peer] = text
	}
	return all, nil
}

// readers are the roles that open seals.
func readers() []string { return []string{Hop1, Hop2, Analyzer} }

// publicReader reads a reader's key from hexadecimal digits.
func publicReader(text string) (hpke.PublicKey, error) {
	b, err := hex.DecodeString(text)
	if err != nil {
		return nil, err
	}
	return shuffle.ParsePublicKey(b)
}

// met is a peer's public key, in hexadecimal digits, as it was when this member first asked for
// it: it asks until it is told one, and keeps it.
func met(ctx context.Context, s *cluster.Station, p *shuffle.Protocol, peer string, which func(key) (string, error)) (string, error) {
	b, err := secret(s, peer+".pub", func() ([]byte, error) {
		for {
			k, err := keyOf(ctx, s, p, peer)
			if err == nil {
				var text string
				if text, err = which(k); err == nil {
					return hex.DecodeString(text)
				}
			}
			select {
			case <-ctx.Done():
				return nil, err
			case <-time.After(pause):
			}
		}
	})
	if err != nil {
		return "", fmt.Errorf("learn the key of %s: %w", peer, err)
	}
	return hex.EncodeToString(b), nil
}
