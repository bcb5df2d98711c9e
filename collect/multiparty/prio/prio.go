// Package prio has people contribute numbers that nobody sees one by one: each contribution
// is split into shares for aggregators, with a proof that it is one of those that may be. It
// is Prio3 (VDAF, drafts 13 to 17: VERSION 12), by the library circl.
//
// It guarantees that a contribution that is not of its circuit (a vote of two, a value above
// the largest) is refused, if all aggregators follow the protocol; that a contribution counts
// once in a batch; and that the aggregate is a signed number, so that noise below zero is no
// error. With one honest aggregator the others see nothing of a contribution that they could
// compute without it: shares are compressed by a generator, so that this is computational.
//
// It does not guarantee anything against an aggregator that deviates, of who contributes, nor
// that an aggregate without noise is private: aggregators add it to their shares.
package prio

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/cloudflare/circl/vdaf/prio3/count"
	"github.com/cloudflare/circl/vdaf/prio3/histogram"
	"github.com/cloudflare/circl/vdaf/prio3/mhcv"
	"github.com/cloudflare/circl/vdaf/prio3/sum"
	"github.com/cloudflare/circl/vdaf/prio3/sumvec"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// A Kind is what contributions are.
type Kind string

// The kinds.
const (
	Count     Kind = "count"     // 0 or 1
	Sum       Kind = "sum"       // a number from 0 to Max
	SumVec    Kind = "sumvec"    // Length numbers below 2^Bits
	Histogram Kind = "histogram" // one of Length places
	Multihot  Kind = "multihot"  // Length numbers of 0 or 1, at most Weight of them 1
)

// A Circuit says which contributions there are. What a kind does not need is 0.
type Circuit struct {
	Kind   Kind   `json:"kind"`
	Max    uint64 `json:"max,omitempty"`
	Length uint   `json:"length,omitempty"`
	Bits   uint   `json:"bits,omitempty"`
	Weight uint   `json:"weight,omitempty"`
	// Chunk is the length of the proof's chunks; about the root of what is proved is fastest.
	Chunk uint `json:"chunk,omitempty"`
}

// Bounds of circuits: what is larger takes seconds for one contribution.
const (
	maxLength     = 100_000
	maxBits       = 64
	maxAggregates = 255
)

func (c Circuit) check(aggregators int) error {
	bad := func(what string) error { return fmt.Errorf("%w: %s", ErrCircuit, what) }
	vector := c.Kind == SumVec || c.Kind == Histogram || c.Kind == Multihot
	switch {
	case aggregators < 2 || aggregators > maxAggregates:
		return bad("want 2 to 255 aggregators")
	case vector && (c.Length < 1 || c.Length > maxLength || c.Chunk < 1 || c.Chunk > c.Length*max(1, c.Bits)):
		return bad("a length or a chunk is out of its range")
	case !vector && (c.Length != 0 || c.Chunk != 0), c.Kind != SumVec && c.Bits != 0, c.Kind != Multihot && c.Weight != 0, c.Kind != Sum && c.Max != 0:
		return bad("it has a number that its kind has no use for")
	case c.Kind == Sum && (c.Max < 1 || c.Max >= 1<<62):
		return bad("the largest number is out of its range")
	case c.Kind == SumVec && (c.Bits < 1 || c.Bits > maxBits-1):
		return bad("the bits are out of their range")
	case c.Kind == Multihot && (c.Weight < 1 || c.Weight > c.Length):
		return bad("the weight is out of its range")
	}
	return nil
}

// BestChunk is the length of chunks with which a circuit's proof is about the shortest: the root of
// what is proved. 0 where there are no chunks.
func (c Circuit) BestChunk() uint {
	proved := c.Length * max(1, c.Bits)
	return uint(math.Round(math.Sqrt(float64(proved))))
}

// Values is how many numbers an aggregate has.
func (c Circuit) Values() int { return max(1, int(c.Length)) }

