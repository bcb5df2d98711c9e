package prio_test

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/collect/multiparty/prio"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// circuits are one of each kind, with contributions and what is none.
func circuits() map[string]struct {
	prio.Circuit
	some, none [][]uint64
} {
	return map[string]struct {
		prio.Circuit
		some, none [][]uint64
	}{
		"count":          {prio.Circuit{Kind: prio.Count}, [][]uint64{{1}, {0}, {1}}, [][]uint64{{2}, {}, {1, 1}}},
		"sum:200":        {prio.Circuit{Kind: prio.Sum, Max: 200}, [][]uint64{{200}, {0}, {17}}, [][]uint64{{201}, {1 << 63}}},
		"sumvec:4:8:3":   {prio.Circuit{Kind: prio.SumVec, Length: 4, Bits: 8, Chunk: 3}, [][]uint64{{0, 255, 3, 4}, {1, 1, 1, 1}}, [][]uint64{{256, 0, 0, 0}, {1, 2, 3}}},
		"histogram:5:2":  {prio.Circuit{Kind: prio.Histogram, Length: 5, Chunk: 2}, [][]uint64{{0}, {4}, {4}, {2}}, [][]uint64{{5}}},
		"multihot:6:2:3": {prio.Circuit{Kind: prio.Multihot, Length: 6, Weight: 2, Chunk: 3}, [][]uint64{{1, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 0}, {0, 1, 0, 0, 0, 0}}, [][]uint64{{1, 1, 1, 0, 0, 0}, {2, 0, 0, 0, 0, 0}, {1}}},
	}
}

// expected is what contributions add up to.
func expected(c prio.Circuit, all [][]uint64) []int64 {
	out := make([]int64, c.Values())
	for _, m := range all {
		if c.Kind == prio.Histogram {
			out[m[0]]++
			continue
		}
		for i, x := range m {
			out[i] += int64(x)
		}
	}
	return out
}

