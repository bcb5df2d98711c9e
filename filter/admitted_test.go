package filter

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"testing"

	"github.com/discreet-dp/discreet/privacy/plan"
	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

func TestFilterVectors(t *testing.T) {
	var vectors []struct {
		ID, Kind string
		Params   struct {
			EpsG       json.Number `json:"eps_g"`
			DeltaG     json.Number `json:"delta_g"`
			Eps        json.Number
			Epsilons   []json.Number
			DeltaPrime json.Number `json:"delta_prime"`
		}
		Expected  json.RawMessage
		Tolerance any
	}
	if err := json.Unmarshal(must(os.ReadFile("testdata/filters.json")), &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		var events []privacy.Event
		for _, e := range v.Params.Epsilons {
			events = append(events, privacy.Pure{Epsilon: eps(e.String())})
		}
		switch v.Kind {
		case "filter_max_queries":
			var want struct{ Basic, Rogers, Whitehouse int64 }
			if err := json.Unmarshal(v.Expected, &want); err != nil {
				t.Fatal(err)
			}
			e, d := eps(v.Params.EpsG.String()), del(v.Params.DeltaG.String())
			one := privacy.Pure{Epsilon: eps(v.Params.Eps.String())}
			for m, want := range map[Measure]int64{Pure: want.Basic, Approx: want.Basic, Rogers: want.Rogers, Whitehouse: want.Whitehouse} {
				if got, err := Admitted(m, one, e, d, privacy.AddRemove); err != nil || got.Int64() != want {
					t.Errorf("%s: %s admits %v (%v), want %d", v.ID, m, got, err, want)
				}
			}
		case "rogers_filter_K":
			f := must(NewRogersFilter(eps(v.Params.EpsG.String()), del(v.Params.DeltaG.String())))
			within(t, v.ID, must(f.Bound(must(SumsOf(events, privacy.AddRemove)))), v.Expected)
		case "whitehouse_filter_K":
			f := must(New(Budget{Measure: Whitehouse, Epsilon: eps("9"), Delta: del(v.Params.DeltaPrime.String())}))
			within(t, v.ID, must(f.Implies(must(f.Charge(events, privacy.Delta{})))).Epsilon, v.Expected)
		case "filter_pure":
			var want []any
			if err := json.Unmarshal(v.Expected, &want); err != nil {
				t.Fatal(err)
			}
			spent := Total{}
			for i, p := range []string{"0.51", "0.51", "0.75"} { // ε = ln(p/(1-p))
				e := privacy.RandomizedResponse{P: rat(p), K: 2}
				b := pure1
				b.Neighbours = privacy.ReplaceOne
				f := must(New(b))
				next := spent.Add(must(f.Charge([]privacy.Event{e}, privacy.Delta{})))
				if want[i] == "reject" {
					if next.Within(f.Budget()) {
						t.Errorf("%s: admitted %v", v.ID, f.Amounts(next))
					}
					continue
				}
				spent = next
				if got := f.Amounts(spent).Epsilon.Float64(); math.Abs(got-want[i].(float64)) > 1e-15 {
					t.Errorf("%s: spent %v, want %v", v.ID, got, want[i])
				}
			}
		default:
			t.Fatalf("%s: unknown kind", v.ID)
		}
	}
	if len(vectors) == 0 {
		t.Error("no vectors")
	}
}

func within(t *testing.T, id string, got privacy.Epsilon, expected []byte) {
	t.Helper()
	want := must(numeric.ParseDecimal(string(expected)))
	if f, _ := new(big.Rat).Quo(got.Rat(), want).Float64(); math.Abs(f-1) > 1e-12 {
		t.Errorf("%s: %v, want %s", id, got.Float64(), expected)
	}
}

var all = []Measure{Pure, Approx, ZCDP, Whitehouse, RDP, GDP, Rogers}

// looped counts as a ledger does, one request after another.
func looped(t *rapid.T, m Measure, e privacy.Event, epsilon privacy.Epsilon, delta privacy.Delta, limit int64) int64 {
	if m == Rogers {
		f, spent := must(NewRogersFilter(epsilon, delta)), Sums{}
		for n := range limit {
			if spent = spent.Add(must(SumsOf([]privacy.Event{e}, privacy.AddRemove))); !f.Admits(spent) {
				return n
			}
		}
		return limit
	}
	b := Budget{Measure: m, Epsilon: epsilon, Delta: delta}
	if _, d, _ := point(e); m == Pure {
		b.Delta = privacy.Delta{}
	} else if d != nil && d.Sign() > 0 && m != Approx {
		b.SelectionDelta = delta.MulRat(big.NewRat(1, 2))
	}
	f, spent := must(New(b)), Total{}
	charge := must(f.Charge([]privacy.Event{e}, privacy.Delta{}))
	for n := range limit {
		if spent = spent.Add(charge); !spent.Within(f.Budget()) {
			return n
		}
	}
	return limit
}

