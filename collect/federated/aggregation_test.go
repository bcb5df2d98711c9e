package federated

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
)

// added is a plan whose updates go to aggregators.
func added(p Plan, way Way, colluding int, names ...string) Plan {
	v := *p.Privacy
	v.Place, p.Privacy = "", &v
	p.Aggregation, p.Aggregators = way, &Aggregators{Names: names, Colluding: colluding}
	return p
}

// One person moves what a node hands to aggregators, count included, by at most the plan's distance, as
// integers, after clamping; and what rounds of it cost is what Rho says, at most.
func TestAPersonMovesAVectorByTheDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := added(persons(3), Prio3, 0, "leader", "helper-1")
		p.Aggregators.Bits = rapid.SampledFrom([]uint{22, 36}).Draw(t, "bits")
		p.Privacy.Clip = rapid.SampledFrom([]float64{1, 0.3, 1e-6}).Draw(t, "clip")
		if rapid.Bool().Draw(t, "adaptive") {
			p.Privacy.Adaptive = &Adaptive{Quantile: 0.5, Noise: rapid.SampledFrom([]float64{0.1, 5, 300}).Draw(t, "noise of the count")}
		}
		n := rapid.IntRange(2, 12).Draw(t, "persons")
		all := &example.Set{Width: 2, Classes: 2, Outputs: 1}
		for u := range n {
			all.Features = append(all.Features, rapid.Float32Range(-1, 1).Draw(t, "x"), rapid.Float32Range(-1, 1).Draw(t, "y"))
			all.Labels, all.Units = append(all.Labels, rapid.Int32Range(0, 1).Draw(t, "label")), append(all.Units, int32(u))
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		rows := make([]int, n-1)
		for i := range rows {
			rows[i] = i + 1
		}
		turns := make([]uint16, n)
		with, without := must(NewPart(p, "a", all, turns)), must(NewPart(p, "a", all.Pick(rows), turns[1:]))
		weights := []float32{rapid.Float32Range(-5, 5).Draw(t, "w"), 1, 0.5}
		a := must(p.Vector(must(with.Update(ctx, nil, 0, weights, p.Privacy.Clip))))
		b := must(p.Vector(must(without.Update(ctx, nil, 0, weights, p.Privacy.Clip))))
		square := new(big.Int)
		for j := range a {
			d := big.NewInt(a[j] - b[j])
			square.Add(square, d.Mul(d, d))
			if most := int64(1) << (p.NumberBits() - 1); a[j] < -most || a[j] >= most {
				t.Fatalf("a number %d does not fit %d bits", a[j], p.NumberBits())
			}
		}
		distance := must(p.Distance())
		if new(big.Rat).SetInt(square).Cmp(distance) > 0 {
			t.Fatalf("a person moves the vector by the square %v, more than %v", square, distance)
		}
		for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
			rho, squared, err := p.Collection(privacy.Distance(n))
			if err != nil {
				t.Fatal(err)
			}
			variance := new(big.Rat).Quo(squared, new(big.Rat).Add(rho, rho))
			if variance.Cmp(must(p.Privacy.Variance())) != 0 {
				t.Fatalf("aggregators draw noise of variance %v", variance)
			}
			if d := privacy.Distance(n); squared.Cmp(d.Mul(d, d).Mul(d, distance)) < 0 {
				t.Fatal("the task states less than the distance")
			}
			rounds := new(big.Rat).Mul(rho, big.NewRat(int64(p.Rounds), 1))
			// Both are rounded up, to 17 digits.
			if all := must(p.Rho(n)).Rat(); rounds.Cmp(all.Mul(all, big.NewRat(1e15+1, 1e15))) > 0 {
				t.Fatalf("%d rounds cost %v, the plan says %v", p.Rounds, rounds, all)
			}
		}
	})
}

// Clamping brings no two vectors apart, so that sums beyond the bits are as private as others.
func TestClampedVectors(t *testing.T) {
	p := added(persons(1), Prio3, 0, "leader", "helper-1")
	p.Aggregators.Bits = 22
	most := int64(1)<<21 - 1
	a := must(p.Vector(Update{Sum: []int64{most + 5, -most - 1<<40, 7}}))
	b := must(p.Vector(Update{Sum: []int64{most + 5 - cost.One, -most - 1<<40, 7}}))
	if !slices.Equal(a, []int64{most, -most, 7}) || a[0]-b[0] < 0 || a[0]-b[0] > cost.One {
		t.Errorf("%v and %v", a, b)
	}
}