func instance(t testing.TB, c prio.Circuit, aggregators int, context string) *prio.Prio3 {
	t.Helper()
	p, err := prio.New(c, aggregators, []byte(context))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// prepare has all aggregators take a contribution, and returns their shares of it.
func prepare(p *prio.Prio3, key prio.Key, c *prio.Contribution) ([]prio.Vector, error) {
	states, messages := make([]prio.State, p.Aggregators), make([][]byte, p.Aggregators)
	var err error
	for i := range states {
		if states[i], messages[i], err = p.Prepare(key, i, c.Nonce, c.Public, c.Shares[i]); err != nil {
			return nil, err
		}
	}
	message, err := p.Combine(messages)
	if err != nil {
		return nil, err
	}
	out := make([]prio.Vector, p.Aggregators)
	for i := range out {
		if out[i], err = p.Finish(states[i], message); err != nil {
			return nil, err
		}
	}
	return out, nil
}

var key = prio.Key{1, 2, 3}

// Contributions of each kind add up, among two to five aggregators; what is none of the kind is
// refused where it is made.
func TestContributionsAddUp(t *testing.T) {
	for name, c := range circuits() {
		for _, n := range []int{2, 3, 5} {
			p := instance(t, c.Circuit, n, "task")
			f := p.Field()
			sums := make([]prio.Vector, n)
			for i := range sums {
				sums[i] = f.Zero(p.Values())
			}
			for _, m := range c.some {
				one, err := p.Shard(m)
				if err != nil {
					t.Fatal(err)
				}
				shares, err := prepare(p, key, one)
				if err != nil {
					t.Fatalf("%s, %d aggregators: %v", name, n, err)
				}
				for i := range sums {
					if err := f.Add(sums[i], shares[i]); err != nil {
						t.Fatal(err)
					}
				}
			}
			total, err := f.Unshard(sums)
			if err != nil {
				t.Fatal(err)
			}
			if want := expected(c.Circuit, c.some); fmt.Sprint(total) != fmt.Sprint(want) {
				t.Errorf("%s, %d aggregators: %v, want %v", name, n, total, want)
			}
			for _, m := range c.none {
				if _, err := p.Shard(m); !errors.Is(err, prio.ErrInvalid) {
					t.Errorf("%s: %v is split: %v", name, m, err)
				}
			}
		}
	}
}

// Noise is signed: an empty batch has counts below zero, which the library's own unshard
// refuses. Of 400 values none is below zero with probability 2^-200 (P(K < 0) > 0.3).
func TestNoiseBelowZeroIsNoError(t *testing.T) {
	p := instance(t, prio.Circuit{Kind: prio.Histogram, Length: 400, Chunk: 20}, 2, "task")
	f := p.Field()
	epsilon, err := privacy.ParseEpsilon("0.5")
	if err != nil {
		t.Fatal(err)
	}
	l1, _ := p.Sensitivity()
	law, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: new(big.Rat).SetInt(l1), Epsilon: epsilon})
	if err != nil {
		t.Fatal(err)
	}
	shares := []prio.Vector{f.Zero(400), f.Zero(400)}
	for _, s := range shares {
		if err := f.AddNoise(noise.System(), s, law); err != nil {
			t.Fatal(err)
		}
	}
	total, err := f.Unshard(shares)
	if err != nil {
		t.Fatal(err)
	}
	below := 0
	for _, v := range total {
		if v.CmpAbs(big.NewInt(1000)) > 0 { // with probability below e^-500: the unshard that is not centred gives p − 1
			t.Fatalf("the noise on nothing is %v", v)
		}
		if v.Sign() < 0 {
			below++
		}
	}
	if below == 0 {
		t.Error("no value is below zero")
	}
	if ok, err := f.Holds(1_000_000, 1, 2, law); err != nil || !ok {
		t.Errorf("a million votes do not fit: %v", err)
	}
	if ok, err := (prio.Circuit{Kind: prio.Sum, Max: 1 << 60}).Field().Holds(16, 1<<60, 2, law); err != nil || ok {
		t.Errorf("16 numbers of 2^60 fit a field of 64 bits: %v", err)
	}
}

