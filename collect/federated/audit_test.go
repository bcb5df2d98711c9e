package federated

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// An attack from the adversary's place, who knows the plan, all other data and what colluders drew.
// Of a victim that is there or not it sees
//   - at one node of three, each of which adds noise: the coordinator's and both other nodes' state;
//   - where the coordinator adds the noise: the model after every round.
//
// It adds up, over the rounds, how far what it sees lies in the direction of what the victim would add
// (of a tree the first round counts three halves of the second, since its sum is seen alone too), and says
// "there" beyond so many standard deviations of the noise. The runs prove no more ε than the
// certificate claims at δ = 0.1, and a quarter of it or more; they refute half the
// noise, none, and noise that colluders alone have added. A bound of package audit fails with probability
// 1e-10, of which there are 8.
func TestAttackOnTranscripts(t *testing.T) {
	t.Parallel()
	const runs, confidence, rounds = 6000, 1 - 1e-10, 2
	bits := noise.System()
	victim := &example.Set{Width: 2, Classes: 2, Outputs: 1, Features: []float32{30, -40}, Labels: []int32{1}}
	nobody := victim.Pick(nil)

	along := func(sum []int64, direction []int64) (x float64) {
		for j, k := range sum {
			x += float64(k) * float64(direction[j]) / cost.One / cost.One
		}
		return x
	}
	weight := func(p Plan, round int) float64 {
		if p.Privacy.Method == FTRL && round == 0 {
			return 1.5
		}
		return 1
	}
	// atNodes is what the coordinator has of the victim's node: of the others' it knows all.
	atNodes := func(p Plan, noisy bool) func(there bool) float64 {
		part := must(NewPart(p, "victim", victim, nil))
		alone := must(NewPart(p, "victim", nobody, nil))
		weights := make([]float32, 3)
		direction := must(part.Update(ctx, bits, 0, weights, 1)).Sum
		return func(there bool) (x float64) {
			var blur Blur
			of := alone
			if there {
				of = part
			}
			for round := range p.Rounds {
				u := must(of.Update(ctx, bits, round, weights, 1))
				other := Update{Sum: []int64{12345, -6, int64(round) << 30}} // with noise or without
				if noisy {
					if err := blur.Add(p, bits, round, &u); err != nil {
						t.Fatal(err)
					}
				}
				sum := p.total([]Update{u, other}).Sum
				for j, k := range other.Sum { // which the colluders hand over
					sum[j] -= k
				}
				x += weight(p, round) * along(sum, direction)
			}
			return x
		}
	}
	// models is what a reader of all models has: the steps, times what they were divided by.
	models := func(p Plan) func(there bool) float64 {
		known := people(3, 1)
		turns := must(p.Turns(bits, 3))
		others, part := must(NewPart(p, "others", known, turns)), must(NewPart(p, "victim", victim, turns[:1]))
		return func(there bool) (x float64) {
			s := must(p.Begin())
			for s.Round < p.Rounds {
				before := append([]float32{}, s.Weights...)
				own := must(part.Update(ctx, bits, s.Round, before, 1))
				rest := must(others.Update(ctx, bits, s.Round, before, 1))
				answer := Answer{Node: "all", Declared: 3, Update: rest}
				if there {
					answer.Update = p.total([]Update{rest, own})
				}
				if err := s.Join(p, bits, []Answer{answer}); err != nil {
					t.Fatal(err)
				}
				seen := make([]int64, len(before))
				for j, w := range s.Weights {
					seen[j] = int64(float64(before[j]-w)/p.Server.Rate*3*cost.One) - rest.Sum[j]
				}
				x += along(seen, own.Sum)
			}
			return x
		}
	}
	proves := func(see func(there bool) float64, above float64) float64 {
		c := audit.Counts{Members: runs, Others: runs}
		for range runs {
			if see(true) > above {
				c.TruePositives++
			}
			if see(false) > above {
				c.FalsePositives++
			}
		}
		return must(c.EpsilonLowerBound(0.1, confidence))
	}
	nodes, tree, readers := nodesPlan(rounds), nodesPlan(rounds), persons(rounds)
	readers.Server.Rate, readers.Initial = 1e-3, make([]float32, 3) // where the victim's gradient is not flat
	nodes.Privacy.Place, tree.Privacy.Place, tree.Privacy.Method = AtNodes, AtNodes, FTRL
	for _, c := range []struct {
		name  string
		plan  Plan
		apart float64 // how far the sums with the victim and without lie apart, and
		noise float64 // by how much noise that is one standard deviation; both of a tree's two nodes
		see   func(Plan) func(bool) float64
	}{
		{"noise at nodes", nodes, 2, math.Sqrt2, func(p Plan) func(bool) float64 { return atNodes(p, true) }},
		{"a tree at nodes", tree, 2.5, math.Sqrt(5), func(p Plan) func(bool) float64 { return atNodes(p, true) }},
		{"models", readers, 2, math.Sqrt2, models},
	} {
		v := *c.plan.Privacy
		v.Noise, v.Delta = c.noise, must(privacy.ParseDelta("0.1"))
		c.plan.Privacy = &v
		claimed := must(c.plan.Certify(privacy.AddRemove)).Guarantee.Epsilon
		if got := proves(c.see(c.plan), c.apart); got > claimed || got < claimed/4 {
			t.Errorf("%s: the attack proves ε ≥ %v, claimed %v", c.name, got, claimed)
		}
		half := c.plan
		w := v
		w.Noise /= 2
		half.Privacy = &w
		if got := proves(c.see(half), c.apart); got <= claimed {
			t.Errorf("%s: half the noise is not refuted: %v of %v", c.name, got, claimed)
		}
	}
	nodes.Privacy.Noise, nodes.Privacy.Delta = 1, must(privacy.ParseDelta("0.1"))
	claimed := must(nodes.Certify(privacy.AddRemove)).Guarantee.Epsilon
	if got := proves(atNodes(nodes, false), rounds/2); got <= claimed || math.IsNaN(got) {
		t.Errorf("noise of a colluder alone is not refuted: %v", got)
	}
	none := readers
	none.Privacy.Noise = 1e-3
	if got := proves(models(none), rounds/2); got <= claimed {
		t.Errorf("an aggregator without noise is not refuted: %v", got)
	}
}
