package federated

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
	"pgregory.net/rapid"
)

// The distance of the theorem is that of the nodes which cost.Tree draws, found by trying
// all sets of rounds that a unit may have.
func TestTreeSensitivity(t *testing.T) {
	for rounds := 1; rounds <= 11; rounds++ {
		tree, draws := cost.Tree{}, 0
		below := [][]int{} // the rounds below each drawn node
		for s := 1; s <= rounds; s++ {
			if err := tree.Grow(func() ([]float64, error) { draws++; return []float64{float64(draws)}, nil }); err != nil {
				t.Fatal(err)
			}
			size := s & -s
			node := []int{}
			for r := s - size; r < s; r++ {
				node = append(node, r)
			}
			below = append(below, node)
			if got := tree.Level[len(tree.Level)-1]; s == 1<<(len(tree.Level)-1) && got[0] != float64(draws) {
				t.Fatalf("round %d: the new node is not the highest", s)
			}
		}
		for _, every := range []int{1, 2, 4, 8} {
			for most := 1; most <= rounds; most++ {
				want := int64(0)
			sets:
				for set := range 1 << rounds {
					blocks, n := map[int]bool{}, 0
					for r := range rounds {
						if set>>r&1 == 1 {
							if n++; blocks[r/every] || n > most {
								continue sets
							}
							blocks[r/every] = true
						}
					}
					sum := int64(0)
					for _, node := range below {
						m := int64(0)
						for _, r := range node {
							m += int64(set >> r & 1)
						}
						sum += m * m
					}
					want = max(want, sum)
				}
				if got := treeSensitivity(rounds, every, most); got != want {
					t.Fatalf("%d rounds, every %d, at most %d: %d, not %d", rounds, every, most, got, want)
				}
			}
		}
	}
	if got := treeSensitivity(64, 64, 1); got != 7 { // one round: the nodes of a path
		t.Errorf("one round of 64: %d, not 7", got)
	}
}

// The loss of plans, by hand.
func TestRho(t *testing.T) {
	tree := func(rounds, restart, every, most int) Plan {
		p := persons(rounds)
		p.Privacy.Method, p.Privacy.Restart, p.Every, p.Most = FTRL, restart, every, most
		return p
	}
	adaptive := persons(10)
	adaptive.Privacy.Adaptive = &Adaptive{Quantile: 0.5, Noise: 5}
	every := persons(10)
	every.Every = 4
	most := nodesPlan(10)
	most.Most = 2
	for name, c := range map[string]struct {
		plan Plan
		rho  string
		took int
	}{
		"ten rounds":                 {persons(10), "5", 10},
		"every fourth":               {every, "1.5", 3},
		"two of ten":                 {most, "1", 2},
		"adaptive":                   {adaptive, "5.05", 10}, // 10/(2·(2·5)²) more
		"one of a tree of 8":         {tree(8, 0, 8, 0), "2", 1},
		"one of each of two trees":   {tree(16, 8, 8, 0), "4", 2},
		"one of a tree and its rest": {tree(12, 8, 8, 0), "3.5", 2}, // 4 nodes of 8 rounds, 3 of 4
	} {
		if err := c.plan.Validate(); err != nil {
			t.Fatal(name, err)
		}
		rho := must(c.plan.Rho(privacy.AddRemove))
		if rho.String() != c.rho || c.plan.Participations() != c.took {
			t.Errorf("%s: rho %v of %d rounds, not %s of %d", name, rho, c.plan.Participations(), c.rho, c.took)
		}
		if twice := must(c.plan.Rho(privacy.ReplaceOne)); twice.Float64() != 4*rho.Float64() {
			t.Errorf("%s: rho %v where a unit is replaced", name, twice)
		}
	}
	for _, p := range []Plan{persons(100), adaptive, tree(64, 0, 8, 0)} {
		calibrated, err := p.Calibrate(must(privacy.ParseEpsilon("3")), privacy.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		c := must(calibrated.Certify(privacy.AddRemove))
		if c.Guarantee.Epsilon > 3 || c.Guarantee.Epsilon < 2.5 {
			t.Errorf("calibrated for epsilon 3: %v, with noise %v", c.Guarantee.Epsilon, calibrated.Privacy.Noise)
		}
	}
}

// One person more moves the sum of a round by a vector of norm at most One, as integers,
// whatever the examples are; nobody moves it out of turn.
func TestAPersonMovesASumByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Float32Range(-1, 1), rapid.SampledFrom([]float32{1e30, -1e30, float32(math.NaN()), float32(math.Inf(1)), 0}))
		p := persons(4)
		p.PerUnit = rapid.IntRange(1, 3).Draw(t, "examples of a person")
		p.Every = rapid.SampledFrom([]int{1, 2}).Draw(t, "every")
		p.Privacy.Clip = rapid.SampledFrom([]float64{1, 0.3, 1e-6, 77}).Draw(t, "clip")
		p.Privacy.Adaptive = &Adaptive{Quantile: 0.5, Noise: 5}
		n := rapid.IntRange(2, 6).Draw(t, "persons")
		all := &example.Set{Width: 2, Classes: 2, Outputs: 1}
		for u := range n {
			for range rapid.IntRange(1, 4).Draw(t, "examples") {
				all.Features = append(all.Features, value.Draw(t, "x"), value.Draw(t, "y"))
				all.Labels, all.Units = append(all.Labels, rapid.Int32Range(-1, 2).Draw(t, "label")), append(all.Units, int32(u))
			}
		}
		var rows []int
		for r, u := range all.Units {
			if u > 0 {
				rows = append(rows, r)
			}
		}
		turns := must(p.Turns(noise.System(), n))
		with, without := must(NewPart(p, "a", all, turns)), must(NewPart(p, "a", all.Pick(rows), turns[1:]))
		weights := []float32{rapid.Float32Range(-5, 5).Draw(t, "w"), 1, 0.5}
		for round := range p.Rounds {
			a := must(with.Update(ctx, noise.System(), round, weights, p.Privacy.Clip))
			b := must(without.Update(ctx, noise.System(), round, weights, p.Privacy.Clip))
			square := int64(0)
			for j := range a.Sum {
				square += (a.Sum[j] - b.Sum[j]) * (a.Sum[j] - b.Sum[j])
			}
			moved := a.Within - b.Within
			if square > cost.One*cost.One || moved > 1 || moved < -1 {
				t.Fatalf("round %d: one person moves the sum by %v and the count by %d", round, math.Sqrt(float64(square))/cost.One, moved)
			}
			if due := round%p.every() == int(turns[0]); due != (moved != 0) {
				t.Fatalf("round %d, turn %d of every %d: the count moves by %d", round, turns[0], p.every(), moved)
			}
		}
	})
}