// Each byte of a contribution or of a message is changed, cut or lengthened: it is refused, no
// goroutine panics, and what is refused changes nothing.
func TestDamagedContributionsAreRefused(t *testing.T) {
	for name, c := range circuits() {
		p := instance(t, c.Circuit, 2, "task")
		good, err := p.Shard(c.some[0])
		if err != nil {
			t.Fatal(err)
		}
		refused := func(what string, f func(c *prio.Contribution)) {
			t.Helper()
			bad := &prio.Contribution{Nonce: good.Nonce, Public: slices.Clone(good.Public), Shares: [][]byte{slices.Clone(good.Shares[0]), slices.Clone(good.Shares[1])}}
			f(bad)
			if _, err := prepare(p, key, bad); !errors.Is(err, prio.ErrInvalid) {
				t.Errorf("%s with %s passes: %v", name, what, err)
			}
		}
		for _, of := range []struct {
			name string
			pick func(*prio.Contribution) *[]byte
		}{{"public share", func(c *prio.Contribution) *[]byte { return &c.Public }}, {"first share", func(c *prio.Contribution) *[]byte { return &c.Shares[0] }}, {"second share", func(c *prio.Contribution) *[]byte { return &c.Shares[1] }}} {
			n := len(*of.pick(good))
			for at := 0; at < n; at += max(1, n/7) {
				refused(fmt.Sprintf("byte %d of its %s", at, of.name), func(c *prio.Contribution) { (*of.pick(c))[at] ^= 1 })
			}
			refused("a longer "+of.name, func(c *prio.Contribution) { *of.pick(c) = append(*of.pick(c), 0) })
			if n > 0 {
				refused("a shorter "+of.name, func(c *prio.Contribution) { *of.pick(c) = (*of.pick(c))[:n-1] })
				refused("no "+of.name, func(c *prio.Contribution) { *of.pick(c) = nil })
			}
		}
		refused("its shares exchanged", func(c *prio.Contribution) { c.Shares[0], c.Shares[1] = c.Shares[1], c.Shares[0] })
		if name != "count" && name != "sum:200" { // without joint randomness the nonce and the task bind the query alone
			refused("another nonce", func(c *prio.Contribution) { c.Nonce[0] ^= 1 })
		}
		other := instance(t, c.Circuit, 2, "another task")
		if _, err := prepare(other, key, good); !errors.Is(err, prio.ErrInvalid) {
			t.Errorf("%s of another task passes: %v", name, err)
		}
		// Aggregators with different keys query differently.
		s0, m0, err := p.Prepare(key, 0, good.Nonce, good.Public, good.Shares[0])
		if err != nil {
			t.Fatal(err)
		}
		_, m1, err := p.Prepare(prio.Key{9}, 1, good.Nonce, good.Public, good.Shares[1])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Combine([][]byte{m0, m1}); !errors.Is(err, prio.ErrInvalid) {
			t.Errorf("%s passes under two keys: %v", name, err)
		}
		if _, err := p.Combine([][]byte{m0}); !errors.Is(err, prio.ErrInvalid) {
			t.Errorf("%s passes with one message: %v", name, err)
		}
		if _, err := p.Finish(s0, []byte("x")); !errors.Is(err, prio.ErrInvalid) {
			t.Errorf("%s ends with a message of another length: %v", name, err)
		}
		if _, err := p.Finish(prio.State{}, nil); !errors.Is(err, prio.ErrInvalid) {
			t.Errorf("%s ends without a state: %v", name, err)
		}
		if _, _, err := p.Prepare(key, 2, good.Nonce, good.Public, good.Shares[0]); !errors.Is(err, prio.ErrInvalid) {
			t.Errorf("%s is prepared by a third of two: %v", name, err)
		}
	}
}