// A total gives the model that the same sum gives without aggregators.
func TestJoinTotal(t *testing.T) {
	for _, adaptive := range []bool{false, true} {
		central := persons(2)
		central.Privacy.Place = AtNodes // nobody adds noise to what is joined
		if adaptive {
			central.Privacy.Adaptive = &Adaptive{Quantile: 0.5, Noise: 10}
		}
		p := added(central, Shares, 1, "leader", "helper-1", "helper-2")
		a, b := must(central.Begin()), must(p.Begin())
		for range 2 {
			total, declared := make([]*big.Int, 0), map[string]int64{"a": 30, "b": 30}
			var answers []Answer
			for i, name := range []string{"a", "b"} {
				set := people(30, i)
				u := must(must(NewPart(p, name, set, make([]uint16, 30))).Update(ctx, nil, a.Round, a.Weights, a.Clip))
				answers = append(answers, Answer{Node: name, Declared: 30, Update: u})
				for j, x := range must(p.Vector(u)) {
					if j == len(total) {
						total = append(total, new(big.Int))
					}
					total[j].Add(total[j], big.NewInt(x))
				}
			}
			if err := a.Join(central, nil, answers); err != nil {
				t.Fatal(err)
			}
			if err := b.JoinTotal(p, must(p.Unvector(total)), declared); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(a.Weights, b.Weights) || math.Abs(a.Clip-b.Clip) > 1e-12 || b.Round != 2 || b.Took["a"] != 2 {
			t.Errorf("adaptive %v: %v and %v, clips %v and %v", adaptive, a.Weights, b.Weights, a.Clip, b.Clip)
		}
	}
	p := added(nodesPlan(2), Prio3, 0, "leader", "helper-1")
	p.Nodes.Minimum, p.Most = 2, 1
	s := must(p.Begin())
	sum := Update{Sum: make(Integers, 3)}
	if err := s.JoinTotal(p, sum, map[string]int64{"a": 1}); !errors.Is(err, ErrTooFew) {
		t.Errorf("one of two: %v", err)
	}
	if err := s.JoinTotal(p, Update{Sum: make(Integers, 2)}, map[string]int64{"a": 1, "b": 1}); err == nil {
		t.Error("a total of other weights is joined")
	}
	if err := s.JoinTotal(p, sum, map[string]int64{"a": 1, "b": 1}); err != nil {
		t.Error(err)
	}
	if err := s.JoinTotal(p, sum, map[string]int64{"a": 1, "c": 1}); err == nil {
		t.Error("a node takes part more often than the plan says")
	}
	if err := s.Join(p, nil, nil); err == nil {
		t.Error("a plan with aggregators takes updates in the clear")
	}
	if _, err := p.Unvector([]*big.Int{new(big.Int).Lsh(big.NewInt(1), 70)}); err == nil {
		t.Error("a total beyond integers")
	}
}

// The certificate says who has to be trusted, and against whom it holds, by each way; epsilon is that of
// the same noise at a coordinator.
func TestCertificatesOfAggregators(t *testing.T) {
	central := must(persons(4).Certify(privacy.AddRemove))
	for want, p := range map[string]Plan{
		"one of the aggregators leader, helper-1, ":                  added(persons(4), Prio3, 0, "leader", "helper-1"),
		"2 of the 3 aggregators leader, helper-1, helper-2, each to": added(persons(4), Shares, 1, "leader", "helper-1", "helper-2"),
	} {
		c := must(p.Certify(privacy.AddRemove))
		if len(c.Trusted) != 2 || !strings.HasPrefix(c.Trusted[1], want) || c.Guarantee.Epsilon != central.Guarantee.Epsilon {
			t.Errorf("trusted %q, epsilon %v", c.Trusted, c.Guarantee.Epsilon)
		}
		notes := strings.Join(c.Notes, "\n")
		for _, says := range []string{"against the coordinator, which sees the noisy sum alone", "computational", "covered by k² times"} {
			if !strings.Contains(notes, says) {
				t.Errorf("%s: the notes do not say %q: %s", p.Aggregation, says, notes)
			}
		}
	}
}

func TestRefusalsOfAggregators(t *testing.T) {
	for name, spoil := range map[string]func(*Plan){
		"a way that is none":       func(p *Plan) { p.Aggregation = "prio" },
		"aggregators in the clear": func(p *Plan) { p.Aggregation, p.Privacy.Place = Clear, AtCoordinator },
		"no aggregators":           func(p *Plan) { p.Aggregators = nil },
		"one aggregator":           func(p *Plan) { p.Aggregators.Names = []string{"leader"} },
		"one twice":                func(p *Plan) { p.Aggregators.Names = []string{"leader", "leader"} },
		"a name that is none":      func(p *Plan) { p.Aggregators.Names = []string{"leader", "../x"} },
		"fewer who collude":        func(p *Plan) { p.Aggregators.Colluding = 1 },
		"shares of two":            func(p *Plan) { p.Aggregation, p.Aggregators.Colluding = Shares, 1 },
		"shares and all collude":   func(p *Plan) { p.Aggregation = Shares },
		"whole noise as Skellam":   func(p *Plan) { p.Aggregators.Shares = mechanism.BySkellam },
		"shares as Laplace noise": func(p *Plan) {
			p.Aggregation, p.Aggregators = Shares, &Aggregators{Names: []string{"a", "b", "c"}, Colluding: 1, Shares: "laplace"}
		},
		"no guarantee":              func(p *Plan) { p.Privacy = nil },
		"noise of a coordinator":    func(p *Plan) { p.Privacy.Place = AtCoordinator },
		"a tree":                    func(p *Plan) { p.Privacy.Method = FTRL },
		"a median":                  func(p *Plan) { p.Join.Rule = Median },
		"few bits":                  func(p *Plan) { p.Aggregators.Bits = 8 },
		"more than a node proves":   func(p *Plan) { p.Network = line(90_000) },
		"noise of a count too wide": func(p *Plan) { p.Privacy.Noise, p.Privacy.Adaptive = 1e-3, &Adaptive{Quantile: 0.5, Noise: 1 << 20} },
		"aggregators' noise in the clear": func(p *Plan) {
			p.Aggregation, p.Aggregators, p.Privacy.Place = "", nil, AtAggregators
		},
	} {
		p := added(nodesPlan(4), Prio3, 0, "leader", "helper-1")
		spoil(&p)
		if err := p.Validate(); !errors.Is(err, ErrPlan) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := added(nodesPlan(4), Prio3, 0, "leader", "helper-1")
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	p = added(nodesPlan(4), Shares, 1, "leader", "helper-1", "helper-2")
	p.Aggregators.Shares = mechanism.BySkellam
	if err := p.Validate(); err != nil || !strings.Contains(p.against(), "Skellam") {
		t.Error(err, p.against())
	}
}
