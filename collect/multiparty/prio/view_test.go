package prio_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/collect/multiparty/prio"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
)

// A dump is what all aggregators have of a batch of two clients when it is collected.
type dump struct {
	inputs   [2][][]byte    // of each client: the share that each aggregator opens
	messages [2][][]byte    // each aggregator's message in the first step: everybody has all
	outputs  [2]prio.Vector // what the coalition's shares of each client add up to
	total    int64          // what all shares and the honest aggregator's noise add up to
}

// A leak is a fault that the test must catch.
type leak string

const (
	tight     leak = ""
	oneHas    leak = "one of the coalition has the honest share, too"
	inMessage leak = "the honest message has the share in it"
)

// carryOut counts two contributions at three aggregators, of whom one is honest, by the parts that
// processes run. What the others draw as noise they know.
func carryOut(t *testing.T, p *prio.Prio3, law mechanism.Additive, votes [2]uint64, honest int, l leak) (out dump) {
	t.Helper()
	field := p.Field()
	all := field.Zero(1)
	for i, vote := range votes {
		c, err := p.Shard([]uint64{vote})
		if err != nil {
			t.Fatal(err)
		}
		states, messages := make([]prio.State, 3), make([][]byte, 3)
		for a := range states {
			if states[a], messages[a], err = p.Prepare(prio.Key{1}, a, c.Nonce, c.Public, c.Shares[a]); err != nil {
				t.Fatal(err)
			}
		}
		message, err := p.Combine(messages)
		if err != nil {
			t.Fatal(err)
		}
		out.inputs[i], out.messages[i], out.outputs[i] = c.Shares, messages, field.Zero(1)
		for a := range states {
			share, err := p.Finish(states[a], message)
			if err != nil {
				t.Fatal(err)
			}
			if err := field.Add(all, share); err != nil {
				t.Fatal(err)
			}
			if a == honest && l == inMessage {
				out.messages[i][a] = append(field.Write(share), messages[a]...)
			}
			if a != honest || l == oneHas {
				if err := field.Add(out.outputs[i], share); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := field.AddNoise(noise.System(), all, law); err != nil {
		t.Fatal(err)
	}
	total, err := field.Unshard([]prio.Vector{all, field.Zero(1)})
	if err != nil {
		t.Fatal(err)
	}
	out.total = total[0].Int64()
	return out
}

// cell sorts what a coalition has of a dump into one of 216 cells: by bits of its shares of both clients and of
// the honest message, by what its shares of the first client are together, alone and with the beginning of that
// message, and by the total.
func (d dump) cell(p *prio.Prio3, honest int) int {
	bit := func(data []byte, i int) int { return int(data[i] & 1) }
	small := func(x *big.Int) int { // of a uniform element: never
		if x.IsInt64() && x.Int64() < 1000 {
			return 1 + int(x.Int64()&1)
		}
		return 0
	}
	others := slices.DeleteFunc([]int{0, 1, 2}, func(a int) bool { return a == honest })
	field := p.Field()
	with := field.Zero(1)
	if begins, err := field.Read(d.messages[0][honest][:8], 1); err == nil {
		with = begins
	}
	sum := new(big.Int).Add(d.outputs[0][0], with[0])
	sum.Mod(sum, new(big.Int).SetUint64(18446744069414584321))
	out := bit(d.inputs[0][others[0]], 0)
	for _, next := range []struct{ of, values int }{
		{bit(d.inputs[1][others[1]], 0), 2}, {bit(d.messages[0][honest], 3), 2},
		{small(d.outputs[0][0]), 3}, {small(sum), 3}, {int(min(max(d.total-1, -1), 1)) + 1, 3},
	} {
		out = out*next.values + next.of
	}
	return out
}

// All that two of three aggregators have when a batch is collected, and the total, is of one distribution for
// two inputs of equal totals: whether the first client or the second has voted. Each coalition is tested by
// 1,200 batches of each input, by chi-square; a right protocol fails with probability below 1e-9 each (Laurent
// and Massart 2000: k + 2√(kx) + 2x, e^-x = 1e-9). Planted leaks are rejected, and so are inputs of other totals,
// which differ by what one honest noise lets through.
func TestTwoOfThreeAggregatorsSeeTheTotalAlone(t *testing.T) {
	t.Parallel()
	p, law := instance(t, prio.Circuit{Kind: prio.Count}, 3, "task"), laplace(t, "1")
	differ := func(a, b [2]uint64, honest, batches int, l leak) bool {
		seen := map[int]*[2]float64{}
		for i, votes := range [][2]uint64{a, b} {
			for range batches {
				cell := carryOut(t, p, law, votes, honest, l).cell(p, honest)
				if seen[cell] == nil {
					seen[cell] = &[2]float64{}
				}
				seen[cell][i]++
			}
		}
		// Cells that few batches fall into are one: the statistic's law is then near that of chi-square.
		statistic, cells, rest := 0.0, 0, [2]float64{}
		add := func(n [2]float64) {
			e := (n[0] + n[1]) / 2
			statistic, cells = statistic+2*(n[0]-e)*(n[0]-e)/e, cells+1
		}
		for _, n := range seen {
			if n[0]+n[1] < 20 {
				rest[0], rest[1] = rest[0]+n[0], rest[1]+n[1]
				continue
			}
			add(*n)
		}
		if rest[0]+rest[1] > 0 {
			add(rest)
		}
		k, x := float64(cells-1), 9*math.Ln10
		return statistic > k+2*math.Sqrt(k*x)+2*x
	}
	first, second, both := [2]uint64{1, 0}, [2]uint64{0, 1}, [2]uint64{1, 1}
	for honest := range 3 {
		if differ(first, second, honest, 1200, tight) {
			t.Errorf("all but aggregator %d tell two inputs of equal totals apart", honest)
		}
	}
	for honest, l := range map[int]leak{0: oneHas, 1: inMessage} {
		if !differ(first, second, honest, 400, l) {
			t.Errorf("%s: not found, the test has no power", l)
		}
	}
	if !differ(first, both, 1, 2500, tight) {
		t.Error("inputs whose totals differ by 1 look alike under noise of epsilon 1: the test has no power")
	}
}