// A node's whole update is within One, also with a weight.
func TestANodeMovesASumByOne(t *testing.T) {
	for _, weighing := range []Weighing{Alike, Given, Clipped} {
		p := nodesPlan(1)
		p.Network, p.Privacy.Clip = line(300), 1e-3
		p.Join.Weighing = weighing
		switch weighing {
		case Given:
			p.Join.Weights = map[string]float64{"a": 0.7}
		case Clipped:
			p.Join.Reference = 3
		}
		set := &example.Set{Width: 300, Classes: 2, Outputs: 1, Labels: []int32{0, 1, 1, 0, 1}}
		for i := range 5 * 300 {
			set.Features = append(set.Features, float32(math.Sin(float64(i*i))))
		}
		for _, n := range []int{1, 5} {
			rows := []int{0, 1, 2, 3, 4}[:n]
			u := must(must(NewPart(p, "a", set.Pick(rows), nil)).Update(ctx, noise.System(), 0, make([]float32, 301), p.Privacy.Clip))
			square := int64(0)
			for _, k := range u.Sum {
				square += k * k
			}
			want := map[Weighing]float64{Alike: 1, Given: 0.7, Clipped: min(1, float64(n)/3)}[weighing]
			if norm := math.Sqrt(float64(square)) / cost.One; square > cost.One*cost.One || norm > want || norm < 0.99*want {
				t.Errorf("%s, %d examples: a norm of %v, not %v", weighing, n, norm, want)
			}
		}
	}
}

// A node takes part as often as the plan says, and no more.
func TestParticipations(t *testing.T) {
	for _, c := range []struct {
		every, most, restart, rounds int
		method                       Method
	}{{1, 0, 0, 9, FedAvg}, {4, 0, 0, 10, FedAvg}, {2, 2, 0, 12, FedAvg}, {2, 1, 8, 20, FTRL}, {1, 3, 4, 10, FTRL}} {
		p := nodesPlan(c.rounds)
		p.Every, p.Most, p.Privacy.Method, p.Privacy.Restart = c.every, c.most, c.method, c.restart
		s := must(p.Begin())
		took := 0
		for s.Round < p.Rounds {
			answers := []Answer{{Node: "other" + fmt.Sprint(s.Round), Update: Update{Sum: make([]int64, 3)}}}
			mine := Answer{Node: "a", Update: Update{Sum: make([]int64, 3)}}
			if s.May(p, "a") {
				answers = append(answers, mine)
				took++
			} else if err := s.Join(p, noise.System(), append(answers, mine)); err == nil {
				t.Fatalf("%+v: node a takes part in round %d, which it may not", c, s.Round)
			}
			if err := s.Join(p, noise.System(), answers); err != nil {
				t.Fatal(err)
			}
		}
		if took != p.Participations() {
			t.Errorf("%+v: %d rounds, not %d", c, took, p.Participations())
		}
	}
}

// One noise hides k parts of a person at k² times the rho; noises of k nodes add up.
func TestCertificatesCoverPersonsOfSeveralNodes(t *testing.T) {
	for place, times := range map[Place]string{AtCoordinator: "k²", AtNodes: "k"} {
		for unit, want := range map[Unit]string{Person: "covered by " + times + " times", Node: "by 4 times the rho, somebody at k nodes by 4" + times + " times"} {
			p := persons(4)
			p.Privacy.Place = place
			if p.Unit = unit; unit == Node {
				p.Local.Rate = 1
			}
			if c := must(p.Certify(privacy.AddRemove)); !strings.Contains(c.Notes[0], want) {
				t.Errorf("%s, noise at %s: %q", unit, place, c.Notes[0])
			}
		}
	}
}
