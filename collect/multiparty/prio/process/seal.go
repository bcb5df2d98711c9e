package process

import (
	"crypto/ecdh"
	"crypto/hpke"
	"encoding/json"
	"errors"
	"fmt"
)

func kem() hpke.KEM   { return hpke.DHKEM(ecdh.X25519()) }
func kdf() hpke.KDF   { return hpke.HKDFSHA256() }
func aead() hpke.AEAD { return hpke.AES128GCM() }

// encSize is the length of the key with which what is sealed begins.
const encSize = 32

// info binds a seal to the protocol and to the aggregator that opens it.
func info(aggregator int) []byte {
	return append([]byte(Version+" input share\x00"), byte(aggregator))
}

// bound binds a seal to its task, batch, time, name and public share.
func bound(task string, r *Report) ([]byte, error) {
	return json.Marshal([]any{task, r.Batch, r.Time, r.Nonce, r.Public})
}

// seal seals a share for an aggregator.
func seal(to hpke.PublicKey, aggregator int, task string, r *Report, share []byte) ([]byte, error) {
	with, err := bound(task, r)
	if err != nil {
		return nil, err
	}
	enc, s, err := hpke.NewSender(to, kdf(), aead(), info(aggregator))
	if err != nil {
		return nil, fmt.Errorf("seal share: %w", err)
	}
	sealed, err := s.Seal(with, share)
	if err != nil {
		return nil, fmt.Errorf("seal share: %w", err)
	}
	return append(enc, sealed...), nil
}

var errSealed = errors.New("this is not sealed for this aggregator, task and contribution")

// open opens what was sealed for an aggregator.
func open(with hpke.PrivateKey, aggregator int, task string, r *Report, sealed []byte) ([]byte, error) {
	by, err := bound(task, r)
	if err != nil || len(sealed) < encSize {
		return nil, errSealed
	}
	rc, err := hpke.NewRecipient(sealed[:encSize], with, kdf(), aead(), info(aggregator))
	if err != nil {
		return nil, errSealed
	}
	share, err := rc.Open(by, sealed[encSize:])
	if err != nil {
		return nil, errSealed
	}
	return share, nil
}
