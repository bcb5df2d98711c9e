package prio

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/noise"
)

// A Field is the integers modulo a prime, over which shares are.
type Field struct {
	prime *big.Int
	size  int // of an element, in bytes
}

// Field64 and Field128 are those of VDAF (section 6.1): 2^32·4294967295 + 1 and
// 2^66·4611686018427387897 + 1.
func field(text string, size int) Field {
	p, _ := new(big.Int).SetString(text, 10)
	return Field{p, size}
}

// Field is the circuit's.
func (c Circuit) Field() Field {
	if c.Kind == Count || c.Kind == Sum {
		return field("18446744069414584321", 8)
	}
	return field("340282366920938462946865773367900766209", 16)
}

// A Vector is a list of elements of a field: an aggregator's share.
type Vector []*big.Int

// errVector refuses bytes that are no vector of the field.
var errVector = errors.New("this is no vector of the field")

// Read reads a vector of n elements, each with its lowest byte first.
func (f Field) Read(data []byte, n int) (Vector, error) {
	if len(data) != n*f.size {
		return nil, errVector
	}
	out := make(Vector, n)
	for i := range out {
		part := slices.Clone(data[i*f.size : (i+1)*f.size])
		slices.Reverse(part)
		if out[i] = new(big.Int).SetBytes(part); out[i].Cmp(f.prime) >= 0 {
			return nil, errVector
		}
	}
	return out, nil
}

// Write is the inverse of Read.
func (f Field) Write(v Vector) []byte {
	out := make([]byte, len(v)*f.size)
	for i, x := range v {
		part := out[i*f.size : (i+1)*f.size]
		x.FillBytes(part)
		slices.Reverse(part)
	}
	return out
}

// Zero is the share of no contribution.
func (f Field) Zero(n int) Vector {
	out := make(Vector, n)
	for i := range out {
		out[i] = new(big.Int)
	}
	return out
}

// Add adds a vector to a sum, in place.
func (f Field) Add(sum, v Vector) error {
	if len(sum) != len(v) {
		return errVector
	}
	for i := range sum {
		sum[i].Add(sum[i], v[i]).Mod(sum[i], f.prime)
	}
	return nil
}

// A Law adds independent noise to integers.
type Law interface {
	AddTo(bits noise.Bits, values []*big.Int) error
	Bound(beta *big.Rat) (*big.Int, error)
}

// AddNoise adds the noise of a law to a share, modulo the prime. Each aggregator adds the
// whole noise, so that the aggregate is private against all others together.
func (f Field) AddNoise(bits noise.Bits, share Vector, law Law) error {
	drawn := f.Zero(len(share))
	if err := law.AddTo(bits, drawn); err != nil {
		return fmt.Errorf("add noise: %w", err)
	}
	return f.Add(share, drawn)
}

// Holds reports whether so many contributions of a circuit, each counting at most most, and
// the noise of so many aggregators, stay within half the prime, but with probability 2^-80 for
// each aggregator and value. It follows from public parameters.
func (f Field) Holds(contributions int64, most uint64, aggregators int, law Law) (bool, error) {
	reach, err := law.Bound(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 80)))
	if err != nil {
		return false, err
	}
	reach = new(big.Int).Mul(reach, big.NewInt(int64(aggregators)))
	reach.Add(reach, new(big.Int).Mul(big.NewInt(contributions), new(big.Int).SetUint64(most)))
	return reach.Lsh(reach, 1).Cmp(f.prime) < 0, nil
}

// Unshard adds up the shares of all aggregators. The values are signed: of (−p/2, p/2], since
// noise can be below zero. The library's own unshard takes numbers from 0 on, and fails there.
func (f Field) Unshard(shares []Vector) ([]*big.Int, error) {
	if len(shares) < 2 {
		return nil, errors.New("unshard: the share of an aggregator is missing")
	}
	total := f.Zero(len(shares[0]))
	for _, s := range shares {
		if err := f.Add(total, s); err != nil {
			return nil, err
		}
	}
	half := new(big.Int).Rsh(f.prime, 1)
	for _, v := range total {
		if v.Cmp(half) > 0 {
			v.Sub(v, f.prime)
		}
	}
	return total, nil
}
