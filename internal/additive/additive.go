// Package additive splits integers into shares that add up to them.
//
// It guarantees that all shares but one are independent of the integers and uniform, however
// much an adversary can compute, if the bits are; and that a sum within the bound that a ring
// was chosen for is read back exactly.
//
// It does not guarantee that shares reach nobody else, nor that whoever holds one adds it up
// rightly.
package additive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"math/bits"

	"github.com/discreet-dp/discreet/noise"
)

// A Ring is the integers modulo 2^Bits. Shares are vectors over it: eight bytes for each begun
// 64 bits of an element, the lowest first.
type Ring struct{ Bits int }

// maxBits bounds a ring: what needs more has parameters that nobody means.
const maxBits = 2048

// Fit returns the ring of whole words in which every integer of absolute value at most bound
// has an element of its own.
func Fit(bound *big.Int) (Ring, error) {
	if bound == nil || bound.Sign() < 0 {
		return Ring{}, errors.New("choose ring: no bound")
	}
	r := Ring{Bits: (bound.BitLen()/64 + 1) * 64} // bound < 2^BitLen <= 2^(Bits-1)
	return r, r.check()
}

func (r Ring) check() error {
	if r.Bits < 1 || r.Bits > maxBits {
		return fmt.Errorf("a ring of %d bits is not between 1 and %d", r.Bits, maxBits)
	}
	return nil
}

// Holds reports whether every integer of absolute value at most bound is read back exactly.
func (r Ring) Holds(bound *big.Int) bool { return r.check() == nil && bound.BitLen() < r.Bits }

func (r Ring) words() int { return (r.Bits + 63) / 64 }

// top masks the highest word of an element.
func (r Ring) top() uint64 { return ^uint64(0) >> uint(r.words()*64-r.Bits) }

// Size is the length of a vector of n elements in bytes.
func (r Ring) Size(n int) int { return n * r.words() * 8 }

// Split returns a vector of shares for each of so many parties.
//
// Theorem (Shannon 1949; folklore of additive sharing). All shares but the last are uniform
// and independent, the last is the value less their sum. Leave out any one share: the others
// are a bijective image of that many uniform elements, whatever the value is. So any parties
// but one see the same distribution for every value, and no computing power tells values apart.
func (r Ring) Split(source noise.Bits, values []*big.Int, parties int) ([][]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if parties < 2 {
		return nil, errors.New("split values: one party alone would see them")
	}
	last, err := r.Encode(values)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, parties)
	for i := range parties - 1 {
		if out[i], err = r.uniform(source, len(values)); err != nil {
			return nil, err
		}
		r.combine(last, out[i], bits.Sub64)
	}
	out[parties-1] = last
	return out, nil
}

// uniform returns a vector of independent uniform elements.
func (r Ring) uniform(source noise.Bits, n int) ([]byte, error) {
	out := make([]byte, 0, r.Size(n))
	for range n {
		for w := range r.words() {
			x, err := source.Uint64()
			if err != nil {
				return nil, fmt.Errorf("draw shares: %w", err)
			}
			if w == r.words()-1 {
				x &= r.top()
			}
			out = binary.LittleEndian.AppendUint64(out, x)
		}
	}
	return out, nil
}

// combine replaces a by a+b or a−b, element by element.
func (r Ring) combine(a, b []byte, op func(x, y, carry uint64) (uint64, uint64)) {
	width := r.words()
	for at := 0; at < len(a); at += width * 8 {
		var carry uint64
		for w := range width {
			i := at + w*8
			var x uint64
			x, carry = op(binary.LittleEndian.Uint64(a[i:]), binary.LittleEndian.Uint64(b[i:]), carry)
			if w == width-1 {
				x &= r.top()
			}
			binary.LittleEndian.PutUint64(a[i:], x)
		}
	}
}

// errVector refuses bytes that are no vector of the ring.
var errVector = errors.New("this is no vector of shares of the ring")

// Check refuses bytes that are not a vector of n elements.
func (r Ring) Check(vector []byte, n int) error {
	if r.check() != nil || len(vector) != r.Size(n) {
		return errVector
	}
	for i := r.words()*8 - 8; i < len(vector); i += r.words() * 8 {
		if binary.LittleEndian.Uint64(vector[i:])&^r.top() != 0 {
			return errVector
		}
	}
	return nil
}

// Add adds a vector to a sum of the same length, in place.
func (r Ring) Add(sum, vector []byte) error {
	if len(sum) != len(vector) || r.check() != nil || len(sum)%r.Size(1) != 0 {
		return errVector
	}
	r.combine(sum, vector, bits.Add64)
	return nil
}

// Encode returns integers as elements: reduced modulo 2^Bits.
func (r Ring) Encode(values []*big.Int) ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	out := make([]byte, r.Size(len(values)))
	one := big.NewInt(1)
	modulus := new(big.Int).Lsh(one, uint(r.Bits))
	reduced, word, low := new(big.Int), new(big.Int), new(big.Int).SetUint64(^uint64(0))
	for i, v := range values {
		if v == nil {
			return nil, errors.New("encode values: one is missing")
		}
		reduced.Mod(v, modulus)
		for w := range r.words() {
			binary.LittleEndian.PutUint64(out[(i*r.words()+w)*8:], word.And(reduced, low).Uint64())
			reduced.Rsh(reduced, 64)
		}
	}
	return out, nil
}

// Lift returns a vector's elements as integers of (−2^(Bits−1), 2^(Bits−1)]: what was added
// up, if its absolute value is below that.
func (r Ring) Lift(vector []byte) ([]*big.Int, error) {
	if r.check() != nil || len(vector)%r.Size(1) != 0 {
		return nil, errVector
	}
	half := new(big.Int).Lsh(big.NewInt(1), uint(r.Bits-1))
	modulus := new(big.Int).Lsh(half, 1)
	out := make([]*big.Int, len(vector)/r.Size(1))
	word := new(big.Int)
	for i := range out {
		x := new(big.Int)
		for w := r.words() - 1; w >= 0; w-- {
			x.Lsh(x, 64).Or(x, word.SetUint64(binary.LittleEndian.Uint64(vector[(i*r.words()+w)*8:])))
		}
		if x.Cmp(half) > 0 {
			x.Sub(x, modulus)
		}
		out[i] = x
	}
	return out, nil
}