func TestAdmittedIsWhatALoopAdmits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(all).Draw(t, "measure")
		epsilon := must(privacy.EpsilonFromFloat(math.Exp(rapid.Float64Range(-3, 2).Draw(t, "ln epsilon"))))
		delta := must(privacy.DeltaFromFloat(math.Exp(rapid.Float64Range(-60, -2).Draw(t, "ln delta"))))
		e := drawEvent(t)
		got, err := Admitted(m, e, epsilon, delta, privacy.AddRemove)
		if errors.Is(err, ErrUnsupported) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		limit := int64(2000)
		if m == Rogers {
			limit = 40
		}
		if got.Cmp(big.NewInt(limit)) > 0 {
			t.Skip("too many to loop")
		}
		if want := looped(t, m, e, epsilon, delta, limit+1); got.Int64() != want {
			t.Fatalf("%s admits %v %v times, a loop %d", m, e, got, want)
		}
	})
}

// The filters in the order that their theorems give, for one event, and what each
// refuses.
func TestAdmittedOfEachEvent(t *testing.T) {
	const no = -1
	for _, tc := range []struct {
		event privacy.Event
		want  [7]int64 // in the order of all
	}{
		{privacy.Pure{Epsilon: eps("0.01")}, [7]int64{100, 100, 487, 349, 490, 356, 147}},
		{privacy.Laplace{Scale: rat("100"), Sensitivity: rat("1")}, [7]int64{100, 100, 487, 349, 492, 356, 147}},
		{privacy.Exponential{Epsilon: eps("0.01")}, [7]int64{100, 100, 1948, 349, 1948, 356, 147}},
		{privacy.PermuteAndFlip{Epsilon: eps("0.01")}, [7]int64{100, 100, 487, 349, 490, 356, 147}},
		{privacy.NoisyMax{Epsilon: eps("0.01")}, [7]int64{100, 100, 487, 349, 490, 356, 147}},
		{privacy.SparseVector{Epsilon: eps("0.01")}, [7]int64{100, 100, 487, 349, 490, 356, 147}},
		{privacy.Approx{Epsilon: eps("0.01"), Delta: del("1e-8")}, [7]int64{no, 100, 50, 50, 50, 50, 50}},
		{privacy.Selection{Epsilon: eps("0.1"), Delta: del("1e-12")}, [7]int64{no, 10, 4, 3, 7, 3, 1}},
		{privacy.Gaussian{Variance: rat("10000"), SensitivitySquared: rat("1")}, [7]int64{no, no, 487, no, 487, 560, no}},
		{privacy.DiscreteGaussian{Variance: rat("10000"), SensitivitySquared: rat("1")}, [7]int64{no, no, 487, no, 487, no, no}},
		{privacy.ZCDP{Rho: rho("0.001")}, [7]int64{no, no, 24, no, 24, no, no}},
		{privacy.GDP{Mu: rat("0.01")}, [7]int64{no, no, 487, no, 487, 560, no}},
		{privacy.Tree{Sigma: rat("100"), Sensitivity: rat("1"), Leaves: 5}, [7]int64{no, no, 121, no, 121, 140, no}},
		{privacy.RDP{Orders: []*big.Rat{rat("2"), rat("64")}, Eps: []*big.Rat{rat("0.001"), rat("0.032")}}, [7]int64{no, no, no, no, 17, no, no}},
		{privacy.RDP{Orders: []*big.Rat{rat("2")}, Eps: []*big.Rat{rat("0.001")}}, [7]int64{no, no, no, no, no, no, no}},
		{privacy.Repeat{Count: 10, Event: privacy.Pure{Epsilon: eps("0.01")}}, [7]int64{10, 10, 48, 34, 49, 35, 14}},
		{privacy.Sum{Events: []privacy.Event{privacy.Pure{Epsilon: eps("0.01")}, privacy.Pure{Epsilon: eps("0.01")}}}, [7]int64{50, 50, 243, 174, 245, 178, 73}},
		{privacy.Parallel{Events: []privacy.Event{privacy.Pure{Epsilon: eps("0.001")}, privacy.Pure{Epsilon: eps("0.01")}}}, [7]int64{100, 100, 487, 349, 490, 356, 147}},
		{privacy.RandomizedResponse{P: rat("0.75"), K: 2}, [7]int64{no, no, no, no, no, no, no}}, // every unit answers
		{privacy.Poisson{Rate: rat("0.01"), Event: privacy.Pure{Epsilon: eps("1")}}, [7]int64{no, no, no, no, no, no, no}},
	} {
		for i, m := range all {
			got, err := Admitted(m, tc.event, eps("1"), del("1e-6"), privacy.AddRemove)
			var relation *privacy.RelationError
			switch {
			case tc.want[i] == no && !errors.Is(err, ErrUnsupported) && !errors.As(err, &relation):
				t.Errorf("%s admits %v %v times (%v), want a refusal", m, tc.event, got, err)
			case tc.want[i] != no && (err != nil || got.Int64() != tc.want[i]):
				t.Errorf("%s admits %v %v times (%v), want %d", m, tc.event, got, err, tc.want[i])
			}
		}
	}
}

