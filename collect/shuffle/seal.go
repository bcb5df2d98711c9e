package shuffle

import (
	"crypto/ecdh"
	"crypto/hpke"
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrEnvelope is wrapped by the refusal of bytes that are no envelope for the reader. It says
// nothing of what is in them.
var ErrEnvelope = errors.New("bad envelope")

// A Reader is who opens a seal.
type Reader string

// The readers. A bundle is sealed for the analyzer message by message, these together for the
// last shuffler, and all for the first.
const (
	First    Reader = "first shuffler"
	Last     Reader = "last shuffler"
	Analyzer Reader = "analyzer"
)

// Sizes in bytes. All envelopes of a question have one size, whatever is in them.
const (
	messageSize = 8
	crowdSize   = 8
	sealSize    = 32 + 16 // an X25519 key and an AES-GCM tag
)

func kem() hpke.KEM   { return hpke.DHKEM(ecdh.X25519()) }
func kdf() hpke.KDF   { return hpke.HKDFSHA256() }
func aead() hpke.AEAD { return hpke.AES128GCM() }

// NewKey returns a reader's key.
func NewKey() (hpke.PrivateKey, error) { return kem().GenerateKey() }

// ParseKey reads a reader's key from the bytes of the private key.
func ParseKey(b []byte) (hpke.PrivateKey, error) { return kem().NewPrivateKey(b) }

// ParsePublicKey reads the public key of a reader.
func ParsePublicKey(b []byte) (hpke.PublicKey, error) { return kem().NewPublicKey(b) }

// info binds a seal to its question and its reader.
func (p *Protocol) info(to Reader) []byte {
	return append([]byte("discreet shuffle 1\x00"+string(to)+"\x00"), p.digest[:]...)
}

func (p *Protocol) seal(to Reader, key hpke.PublicKey, text []byte) ([]byte, error) {
	sealed, err := hpke.Seal(key, kdf(), aead(), p.info(to), text)
	if err != nil {
		return nil, fmt.Errorf("seal for the %s: %w", to, err)
	}
	return sealed, nil
}

func (p *Protocol) open(as Reader, key hpke.PrivateKey, sealed []byte, size int) ([]byte, error) {
	if len(sealed) != size {
		return nil, fmt.Errorf("%w: it has not the size of all", ErrEnvelope)
	}
	text, err := hpke.Open(key, kdf(), aead(), p.info(as), sealed)
	if err != nil {
		return nil, fmt.Errorf("%w: it is not sealed for the %s and this question", ErrEnvelope, as)
	}
	return text, nil
}

// SealedMessage is the size of a message that is sealed for the analyzer.
const SealedMessage = messageSize + sealSize

// LastSize is the size of a bundle that is sealed for the last shuffler.
func (p *Protocol) LastSize() int {
	return TokenSize + crowdSize + p.Messages()*SealedMessage + sealSize
}

// FirstSize is the size of a bundle that is sealed for the first.
func (p *Protocol) FirstSize() int { return TokenSize + p.LastSize() + sealSize }

// Keys are those of all readers.
type Keys struct{ First, Last, Analyzer hpke.PublicKey }

// Seal seals a bundle for all readers. Each of the two tokens is for one shuffler. The crowd is
// read by the last shuffler alone; where the question has no crowds it is 0, whatever is given.
func (p *Protocol) Seal(k Keys, first, last Token, crowd uint64, messages []int) ([]byte, error) {
	if len(messages) != p.Messages() {
		return nil, fmt.Errorf("%w: a bundle has %d messages", ErrParameter, p.Messages())
	}
	if p.crowd == nil {
		crowd = 0 // it would tell who somebody is to a shuffler who withholds nothing by it
	}
	inner := append(make([]byte, 0, p.LastSize()), last[:]...)
	inner = binary.BigEndian.AppendUint64(inner, crowd)
	for _, m := range messages {
		sealed, err := p.seal(Analyzer, k.Analyzer, binary.BigEndian.AppendUint64(nil, uint64(m)))
		if err != nil {
			return nil, err
		}
		inner = append(inner, sealed...)
	}
	bundle, err := p.seal(Last, k.Last, inner)
	if err != nil {
		return nil, err
	}
	return p.seal(First, k.First, append(first[:], bundle...))
}

// OpenFirst is what the first shuffler reads: its token, and the bundle for the last.
func (p *Protocol) OpenFirst(key hpke.PrivateKey, sealed []byte) (t Token, bundle []byte, err error) {
	text, err := p.open(First, key, sealed, p.FirstSize())
	if err != nil {
		return t, nil, err
	}
	copy(t[:], text)
	return t, text[TokenSize:], nil
}

// OpenLast is what the last shuffler reads: its token, the crowd, and messages for the
// analyzer, one after the other.
func (p *Protocol) OpenLast(key hpke.PrivateKey, sealed []byte) (t Token, crowd uint64, messages []byte, err error) {
	text, err := p.open(Last, key, sealed, p.LastSize())
	if err != nil {
		return t, 0, nil, err
	}
	copy(t[:], text)
	return t, binary.BigEndian.Uint64(text[TokenSize:]), text[TokenSize+crowdSize:], nil
}

// OpenMessage is what the analyzer reads: an answer.
func (p *Protocol) OpenMessage(key hpke.PrivateKey, sealed []byte) (int, error) {
	text, err := p.open(Analyzer, key, sealed, SealedMessage)
	if err != nil {
		return 0, err
	}
	answer := binary.BigEndian.Uint64(text)
	if answer >= uint64(p.Answers) {
		return 0, fmt.Errorf("%w: it holds none of %d answers", ErrEnvelope, p.Answers)
	}
	return int(answer), nil
}
