// Package entropy is the only reader of system randomness in this module.
//
// A [Source] hands out fair bits, each bit once: what was handed out is erased, so a later
// look at memory does not give back past noise, and two callers never see the same bits. It
// fails closed: when the system cannot give the randomness asked for, the caller gets an
// error and no bits.
//
// There is no seed and no way to replay.
//
// # Where the bits come from
//
// [Source.Read], and the first directSize bytes of words of every Source, are the operating
// system's own. Who draws more gets the output of AES-256 in counter mode, of which the
// system's randomness is the key:
//
//	fresh     = 32 bytes of the system
//	K, output = AES-256-CTR under the key K ⊕ fresh, counters 0, 1, 2, …
//
// The first 32 bytes of each such stream replace the key and are never handed out (fast key
// erasure, Bernstein 2017), so that who learns the state learns nothing of what came before.
//
// Theorem. Let A tell the words of a source from fair ones after r streams, each of at most
// n blocks. Then A has at most r·(a + n²/2^129) of an advantage, a being the most by which
// AES-256 can be told from a random permutation with n questions in A's time. Proof: fresh
// is independent of K and of all that was handed out, so K ⊕ fresh is uniform. A stream
// under a uniform key is at most a from one of a random permutation, whose values at n
// points are at most n(n−1)/2 · 2^-128 from independent ones (the switching lemma); then
// the next key is uniform, too, and a hybrid over the r streams adds this up. With maxBlocks
// blocks a stream, 2^40 streams of a term beside a lose less than 2^-65.
//
// The step needs fresh to be unpredictable, or K: either is enough. So a process whose
// system gives bad randomness for a while keeps the quality of what it had, and a process
// that was duplicated with its memory (a snapshot of a virtual machine, a fork) shares with
// its double at most the words that lay unused in its buffer, bufferSize bytes. A source of
// its own for each statement shares none with what comes after the copy.
//
// Keys and words are wiped where this package knows them, the cipher's expanded keys
// included. What the compiler spills to a stack is beyond its reach.
package entropy

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"io"
	"reflect"
	"sync"
)

const (
	keySize = 32

	// directSize is how many bytes of words come from the system itself: the few draws of a
	// small statement need no cipher.
	directSize = 256

	// bufferSize balances the cost of a key against the unused bits that lie in memory.
	bufferSize = 4096

	// maxBlocks bounds a stream: 16 MiB with its key.
	maxBlocks = 1 << 20
)

// A Source is a buffered reader of randomness. It is safe for concurrent use; a Source for
// each goroutine avoids waiting. It must not be copied: the copy would give the same bits
// again.
type Source struct {
	mu     sync.Mutex
	system io.Reader
	key    [keySize]byte // mixed with fresh bytes before each use; zero before the first
	buffer []byte
	buf    []byte // the end of buffer, or the system's first: unused; what lies before it is zero
	used   bool   // words were handed out

	scratch []byte // of Words; zero between calls
}

// New returns a Source with an empty buffer.
func New() *Source {
	// Not rand.Read, which ends the process when the reader fails.
	return newSource(rand.Reader)
}

func newSource(system io.Reader) *Source { return &Source{system: system} }

// Format prints a name and no bits, whatever the verb: those that are not used yet
// would be noise to come.
func (*Source) Format(f fmt.State, _ rune) { io.WriteString(f, "entropy.Source") }

// Uint64 returns 64 random bits.
func (s *Source) Uint64() (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.buf) == 0 {
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
	word := s.buf[:8]
	x := binary.NativeEndian.Uint64(word)
	clear(word)
	s.buf = s.buf[8:]
	return x, nil
}

// Words fills all of p with random words; on an error it zeroes p. It bypasses the buffer:
// for many words it is several times as fast as Uint64.
func (s *Source) Words(p []uint64) error {
	if len(p) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	const most = (maxBlocks*aes.BlockSize - keySize) / 8
	for rest := p; len(rest) > 0; rest = rest[min(len(rest), most):] {
		if err := s.expand(func(c cipher.Stream) { s.words(c, rest[:min(len(rest), most)]) }); err != nil {
			clear(p)
			return err
		}
	}
	return nil
}

// words fills p with the output of c.
func (s *Source) words(c cipher.Stream, p []uint64) {
	if s.scratch == nil {
		s.scratch = make([]byte, bufferSize)
	}
	defer clear(s.scratch)
	for len(p) > 0 {
		n := min(len(p), len(s.scratch)/8)
		bytes := s.scratch[:8*n]
		clear(bytes)
		c.XORKeyStream(bytes, bytes)
		for i := range p[:n] {
			p[i] = binary.NativeEndian.Uint64(bytes[8*i:])
		}
		p = p[n:]
	}
}

// Read fills all of p with the system's random bytes; on an error it zeroes p and returns 0.
func (s *Source) Read(p []byte) (int, error) {
	if _, err := io.ReadFull(s.system, p); err != nil {
		clear(p)
		return 0, fmt.Errorf("read system randomness: %w", err)
	}
	return len(p), nil
}

// fill replaces the empty buffer, or leaves an empty one.
func (s *Source) fill() error {
	if !s.used {
		buf := make([]byte, directSize)
		if _, err := s.Read(buf); err != nil {
			return err
		}
		s.used, s.buf = true, buf
		return nil
	}
	if s.buffer == nil {
		s.buffer = make([]byte, bufferSize)
	}
	buf := s.buffer // zero, as all of it was handed out
	if err := s.expand(func(c cipher.Stream) { c.XORKeyStream(buf, buf) }); err != nil {
		return err
	}
	s.buf = buf
	return nil
}

// expand makes a key, replaces it by the first output of its stream, and gives the rest to use. On
// an error the key is as it was.
func (s *Source) expand(use func(cipher.Stream)) error {
	var key [keySize]byte
	defer clear(key[:])
	if _, err := s.Read(key[:]); err != nil {
		return err
	}
	subtle.XORBytes(key[:], key[:], s.key[:])
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return fmt.Errorf("expand system randomness: %w", err)
	}
	defer wipe(block)
	stream := cipher.NewCTR(block, make([]byte, aes.BlockSize))
	defer wipe(stream)
	clear(s.key[:])
	stream.XORKeyStream(s.key[:], s.key[:])
	use(stream)
	return nil
}

// wipe zeroes the value behind the pointer that x is or holds alone: the expanded key of a
// cipher, which would tell what its stream was.
func wipe(x any) {
	v := reflect.ValueOf(x)
	for v.Kind() == reflect.Struct && v.NumField() == 1 {
		v = v.Field(0)
	}
	if v.Kind() == reflect.Pointer {
		reflect.NewAt(v.Type().Elem(), v.UnsafePointer()).Elem().SetZero()
	}
}
