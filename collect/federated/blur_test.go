package federated

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/noise"
)

// The noise of a round is drawn once where the coordinator draws it, and once a node where
// nodes do; that of prefix sums is of the tree's nodes, each with noise of its own. Each
// variance is estimated from 3,000 draws: a right one is off by more than a fifth with
// probability below 1e-13, a doubled or halved one is always.
func TestNoise(t *testing.T) {
	const draws, nodes = 3000, 3
	estimate := func(name string, p Plan, want float64) {
		t.Helper()
		square := 0.0
		for range draws / 3 { // three weights
			s := must(p.Begin())
			clear(s.Weights)
			for s.Round < p.Rounds {
				var answers []Answer
				for i := range nodes {
					u := Update{Sum: make([]int64, 3)}
					if p.Privacy.Place == AtNodes {
						b := Blur{Next: s.Round}
						if err := b.Add(p, noise.System(), s.Round, &u); err != nil {
							t.Fatal(err)
						}
					}
					answers = append(answers, Answer{Node: fmt.Sprint(i), Declared: 1, Update: u})
				}
				if err := s.Join(p, noise.System(), answers); err != nil {
					t.Fatal(err)
				}
			}
			for _, w := range s.Weights {
				square += float64(w) * float64(w) * nodes * nodes
			}
		}
		if got := square / draws; math.Abs(got/want-1) > 1.0/5 {
			t.Errorf("%s: variance %v, not %v", name, got, want)
		}
	}
	central, local := persons(1), persons(1)
	local.Privacy.Place = AtNodes
	estimate("the coordinator's", central, 1)
	estimate("the nodes'", local, nodes)
	tree := persons(7)
	tree.Privacy.Method = FTRL
	estimate("a tree's after 7 rounds", tree, 3)
	tree.Rounds = 8
	estimate("a tree's after 8 rounds", tree, 1)
	tree.Rounds, tree.Privacy.Restart = 12, 8
	estimate("of 8 rounds and 4 of the next tree", tree, 2)
}

// What two prefixes of a tree have in common is the noise of their common nodes: noise that
// was used again for another node would show. Each is estimated from 4,000 draws: a right
// one is off by a quarter with probability below 1e-20.
func TestTreesDrawForEachNode(t *testing.T) {
	const draws = 4000
	p := persons(8)
	p.Privacy.Method = FTRL
	nodesOf := func(prefix int) map[[2]int]bool {
		nodes := map[[2]int]bool{}
		for at := 0; at < prefix; {
			size := 1
			for at%(2*size) == 0 && at+2*size <= prefix {
				size *= 2
			}
			nodes[[2]int{at, size}] = true
			at += size
		}
		return nodes
	}
	var blur Blur
	products := [9][9]float64{}
	for range draws / 100 {
		blur = Blur{}
		prefix, sums := [9][]float64{}, make([]float64, 100)
		for round := range p.Rounds {
			u := Update{Sum: make([]int64, 100)}
			if err := blur.Add(p, noise.System(), round, &u); err != nil {
				t.Fatal(err)
			}
			prefix[round+1] = make([]float64, 100)
			for j, k := range u.Sum {
				sums[j] += float64(k) / cost.One
				prefix[round+1][j] = sums[j]
			}
		}
		for a := 1; a <= 8; a++ {
			for b := 1; b <= 8; b++ {
				for j := range sums {
					products[a][b] += prefix[a][j] * prefix[b][j] / draws
				}
			}
		}
	}
	for a := 1; a <= 8; a++ {
		for b := 1; b <= 8; b++ {
			common := 0
			of := nodesOf(b)
			for n := range nodesOf(a) {
				if of[n] {
					common++
				}
			}
			if got := products[a][b]; math.Abs(got-float64(common)) > 0.25*math.Sqrt(float64(len(nodesOf(a))*len(nodesOf(b))))+0.1 {
				t.Errorf("rounds %d and %d: their noise has %v in common, not %d nodes'", a, b, got, common)
			}
		}
	}
	if err := blur.Add(p, noise.System(), 3, &Update{Sum: make([]int64, 1)}); err == nil {
		t.Error("a round has noise twice")
	}
}

// A model tells no more of a node than its mu; with half the noise it would. The false-reject
// probability is 1e-9.
func TestAudit(t *testing.T) {
	const runs = 3000
	seen := func(noised float64, present bool) (k int) {
		p := nodesPlan(1)
		p.Privacy.Noise = noised
		for range runs {
			s := must(p.Begin())
			clear(s.Weights)
			u := Update{Sum: []int64{0, 0, 0}}
			if present {
				u = p.Bounded([]float32{100, 0, 0}, 1)
			}
			if err := s.Join(p, noise.System(), []Answer{{Node: "a", Update: u}}); err != nil {
				t.Fatal(err)
			}
			if s.Weights[0] < -0.5 {
				k++
			}
		}
		return k
	}
	quantile := func(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
	mu := func(noised float64) float64 {
		low, _, err := audit.ClopperPearson(seen(noised, true), runs, 5e-10)
		if err != nil {
			t.Fatal(err)
		}
		_, high, err := audit.ClopperPearson(seen(noised, false), runs, 5e-10)
		if err != nil {
			t.Fatal(err)
		}
		return quantile(low) - quantile(high)
	}
	if got := mu(1); got > 1 {
		t.Errorf("noise 1 shows mu %v", got)
	}
	if got := mu(0.5); got <= 1 {
		t.Errorf("half the noise shows only %v: the audit sees nothing", got)
	}
}
