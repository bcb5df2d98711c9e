// Package noise draws integers exactly from the distributions that differential
// privacy adds to answers, and knows nothing of privacy itself.
//
// It guarantees that every sampler turns fair bits into its distribution with no error at
// all: the probability of each outcome is the real number that its documentation states,
// whatever the size of the parameters. Parameters are rationals, results are
// integers of any size; a multiple of a grid is an integer count of grid steps.
// A failing source of bits gives an error and no value.
//
// A [Source] is the plain form of the same for programs in float64: its draws are
// multiples of a grid, and failures end the call with a panic.
//
// It does not guarantee how long a draw takes, nor how many bits it consumes: both depend
// on the value drawn and show something of it (Jin et al. 2022, arXiv 2112.05307). A
// program that must hide the value answers in batches, at times that do not depend on it.
// Many draws at once (AddTo, Int64s, a Stream that goes on) are made 64 at a time in machine
// integers, some ten times as fast, with the same law; their time depends on little more than
// on what was rejected.
package noise

import (
	"errors"
	"fmt"
	"math/big"
)

// Bits is a source of independent fair bits, 64 at a time. Outside tests it is
// the system's cryptographic generator.
type Bits interface {
	Uint64() (uint64, error)
}

// ErrParameter is wrapped by the errors about parameters that are missing, not
// positive, or absurd.
var ErrParameter = errors.New("bad noise parameter")

// maxParameterBits bounds numerators and denominators: a grid of 2^-1000 is a
// mistake, and its samples would cost memory in proportion.
const maxParameterBits = 1024

func checkParameter(name string, r *big.Rat) error {
	switch {
	case r == nil:
		return fmt.Errorf("%w: %s is missing", ErrParameter, name)
	case r.Sign() <= 0:
		return fmt.Errorf("%w: %s is not positive", ErrParameter, name)
	case r.Num().BitLen() > maxParameterBits || r.Denom().BitLen() > maxParameterBits:
		return fmt.Errorf("%w: the %s of the noise needs more than %d bits", ErrParameter, name, maxParameterBits)
	}
	return nil
}

// A Stream hands out the words of a Bits in pieces: no bit is used twice, and
// draws that follow each other leave none unused. It is itself a Bits. It is not
// safe for concurrent use.
type Stream struct {
	source Bits
	word   uint64 // its low left bits are unused, the others zero
	left   uint
	ahead  []uint64 // the end of kept: read, and not handed out; what lies before it is zero
	kept   []uint64
	pools  [maxPools]pooled
}

// NewStream returns a stream of the bits of b.
func NewStream(b Bits) *Stream { return &Stream{source: b} }

// Uint64 returns 64 fair bits.
func (s *Stream) Uint64() (uint64, error) { return s.bits(64) }

// bits returns n fair bits, 0 <= n <= 64.
func (s *Stream) bits(n uint) (uint64, error) {
	if s.left >= n {
		x := s.word & (1<<n - 1)
		s.word >>= n
		s.left -= n
		return x, nil
	}
	fresh, err := s.next()
	if err != nil {
		return 0, fmt.Errorf("draw noise: %w", err)
	}
	x := (s.word | fresh<<s.left) & (1<<n - 1)
	used := n - s.left
	s.word = fresh >> used
	s.left = 64 - used
	return x, nil
}

// next returns a word of the source.
func (s *Stream) next() (uint64, error) {
	if len(s.ahead) == 0 {
		return s.source.Uint64()
	}
	w := s.ahead[0]
	s.ahead[0] = 0 // as in the source, what was handed out is erased
	s.ahead = s.ahead[1:]
	return w, nil
}

// mostAhead bounds the words that lie in memory before they are used.
const mostAhead = 512

// Ahead says that some n words will be drawn one after the other. Some sources give many words
// at once several times as fast as one by one: from such a one it reads up to mostAhead of them,
// where fewer than n lie ready. They are handed out in their order, each once, and what was
// handed out is erased; a process that is duplicated with its memory shares the rest with its
// double, as it does the source's own buffer.
func (s *Stream) Ahead(n int) error {
	n = min(n, mostAhead)
	if _, ok := s.source.(many); !ok || len(s.ahead) >= n {
		return nil
	}
	if s.kept == nil {
		s.kept = make([]uint64, mostAhead)
	}
	have := copy(s.kept, s.ahead)
	s.ahead = s.kept[:have] // whatever comes of the rest
	if err := readWords(s.source, s.kept[have:]); err != nil {
		return err
	}
	s.ahead = s.kept
	return nil
}

// Words fills p with fair bits, past those that are kept from a word and those that were read ahead.
func (s *Stream) Words(p []uint64) error { return readWords(s.source, p) }

// many is a Bits that gives many words faster than one by one. On an error it gives none.
type many interface{ Words(p []uint64) error }

// readWords fills p with the words of b; on an error it clears it.
func readWords(b Bits, p []uint64) (err error) {
	if m, ok := b.(many); ok {
		if err = m.Words(p); err == nil {
			return nil
		}
	} else {
		for i := range p {
			if p[i], err = b.Uint64(); err != nil {
				break
			}
		}
		if err == nil {
			return nil
		}
	}
	clear(p)
	return fmt.Errorf("draw noise: %w", err)
}
