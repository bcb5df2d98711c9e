package shuffle

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha3"
	"crypto/sha512"
	"errors"
	"fmt"

	"github.com/cloudflare/circl/blindsign/blindrsa"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// TokenBits is the length of the issuer's key.
const TokenBits = 2048

const nonceSize, seedSize = 32, 32

// TokenSize is the size of a token in bytes.
const TokenSize = nonceSize + TokenBits/8

// A Token shows a shuffler that its holder is enrolled, and not who that is: a nonce, and the
// issuer's signature of it, which the issuer made blindly (RSABSSA-SHA384-PSS-Deterministic of
// RFC 9474; the nonce has all the entropy that the RFC asks of a message). One for each
// shuffler and respondent is signed, so that whoever has k enrolments fills k places of a
// batch, and no more.
type Token [TokenSize]byte

// ErrToken is wrapped by the refusal of what is no token of the issuer for this shuffler.
var ErrToken = errors.New("bad token")

// signed is what the issuer signs blindly: for one question and one shuffler.
func (p *Protocol) signed(by Reader, nonce []byte) []byte {
	return append(append([]byte("discreet token 1\x00"+string(by)+"\x00"), p.digest[:]...), nonce...)
}

// A TokenRequest is a token that is being made, by its holder.
type TokenRequest struct {
	Blinded []byte // for the issuer, who learns nothing of it
	nonce   []byte
	state   blindrsa.State
	client  blindrsa.Client
}

// RequestToken begins a token for a shuffler.
func (p *Protocol) RequestToken(issuer *rsa.PublicKey, by Reader) (*TokenRequest, error) {
	seed, err := NewTokenSeed()
	if err != nil {
		return nil, err
	}
	return p.RequestTokenOf(seed, issuer, by)
}

// NewTokenSeed draws what a respondent's tokens are made of. Its holder keeps it, secret, until
// the tokens were delivered: the issuer signs for a code what it was first asked for, and nothing
// else.
func NewTokenSeed() ([]byte, error) {
	seed := make([]byte, seedSize)
	if _, err := entropy.New().Read(seed); err != nil {
		return nil, fmt.Errorf("draw seed of tokens: %w", err)
	}
	return seed, nil
}

// RequestTokenOf begins the token of a seed: of the same seed it is the same request. Nonce and
// blinding factor are bits of SHAKE256 of the seed, so that blindness is computational, as the
// signature is.
func (p *Protocol) RequestTokenOf(seed []byte, issuer *rsa.PublicKey, by Reader) (*TokenRequest, error) {
	if len(seed) != seedSize {
		return nil, fmt.Errorf("%w: its seed has %d bytes, and not %d", ErrToken, len(seed), seedSize)
	}
	if issuer.Size() != TokenBits/8 {
		return nil, fmt.Errorf("%w: the issuer's key has not %d bits", ErrToken, TokenBits)
	}
	client, err := blindrsa.NewClient(blindrsa.SHA384PSSDeterministic, issuer)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	random := sha3.NewSHAKE256()
	random.Write(append(append([]byte("discreet token seed 1\x00"+string(by)+"\x00"), p.digest[:]...), seed...))
	r := &TokenRequest{nonce: make([]byte, nonceSize), client: client}
	if _, err := random.Read(r.nonce); err != nil {
		return nil, err
	}
	if r.Blinded, r.state, err = client.Blind(random, p.signed(by, r.nonce)); err != nil {
		return nil, fmt.Errorf("blind token: %w", err)
	}
	return r, nil
}

// SignBlinded is what the issuer does.
func SignBlinded(key *rsa.PrivateKey, blinded []byte) ([]byte, error) {
	signature, err := blindrsa.NewSigner(key).BlindSign(blinded)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	return signature, nil
}

// Finish makes the token of the issuer's answer, and refuses what is no signature.
func (r *TokenRequest) Finish(signature []byte) (t Token, err error) {
	plain, err := r.client.Finalize(r.state, signature)
	if err != nil {
		return t, fmt.Errorf("%w: %w", ErrToken, err)
	}
	copy(t[:], r.nonce)
	copy(t[nonceSize:], plain)
	return t, nil
}

// Verify refuses a token that the issuer did not sign for this shuffler and question.
func (p *Protocol) Verify(issuer *rsa.PublicKey, by Reader, t Token) error {
	hash := sha512.Sum384(p.signed(by, t[:nonceSize]))
	if err := rsa.VerifyPSS(issuer, crypto.SHA384, hash[:], t[nonceSize:], &rsa.PSSOptions{SaltLength: crypto.SHA384.Size(), Hash: crypto.SHA384}); err != nil {
		return fmt.Errorf("%w: not signed for the %s and this question", ErrToken, by)
	}
	return nil
}
