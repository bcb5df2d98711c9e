package ledger

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"

	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/entropy"
)

// A Key makes the chain one that only its holder can compute. The chain of a ledger
// without a key is a plain hash: whoever can write the file can edit a record and compute
// all later hashes anew, and only an anchor out of reach tells. With a key each hash is a
// message authentication code (HMAC-SHA256, FIPS 198-1), so that who has the file alone
// can append, change or shorten nothing unnoticed but by putting an older copy back.
//
// A ledger has its key from its creation, for good: there is no way to give it another.
// Whoever reads the key, in its file or from a process that runs, forges as without.
type Key struct{ secret [sha256.Size]byte }

// keyPrefix begins a key's file, its only line.
const keyPrefix = "discreet ledger key 1 "

// CreateKey makes a new key's file, which only its owner can read. It refuses a file that
// exists.
func CreateKey(path string) (err error) {
	defer wrap(&err, "create ledger key %s", path)
	var k Key
	if _, err := entropy.New().Read(k.secret[:]); err != nil {
		return err
	}
	f, err := custody.New(path)
	if errors.Is(err, os.ErrExist) {
		return ErrExists
	} else if err != nil {
		return err
	}
	_, err = f.WriteString(keyPrefix + hex.EncodeToString(k.secret[:]) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// ReadKey reads a key's file. It refuses one that others can read or write.
func ReadKey(path string) (_ *Key, err error) {
	defer wrap(&err, "read ledger key %s", path)
	if err := custody.Secret(path); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	text, ok := strings.CutPrefix(strings.TrimSuffix(string(data), "\n"), keyPrefix)
	secret, err := hex.DecodeString(text)
	if !ok || err != nil || len(secret) != sha256.Size {
		return nil, fmt.Errorf("%w: this is no file that discreet ledger key has made", ErrKey)
	}
	return &Key{[sha256.Size]byte(secret)}, nil
}

// Format hides the key from every verb.
func (*Key) Format(s fmt.State, _ rune) { io.WriteString(s, "(a ledger's key)") }

// A chain computes the hashes of records.
type chain struct{ key *Key } // nil: anybody can

// The labels of records. All else that is hashed begins with a length, so that nothing
// that is hashed with one key is taken for something else.
const (
	recordLabel = "discreet ledger record\n"
	keyedLabel  = "discreet ledger record with key\n"
)

func (c chain) hash() hash.Hash {
	if c.key == nil {
		return sha256.New()
	}
	return hmac.New(sha256.New, c.key.secret[:])
}

// keyID names the key in the first record without telling it; nil without one.
func (c chain) keyID() []byte {
	if c.key == nil {
		return nil
	}
	return c.digest([]byte("key id"))[:16]
}

// digest hashes parts, each with its length.
func (c chain) digest(parts ...[]byte) []byte {
	h := c.hash()
	for _, p := range parts {
		writeSized(h, p)
	}
	return h.Sum(nil)
}

// sum returns the hash of r after a record with hash prev. Fields of variable
// length carry their length, so that no two records look alike.
func (c chain) sum(r *record, prev digest) digest {
	h := c.hash()
	label := recordLabel
	if c.key != nil {
		label = keyedLabel
	}
	io.WriteString(h, label)
	h.Write(prev[:])
	writeNumber(h, r.seq)
	writeSized(h, []byte(r.kind))
	writeSized(h, []byte(r.domain))
	writeSized(h, r.key)
	writeNumber(h, r.ref)
	writeSized(h, r.body)
	return digest(h.Sum(nil))
}

func writeNumber(h hash.Hash, i int64) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(i))
	h.Write(n[:])
}

func writeSized(h hash.Hash, b []byte) {
	writeNumber(h, int64(len(b)))
	h.Write(b)
}

// digestOf is the digest that anybody can compute.
func digestOf(parts ...[]byte) []byte { return chain{}.digest(parts...) }

// fits refuses a chain that is not the one that the ledger was made with, by what its
// first record says. A ledger that was computed anew without the key says that it has none.
func (c chain) fits(first *entry) error {
	switch {
	case c.key == nil && first.KeyID != nil:
		return fmt.Errorf("%w: this ledger has one, name its file", ErrKey)
	case c.key != nil && first.KeyID == nil:
		return fmt.Errorf("%w: this ledger was made without one", ErrKey)
	case !hmac.Equal(c.keyID(), first.KeyID):
		return fmt.Errorf("%w: this ledger has another", ErrKey)
	}
	return nil
}