// most is what a value of one contribution is at most.
func (c Circuit) most() uint64 {
	switch c.Kind {
	case Sum:
		return c.Max
	case SumVec:
		return 1<<c.Bits - 1
	}
	return 1
}

// Sensitivity is how far adding or removing one contribution moves the aggregate, in L1 and in
// the square of L2.
//
// Replacing one by another moves it by at most twice as much in L1, and four times in the square
// of L2. Buckets demand that.
//
// A contribution of a number moves it by Max; of a vector of numbers each by 2^Bits − 1; of a
// place one by 1; of a multihot vector Weight of them by 1.
func (c Circuit) Sensitivity() (l1, l2squared *big.Int) {
	moved, each := big.NewInt(1), new(big.Int).SetUint64(c.most())
	switch c.Kind {
	case SumVec:
		moved.SetUint64(uint64(c.Length))
	case Multihot:
		moved.SetUint64(uint64(c.Weight))
	}
	l1 = new(big.Int).Mul(moved, each)
	return l1, new(big.Int).Mul(l1, each)
}

// A Distance is how far a unit moves an aggregate: in L1, and in the square of L2.
type Distance struct{ L1, L2Squared *big.Rat }

// Replaced is how far replacing one contribution by another moves the aggregate: one goes and
// another comes.
func (c Circuit) Replaced() Distance {
	l1, l2squared := c.Sensitivity()
	return Distance{new(big.Rat).SetInt(l1.Lsh(l1, 1)), new(big.Rat).SetInt(l2squared.Lsh(l2squared, 2))}
}

// ErrCircuit is a circuit that there is not.
var ErrCircuit = errors.New("no such circuit")

// ErrInvalid is a contribution, or a message about one, that is not what it should be.
var ErrInvalid = errors.New("invalid contribution")

// A Contribution is one person's, split. Nonce is its name: random, and seen once.
type Contribution struct {
	Nonce  [16]byte
	Public []byte
	Shares [][]byte // one for each aggregator
}

// A Key is the aggregators' secret, drawn before the first contribution: who knew it while
// contributing could pass what is no contribution.
type Key [32]byte

// A Prio3 splits and prepares contributions of one circuit and one task. It is not safe for
// concurrent use: the library's state is not. A goroutine has its own.
type Prio3 struct {
	Circuit
	Aggregators int
	engine      engine
}

// New returns an instance. context names the task: contributions of another are invalid.
func New(c Circuit, aggregators int, context []byte) (*Prio3, error) {
	if err := c.check(aggregators); err != nil {
		return nil, err
	}
	n := uint8(aggregators)
	p := &Prio3{Circuit: c, Aggregators: aggregators}
	open := (*count.PrepMessage).New
	var err error
	switch c.Kind {
	case Count:
		var v *count.Count
		v, err = count.New(n, context)
		p.engine = adapt(v, n, open, func(m []uint64) (bool, error) { return m[0] == 1, one(m, 1) })
	case Sum:
		var v *sum.Sum
		v, err = sum.New(n, c.Max, context)
		p.engine = adapt(v, n, open, func(m []uint64) (uint64, error) { return m[0], one(m, c.Max) })
	case SumVec:
		var v *sumvec.SumVec
		v, err = sumvec.New(n, c.Length, c.Bits, c.Chunk, context)
		p.engine = adapt(v, n, open, func(m []uint64) ([]uint64, error) { return m, every(m, c.Length, uint64(1)<<c.Bits-1) })
	case Histogram:
		var v *histogram.Histogram
		v, err = histogram.New(n, c.Length, c.Chunk, context)
		p.engine = adapt(v, n, open, func(m []uint64) (uint64, error) { return m[0], one(m, uint64(c.Length)-1) })
	case Multihot:
		var v *mhcv.MultiHotCountVec
		v, err = mhcv.New(n, c.Length, c.Weight, c.Chunk, context)
		p.engine = adapt(v, n, open, func(m []uint64) ([]bool, error) {
			hot := make([]bool, len(m))
			weight := uint(0)
			for i, x := range m {
				if hot[i] = x == 1; hot[i] {
					weight++
				}
			}
			if weight > c.Weight {
				return nil, fmt.Errorf("%w: its weight is too large", ErrInvalid)
			}
			return hot, every(m, c.Length, 1)
		})
	default:
		return nil, fmt.Errorf("%w: kind %q", ErrCircuit, c.Kind)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCircuit, err)
	}
	return p, nil
}