// Under ReplaceOne a plan's sensitivities double, guarantees stay, and parts of a
// partition are not parallel.
func TestAdmittedUnderReplaceOne(t *testing.T) {
	for _, tc := range []struct {
		m     Measure
		event privacy.Event
		want  int64
	}{
		{Pure, privacy.Laplace{Scale: rat("100"), Sensitivity: rat("1")}, 50},
		{Pure, privacy.Pure{Epsilon: eps("0.01")}, 100},
		{Pure, privacy.RandomizedResponse{P: rat("0.51"), K: 2}, 24},
		{ZCDP, privacy.Gaussian{Variance: rat("10000"), SensitivitySquared: rat("1")}, 121},
		{GDP, privacy.Repeat{Count: 2, Event: privacy.Tree{Sigma: rat("100"), Sensitivity: rat("1"), Leaves: 1}}, 70},
	} {
		got, err := Admitted(tc.m, tc.event, eps("1"), del("1e-6"), privacy.ReplaceOne)
		if err != nil || got.Int64() != tc.want {
			t.Errorf("%s admits %v %v times (%v), want %d", tc.m, tc.event, got, err, tc.want)
		}
	}
	apart := privacy.Parallel{Events: []privacy.Event{privacy.Pure{Epsilon: eps("0.01")}, privacy.Pure{Epsilon: eps("0.01")}}}
	if n, err := Admitted(Pure, apart, eps("1"), del("1e-6"), privacy.ReplaceOne); !errors.Is(err, ErrUnsupported) {
		t.Errorf("parallel events under replace-one: %v, %v", n, err)
	}
}

// The whole sensible range is answered, and in no time that depends on the answer.
func TestAdmittedRange(t *testing.T) {
	for _, e := range []string{"1e-6", "1", "100", "1000000"} {
		for _, d := range []string{"1e-300", "1e-100", "1e-6", "0.3"} {
			for _, one := range []string{"1e-300", "1e-9", "0.5", "1000000"} {
				for _, m := range all {
					if _, err := Admitted(m, privacy.Pure{Epsilon: eps(one)}, eps(e), del(d), privacy.AddRemove); err != nil {
						t.Errorf("%s, epsilon %s, delta %s, event %s: %v", m, e, d, one, err)
					}
				}
			}
		}
	}
	if n, err := Admitted(Approx, privacy.Approx{Epsilon: eps("0.1"), Delta: del("1e-60")}, eps("1"), del("1e-50"), 0); err == nil {
		t.Errorf("a delta below the unit is admitted %v times", n)
	}
}

// An event of any size is charged, counted and spent, or refused: nobody panics, and no
// charge is nothing.
func TestChargesInEveryDecade(t *testing.T) {
	for _, form := range []string{"gaussian(%s)", "laplace(%s)", "discrete_gaussian(%s)", "discrete_laplace(%s)", "skellam(%s)", "tree(%s, 1e9)", "pure(%s)", "exponential(%s)",
		"permute_and_flip(%s)", "noisy_max(%s)", "sparse_vector(%s)", "zcdp(%s)", "gdp(%s)", "rdp(2: %s)", "approx(%s, 1e-300)", "selection(%s, 0.1)",
		"randomized_response(%s)", "1e12*(1e12*gaussian(%s))", "1e12*laplace(%s)"} {
		for _, decade := range []string{"1e-300", "1e-100", "1e-15", "1e-6", "0.51", "1.1", "30", "1e6", "1e7", "1e100", "1e300"} {
			text := fmt.Sprintf(form, decade)
			p, err := plan.Parse(text)
			if err != nil {
				continue
			}
			e, err := p.Event()
			if err != nil {
				continue
			}
			for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
				for _, m := range all {
					count, err := Admitted(m, e, eps("1"), del("1e-6"), n)
					if err == nil && count.Sign() < 0 || err != nil && len(err.Error()) < 20 {
						t.Errorf("%s under %v: %s admits %v, %v", text, n, m, count, err)
					}
				}
				if s, err := SpentOf([]privacy.Event{privacy.OfPlan(e, n)}, n); err == nil && s.Squares.Sign() == 0 && s.Delta.Sign() == 0 {
					t.Errorf("%s under %v: an odometer counts nothing", text, n)
				}
			}
		}
	}
}