// A client that deviates from the protocol makes a vote of two: it splits what is no
// contribution of this circuit by one that admits it.
func TestContributionsThatAreNoneAreRefused(t *testing.T) {
	for _, c := range []struct {
		of, by prio.Circuit
		m      []uint64
	}{
		{prio.Circuit{Kind: prio.Multihot, Length: 6, Weight: 2, Chunk: 3}, prio.Circuit{Kind: prio.Multihot, Length: 6, Weight: 3, Chunk: 3}, []uint64{1, 1, 1, 0, 0, 0}},
		{prio.Circuit{Kind: prio.Sum, Max: 100}, prio.Circuit{Kind: prio.Sum, Max: 127}, []uint64{127}},
	} {
		forged, err := instance(t, c.by, 2, "task").Shard(c.m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := prepare(instance(t, c.of, 2, "task"), key, forged); !errors.Is(err, prio.ErrInvalid) {
			t.Errorf("%v of %+v counts: %v", c.m, c.of, err)
		}
	}
}

func TestCircuitsThatThereAreNot(t *testing.T) {
	for _, c := range []prio.Circuit{{}, {Kind: "mean"}, {Kind: prio.Count, Max: 1}, {Kind: prio.Sum}, {Kind: prio.Sum, Max: 1 << 63}, {Kind: prio.SumVec, Length: 3, Chunk: 1},
		{Kind: prio.SumVec, Length: 3, Bits: 64, Chunk: 1}, {Kind: prio.Histogram, Length: 3}, {Kind: prio.Histogram, Chunk: 1}, {Kind: prio.Histogram, Length: 3, Chunk: 4},
		{Kind: prio.Histogram, Length: 1 << 30, Chunk: 1}, {Kind: prio.Multihot, Length: 3, Weight: 4, Chunk: 1}, {Kind: prio.Multihot, Length: 3, Chunk: 1}} {
		if _, err := prio.New(c, 2, nil); !errors.Is(err, prio.ErrCircuit) {
			t.Errorf("%+v is a circuit: %v", c, err)
		}
	}
	for _, n := range []int{-1, 0, 1, 256, 257} {
		if _, err := prio.New(prio.Circuit{Kind: prio.Count}, n, nil); !errors.Is(err, prio.ErrCircuit) {
			t.Errorf("%d aggregators: %v", n, err)
		}
	}
}

// Each goroutine has an instance of its own, and the shares that they make fit together.
func TestInstancesWorkAtOnce(t *testing.T) {
	c := prio.Circuit{Kind: prio.Histogram, Length: 5, Chunk: 2}
	var all sync.WaitGroup
	for range 8 {
		p := instance(t, c, 2, "task")
		all.Go(func() {
			for i := range 5 {
				one, err := p.Shard([]uint64{uint64(i)})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := prepare(p, key, one); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// One of two shares of a contribution is of one distribution whatever was contributed: here
// the first byte of the leader's share, of 4,000 contributions of 0 and of 1 each, in 16 cells;
// false-reject probability below 1e-9 (chi-square above 89 with 15 degrees of freedom).
func TestOneShareTellsNothing(t *testing.T) {
	p := instance(t, prio.Circuit{Kind: prio.Count}, 2, "task")
	var seen [2][16]float64
	for vote := range seen {
		for range 4000 {
			c, err := p.Shard([]uint64{uint64(vote)})
			if err != nil {
				t.Fatal(err)
			}
			seen[vote][c.Shares[0][0]>>4]++
		}
	}
	statistic := 0.0
	for i := range seen[0] {
		e := (seen[0][i] + seen[1][i]) / 2
		for vote := range seen {
			statistic += (seen[vote][i] - e) * (seen[vote][i] - e) / e
		}
	}
	if statistic > 89 {
		t.Errorf("the shares of 0 and 1 differ: chi-square %v", statistic)
	}
}

func TestSignedNumbers(t *testing.T) {
	all := [][]int64{{-8, 7, 0}, {-1, -8, 3}}
	total := []*big.Int{new(big.Int), new(big.Int), new(big.Int)}
	for _, numbers := range all {
		m, err := prio.Signed(numbers, 4)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range m {
			if x > 15 {
				t.Errorf("%d is written as %d, which has more than 4 bits", numbers[i], x)
			}
			total[i].Add(total[i], new(big.Int).SetUint64(x))
		}
	}
	if got := prio.Unsigned(total, 2, 4); fmt.Sprint(got) != "[-9 -1 3]" {
		t.Errorf("the total is %v, want [-9 -1 3]", got)
	}
	for _, bad := range []struct {
		x    int64
		bits uint
	}{{-9, 4}, {8, 4}, {0, 0}, {0, 64}, {1 << 62, 62}} {
		if _, err := prio.Signed([]int64{bad.x}, bad.bits); !errors.Is(err, prio.ErrInvalid) {
			t.Errorf("%d has %d bits: %v", bad.x, bad.bits, err)
		}
	}
}

func FuzzPrepare(f *testing.F) {
	c := prio.Circuit{Kind: prio.SumVec, Length: 2, Bits: 3, Chunk: 2}
	p, err := prio.New(c, 2, []byte("task"))
	if err != nil {
		f.Fatal(err)
	}
	good, err := p.Shard([]uint64{1, 7})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(0, good.Public, good.Shares[0], []byte("message"))
	f.Add(1, good.Public, good.Shares[1], []byte{})
	f.Fuzz(func(t *testing.T, id int, public, share, message []byte) {
		state, own, err := p.Prepare(key, id, good.Nonce, public, share)
		if err != nil {
			return
		}
		if out, err := p.Combine([][]byte{own, message}); err == nil {
			p.Finish(state, out) // no panic is what is looked for
		}
	})
}