func one(m []uint64, most uint64) error { return every(m, 1, most) }

func every(m []uint64, length uint, most uint64) error {
	if uint(len(m)) != length {
		return fmt.Errorf("%w: it has %d numbers, not %d", ErrInvalid, len(m), length)
	}
	for _, x := range m {
		if x > most {
			return fmt.Errorf("%w: a number is above %d", ErrInvalid, most)
		}
	}
	return nil
}

// Shard splits a contribution: one number, or a number for each place of a vector.
func (p *Prio3) Shard(contribution []uint64) (*Contribution, error) {
	if len(contribution) == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrInvalid)
	}
	out := &Contribution{}
	random := make([]byte, p.engine.randomness())
	bits := entropy.New()
	if _, err := bits.Read(out.Nonce[:]); err != nil {
		return nil, err
	}
	if _, err := bits.Read(random); err != nil {
		return nil, err
	}
	var err error
	out.Public, out.Shares, err = p.engine.shard(contribution, out.Nonce, random)
	return out, err
}

// A State is what an aggregator keeps of a contribution between the two steps.
type State struct{ of any }

// Prepare is the first step of an aggregator with its share: the message for the others.
func (p *Prio3) Prepare(key Key, aggregator int, nonce [16]byte, public, share []byte) (State, []byte, error) {
	if aggregator < 0 || aggregator >= p.Aggregators {
		return State{}, nil, fmt.Errorf("%w: there is no aggregator %d", ErrInvalid, aggregator)
	}
	state, message, err := p.engine.prepare(key, uint8(aggregator), nonce, public, share)
	if err != nil {
		return State{}, nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return State{state}, message, nil
}

// Combine makes of all aggregators' messages, in their order, the one that ends the second
// step. It refuses a contribution that is not of the circuit.
func (p *Prio3) Combine(messages [][]byte) ([]byte, error) {
	if len(messages) != p.Aggregators {
		return nil, fmt.Errorf("%w: the message of an aggregator is missing", ErrInvalid)
	}
	out, err := p.engine.combine(messages)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return out, nil
}

// Finish is the second step: the aggregator's share of what the contribution adds.
func (p *Prio3) Finish(s State, message []byte) (Vector, error) {
	out, err := p.engine.finish(s.of, message)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return p.Field().Read(out, p.Values())
}

// An engine is one of the library's types behind bytes.
type engine interface {
	randomness() uint
	shard(m []uint64, nonce [16]byte, random []byte) (public []byte, shares [][]byte, err error)
	prepare(key Key, id uint8, nonce [16]byte, public, share []byte) (state any, message []byte, err error)
	combine(messages [][]byte) ([]byte, error)
	finish(state any, message []byte) ([]byte, error)
}

// scheme is what the library's types have in common: of measurement, parameters, input share,
// preparation share, state and output share.
type scheme[M, P, I, S, T, O any] interface {
	Params() P
	Shard(m M, nonce *count.Nonce, random []byte) (count.PublicShare, []I, error)
	PrepInit(key *count.VerifyKey, nonce *count.Nonce, id uint8, public count.PublicShare, share I) (*T, *S, error)
	PrepSharesToPrep(shares []S) (*count.PrepMessage, error)
	PrepNext(state *T, message *count.PrepMessage) (*O, error)
}

type (
	inputShare[I, P any] interface {
		*I
		New(p *P, id uint) *I
		encoding.BinaryMarshaler
		encoding.BinaryUnmarshaler
	}
	prepShare[S, P any] interface {
		*S
		New(p *P) *S
		encoding.BinaryMarshaler
		encoding.BinaryUnmarshaler
	}
	outShare[O any] interface {
		*O
		encoding.BinaryMarshaler
	}
	parameters[P any] interface {
		*P
		RandSize() uint
		JointRandLength() uint
	}
)

type adapter[M, P, I, S, T, O any, PP parameters[P], IP inputShare[I, P], SP prepShare[S, P], OP outShare[O]] struct {
	of      scheme[M, P, I, S, T, O]
	shares  uint8
	measure func([]uint64) (M, error)
	open    func(*count.PrepMessage, *P) *count.PrepMessage // the library's type P has no name outside it
}

func adapt[M, P, I, S, T, O any, PP parameters[P], IP inputShare[I, P], SP prepShare[S, P], OP outShare[O]](of scheme[M, P, I, S, T, O], shares uint8, open func(*count.PrepMessage, *P) *count.PrepMessage, measure func([]uint64) (M, error)) engine {
	return adapter[M, P, I, S, T, O, PP, IP, SP, OP]{of, shares, measure, open}
}

func (a adapter[M, P, I, S, T, O, PP, IP, SP, OP]) randomness() uint {
	p := a.of.Params()
	return PP(&p).RandSize()
}

func (a adapter[M, P, I, S, T, O, PP, IP, SP, OP]) shard(m []uint64, nonce [16]byte, random []byte) ([]byte, [][]byte, error) {
	measurement, err := a.measure(m)
	if err != nil {
		return nil, nil, err
	}
	n := count.Nonce(nonce)
	public, shares, err := a.of.Shard(measurement, &n, random)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	out := make([][]byte, len(shares))
	for i := range shares {
		if out[i], err = IP(&shares[i]).MarshalBinary(); err != nil {
			return nil, nil, err
		}
	}
	return public, out, nil
}

func (a adapter[M, P, I, S, T, O, PP, IP, SP, OP]) prepare(key Key, id uint8, nonce [16]byte, public, share []byte) (any, []byte, error) {
	p := a.of.Params()
	want := 0
	if PP(&p).JointRandLength() > 0 {
		want = 32 * int(a.shares)
	}
	if len(public) != want {
		return nil, nil, errors.New("the public share has another length")
	}
	var in I
	IP(&in).New(&p, uint(id))
	if err := IP(&in).UnmarshalBinary(share); err != nil {
		return nil, nil, errors.New("the share cannot be read")
	}
	k, n := count.VerifyKey(key), count.Nonce(nonce)
	state, prep, err := a.of.PrepInit(&k, &n, id, public, in)
	if err != nil {
		return nil, nil, err
	}
	message, err := SP(prep).MarshalBinary()
	return state, message, err
}

func (a adapter[M, P, I, S, T, O, PP, IP, SP, OP]) combine(messages [][]byte) ([]byte, error) {
	p := a.of.Params()
	shares := make([]S, len(messages))
	for i, m := range messages {
		SP(&shares[i]).New(&p)
		if err := SP(&shares[i]).UnmarshalBinary(m); err != nil {
			return nil, errors.New("a message cannot be read")
		}
	}
	out, err := a.of.PrepSharesToPrep(shares)
	if err != nil {
		return nil, err
	}
	return out.MarshalBinary()
}

func (a adapter[M, P, I, S, T, O, PP, IP, SP, OP]) finish(state any, message []byte) ([]byte, error) {
	s, ok := state.(*T)
	if !ok {
		return nil, errors.New("the state is of another circuit")
	}
	p := a.of.Params()
	var m count.PrepMessage
	if PP(&p).JointRandLength() > 0 {
		if len(message) != 32 {
			return nil, errors.New("the message has another length")
		}
		if err := a.open(&m, &p).UnmarshalBinary(message); err != nil {
			return nil, err
		}
	} else if len(message) != 0 {
		return nil, errors.New("the message has another length")
	}
	out, err := a.of.PrepNext(s, &m)
	if err != nil {
		return nil, err
	}
	return OP(out).MarshalBinary()
}
