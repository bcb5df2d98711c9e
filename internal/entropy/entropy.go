// Package entropy is the only reader of system randomness in this module.
//
// A [Source] hands out bits of the operating system's cryptographic generator,
// each bit once: what was handed out is erased, so a later look at memory does
// not give back past noise, and two callers never see the same bits. It fails
// closed: when the system cannot give all the randomness asked for, the caller
// gets an error and no bits.
//
// There is no seed and no way to replay. The package does not defend against a
// process image that is duplicated (fork, virtual machine snapshot) while up to
// one buffer of unused bits lies in it.
package entropy

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// bufferSize balances the cost of a system call against the unused bits that
// lie in memory. It is a multiple of a word.
const bufferSize = 1024

// A Source is a buffered reader of the system's randomness. It is safe for
// concurrent use; a Source for each goroutine avoids waiting. It must not be
// copied: the copy would give the same bits again.
type Source struct {
	mu     sync.Mutex
	system io.Reader
	buf    [bufferSize]byte
	next   int // buf[next:] is unused; what lies before is zero
}

// New returns a Source with an empty buffer.
func New() *Source {
	// Not rand.Read, which ends the process when the reader fails.
	return newSource(rand.Reader)
}

func newSource(system io.Reader) *Source {
	return &Source{system: system, next: bufferSize}
}

// Format prints a name and no bits, whatever the verb: those that are not used yet
// would be noise to come.
func (*Source) Format(f fmt.State, _ rune) { io.WriteString(f, "entropy.Source") }

// Uint64 returns 64 random bits.
func (s *Source) Uint64() (uint64, error) {
	s.mu.Lock()
	if s.next > bufferSize-8 {
		if err := s.fill(); err != nil {
			s.mu.Unlock()
			return 0, err
		}
	}
	word := s.buf[s.next : s.next+8]
	x := binary.NativeEndian.Uint64(word)
	clear(word)
	s.next += 8
	s.mu.Unlock()
	return x, nil
}

// Read fills all of p with random bytes; on an error it zeroes p and returns 0.
// It bypasses the buffer.
func (s *Source) Read(p []byte) (int, error) {
	if _, err := io.ReadFull(s.system, p); err != nil {
		clear(p)
		return 0, fmt.Errorf("read system randomness: %w", err)
	}
	return len(p), nil
}

// fill replaces the whole buffer, or leaves an empty one.
func (s *Source) fill() error {
	s.next = bufferSize
	if _, err := s.Read(s.buf[:]); err != nil {
		return err
	}
	s.next = 0
	return nil
}
