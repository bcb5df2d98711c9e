package filter

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/privacy"
)

var (
	pure1   = Budget{Measure: Pure, Epsilon: eps("1")}
	approx1 = Budget{Measure: Approx, Epsilon: eps("1"), Delta: del("1e-6")}
	zcdp3   = Budget{Measure: ZCDP, Epsilon: eps("3"), Delta: del("1e-7"), SelectionDelta: del("5e-8")}
)

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

// spend charges event again and again and returns how often it was admitted.
func spend(t *testing.T, f Filter, event privacy.Event, delta privacy.Delta, limit int) int {
	t.Helper()
	var spent Total
	for n := range limit {
		charge, err := f.Charge([]privacy.Event{event}, delta)
		if err != nil {
			t.Fatal(err)
		}
		next := spent.Add(charge)
		if !next.Within(f.Budget()) {
			return n
		}
		spent = next
	}
	return limit
}

func TestAdmitted(t *testing.T) {
	gauss := privacy.DiscreteGaussian{Variance: rat("100"), SensitivitySquared: rat("1")} // rho = 0.005
	for _, tc := range []struct {
		name   string
		budget Budget
		event  privacy.Event
		delta  string
		want   int
	}{
		{"ten times 0.1 is 1", pure1, privacy.Pure{Epsilon: eps("0.1")}, "0", 10},
		{"attack F3: small spends don't drift", pure1, privacy.Pure{Epsilon: eps("1e-4")}, "0", 10000},
		{"an ulp too much is too much", pure1, privacy.Pure{Epsilon: eps("0.1000000000000000000000000000000000000001")}, "0", 9},
		{"a third is rounded up", pure1, privacy.Pure{Epsilon: eps("1/3")}, "0", 2},
		{"three thirds in one request fit", pure1, privacy.Repeat{Count: 3, Event: privacy.Pure{Epsilon: eps("1/3")}}, "0", 1},
		{"discrete Laplace costs S/b", pure1, privacy.DiscreteLaplace{Scale: rat("30"), Sensitivity: rat("6")}, "0", 5},
		{"Laplace too", approx1, privacy.Laplace{Scale: rat("10"), Sensitivity: rat("1")}, "0", 10},
		{"delta runs out first", approx1, privacy.Selection{Epsilon: eps("0.01"), Delta: del("2e-7")}, "0", 5},
		{"the request's delta is charged with Gaussian noise", approx1, gauss, "5e-7", 2},
		{"but not without", approx1, privacy.Pure{Epsilon: eps("0.1")}, "5e-7", 10},
		{"zcdp: 0.1504... by 0.005", zcdp3, gauss, "0", 30},
		{"zcdp: an epsilon costs half its square", zcdp3, privacy.Pure{Epsilon: eps("0.1")}, "0", 30},
		{"zcdp: selection's delta is its own", zcdp3, privacy.Selection{Epsilon: eps("0.001"), Delta: del("1e-8")}, "0", 5},
		{"zcdp: so is approx's", zcdp3, privacy.Approx{Epsilon: eps("0.001"), Delta: del("1e-8")}, "0", 5},
		{"zcdp: rho as it is", zcdp3, privacy.ZCDP{Rho: rho("0.1")}, "0", 1},
	} {
		f, err := New(tc.budget)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got := spend(t, f, tc.event, del(tc.delta), tc.want+1); got != tc.want {
			t.Errorf("%s: admitted %d times, want %d", tc.name, got, tc.want)
		}
	}
}

// Attack F2: an amount too small for the books must still be booked.
func TestNothingIsFree(t *testing.T) {
	for _, b := range []Budget{pure1, approx1, zcdp3} {
		charge := must(must(New(b)).Charge([]privacy.Event{privacy.Pure{Epsilon: eps("1e-300")}}, privacy.Delta{}))
		if charge.Loss.String() != "1" {
			t.Errorf("%s: an epsilon of 1e-300 costs %v units", b.Measure, charge.Loss)
		}
	}
}

// The zcdp budget is the largest rho whose conversion at what selection leaves of
// delta stays within epsilon.
func TestZCDPBudgetIsTheLargestWithinEpsilon(t *testing.T) {
	f, err := New(zcdp3)
	if err != nil {
		t.Fatal(err)
	}
	budget := f.Amounts(f.Budget())
	if e := must(ZCDPEpsilon(budget.Rho, del("5e-8"))); e.Float64() > 3 || e.Float64() < 3*(1-1e-9) {
		t.Errorf("rho %v is epsilon %v, want just below 3", budget.Rho, e)
	}
	if !budget.Delta.Equal(del("5e-8")) {
		t.Errorf("selection has delta %v", budget.Delta)
	}
}

func TestRefusedBudgets(t *testing.T) {
	for name, b := range map[string]Budget{
		"no epsilon":                   {Measure: Pure},
		"epsilon below the resolution": {Measure: Pure, Epsilon: eps("1e-41")},
		"pure with delta":              {Measure: Pure, Epsilon: eps("1"), Delta: del("1e-6")},
		"delta below the resolution":   {Measure: Approx, Epsilon: eps("1"), Delta: del("1e-41")},
		"approx with selection_delta":  {Measure: Approx, Epsilon: eps("1"), Delta: del("1e-6"), SelectionDelta: del("1e-7")},
		"zcdp without delta":           {Measure: ZCDP, Epsilon: eps("1")},
		"zcdp, all delta to selection": {Measure: ZCDP, Epsilon: eps("1"), Delta: del("1e-6"), SelectionDelta: del("1e-6")},
		"zcdp, more than all":          {Measure: ZCDP, Epsilon: eps("1"), Delta: del("1e-6"), SelectionDelta: del("1e-5")},
		"delta above 1":                {Measure: Approx, Epsilon: eps("1"), Delta: del("0.7").Add(del("0.7"))},
		"no measure":                   {Epsilon: eps("1")},
		"unknown measure":              {Measure: "pld", Epsilon: eps("1"), Delta: del("1e-6")},
	} {
		if f, err := New(b); err == nil {
			t.Errorf("%s: admitted with budget %v", name, f.Budget())
		}
	}
}

func TestRefusedEvents(t *testing.T) {
	gauss := privacy.Gaussian{Variance: rat("100"), SensitivitySquared: rat("1")}
	for _, tc := range []struct {
		name        string
		budget      Budget
		event       privacy.Event
		unsupported bool
	}{
		{"Gaussian under pure", pure1, gauss, true},
		{"rho under pure", pure1, privacy.ZCDP{Rho: rho("0.1")}, true},
		{"selection under pure", pure1, privacy.Selection{Epsilon: eps("0.1"), Delta: del("1e-9")}, true},
		{"a hidden one", pure1, privacy.Repeat{Count: 2, Event: gauss}, true},
		{"Gaussian without a delta", approx1, gauss, false},
		{"a rho beyond all measure", approx1, privacy.DiscreteGaussian{Variance: rat("1"), SensitivitySquared: rat("1e40")}, false},
		{"no noise", pure1, privacy.DiscreteLaplace{Scale: rat("0"), Sensitivity: rat("1")}, false},
		{"negative noise", zcdp3, privacy.DiscreteGaussian{Variance: rat("-1"), SensitivitySquared: rat("1")}, false},
		{"a missing parameter", zcdp3, privacy.Laplace{}, false},
		{"nothing", zcdp3, nil, false},
	} {
		f := must(New(tc.budget))
		charge, err := f.Charge([]privacy.Event{tc.event}, privacy.Delta{})
		if err == nil || errors.Is(err, ErrUnsupported) != tc.unsupported {
			t.Errorf("%s: charge %v, error %v", tc.name, charge, err)
		}
	}
	if _, err := must(New(pure1)).Charge(nil, privacy.Delta{}); err == nil {
		t.Error("a request without events is admitted")
	}
}

func drawEvent(t *rapid.T) privacy.Event {
	positive := func(name string) *big.Rat {
		return big.NewRat(rapid.Int64Range(1, 1000).Draw(t, name), rapid.Int64Range(1, 1000).Draw(t, name+" by"))
	}
	epsilon := must(privacy.NewEpsilon(positive("eps")))
	delta := must(privacy.DeltaFromFloat(math.Exp(rapid.Float64Range(-40, -12).Draw(t, "ln delta"))))
	return rapid.SampledFrom([]privacy.Event{
		privacy.DiscreteLaplace{Scale: positive("b"), Sensitivity: positive("S")},
		privacy.Laplace{Scale: positive("b"), Sensitivity: positive("S")},
		privacy.DiscreteGaussian{Variance: positive("V"), SensitivitySquared: positive("S²")},
		privacy.Gaussian{Variance: positive("V"), SensitivitySquared: positive("S²")},
		privacy.Selection{Epsilon: epsilon, Delta: delta},
		privacy.Approx{Epsilon: epsilon, Delta: delta},
		privacy.Pure{Epsilon: epsilon},
		privacy.ZCDP{Rho: must(privacy.NewRho(positive("rho")))},
	}).Draw(t, "event")
}

// A charge is never below the exact loss, and exceeds it by less than two units;
// charging events together never costs more than apart, nor repeated than each.
func TestChargesAreRoundedAgainstTheSpender(t *testing.T) {
	unit := Units{big.NewInt(1)}.Rat()
	rapid.Check(t, func(t *rapid.T) {
		f := must(New(zcdp3))
		events := rapid.SliceOfN(rapid.Custom(drawEvent), 1, 4).Draw(t, "events")
		together := must(f.Charge(events, privacy.Delta{}))
		var apart Total
		exact, delta := new(big.Rat), new(big.Rat)
		for _, e := range events {
			apart = apart.Add(must(f.Charge([]privacy.Event{e}, privacy.Delta{})))
			r, d := exactZCDP(e)
			exact.Add(exact, r)
			delta.Add(delta, d)
		}
		if !together.Within(apart) {
			t.Fatalf("together %v, apart %v", together, apart)
		}
		for _, c := range []struct{ got, want *big.Rat }{{together.Loss.Rat(), exact}, {together.Delta.Rat(), delta}} {
			if over := new(big.Rat).Sub(c.got, c.want); over.Sign() < 0 || over.Cmp(unit) >= 0 {
				t.Fatalf("charged %v for %v", c.got, c.want)
			}
		}
		n := rapid.IntRange(1, 9).Draw(t, "n")
		repeated := must(f.Charge([]privacy.Event{privacy.Repeat{Count: n, Event: events[0]}}, privacy.Delta{}))
		times := make([]privacy.Event, n)
		for i := range times {
			times[i] = events[0]
		}
		if listed := must(f.Charge(times, privacy.Delta{})); listed.Loss.Cmp(repeated.Loss) != 0 || listed.Delta.Cmp(repeated.Delta) != 0 {
			t.Fatalf("%d times %v costs %v, listed %v", n, events[0], repeated, listed)
		}
	})
}

// exactZCDP states the charges of the zcdp filter a second time.
func exactZCDP(e privacy.Event) (rho, delta *big.Rat) {
	half := func(x *big.Rat) *big.Rat { return new(big.Rat).Quo(x, big.NewRat(2, 1)) }
	square := func(x *big.Rat) *big.Rat { return new(big.Rat).Mul(x, x) }
	zero := new(big.Rat)
	switch e := e.(type) {
	case privacy.DiscreteLaplace:
		return half(square(new(big.Rat).Quo(e.Sensitivity, e.Scale))), zero
	case privacy.Laplace:
		return half(square(new(big.Rat).Quo(e.Sensitivity, e.Scale))), zero
	case privacy.DiscreteGaussian:
		return half(new(big.Rat).Quo(e.SensitivitySquared, e.Variance)), zero
	case privacy.Gaussian:
		return half(new(big.Rat).Quo(e.SensitivitySquared, e.Variance)), zero
	case privacy.Selection:
		return half(square(e.Epsilon.Rat())), e.Delta.Rat()
	case privacy.Approx:
		return half(square(e.Epsilon.Rat())), e.Delta.Rat()
	case privacy.Pure:
		return half(square(e.Epsilon.Rat())), zero
	case privacy.ZCDP:
		return e.Rho.Rat(), zero
	}
	panic("unknown event")
}

// Under approx, the Gaussian events of one request are converted together: that
// costs less than one by one, and exactly what the conversion says.
func TestApproxConvertsJointly(t *testing.T) {
	f := must(New(approx1))
	g := privacy.DiscreteGaussian{Variance: rat("800"), SensitivitySquared: rat("1")}
	d := del("1e-7")
	one := must(f.Charge([]privacy.Event{g}, d))
	four := must(f.Charge([]privacy.Event{g, g, g, g}, d))
	if four.Delta.Cmp(one.Delta) != 0 || four.Loss.Rat().Cmp(new(big.Rat).Mul(one.Loss.Rat(), big.NewRat(3, 1))) > 0 {
		t.Errorf("four cost %v, one %v", f.Amounts(four), f.Amounts(one))
	}
	want := must(ZCDPEpsilon(rho("0.0025"), d))
	if got := f.Amounts(four); !got.Epsilon.Equal(want) && got.Epsilon.Cmp(want) < 0 {
		t.Errorf("four cost %v, the conversion says %v", got.Epsilon, want)
	}
	mixed := must(f.Charge([]privacy.Event{g, privacy.Selection{Epsilon: eps("0.25"), Delta: del("1e-8")}}, d))
	if got := f.Amounts(mixed); !got.Delta.Equal(del("1.1e-7")) || got.Epsilon.Cmp(f.Amounts(one).Epsilon.Add(eps("0.25"))) != 0 {
		t.Errorf("Gaussian and selection cost %v", got)
	}
}

func TestUnitsText(t *testing.T) {
	var u Units
	for _, bad := range []string{`""`, `"-1"`, `"1.5"`, `"x"`, `"1e9"`, `"+1"`} {
		if err := json.Unmarshal([]byte(bad), &u); err == nil {
			t.Errorf("%s is read as %v units", bad, u)
		}
	}
	want := must(New(zcdp3)).Budget()
	var got Total
	data := must(json.Marshal(want))
	if err := json.Unmarshal(data, &got); err != nil || got.Loss.Cmp(want.Loss) != 0 || got.Delta.Cmp(want.Delta) != 0 {
		t.Errorf("%s reads back as %v, %v", data, got, err)
	}
	if left := (Total{}).Left(want); left.Loss.Cmp(want.Loss) != 0 {
		t.Errorf("of nothing spent, %v is left", left)
	}
	if over := want.Add(want).Left(want); over.Loss.Sign() != 0 || over.Delta.Sign() != 0 {
		t.Errorf("of twice the budget, %v is left", over)
	}
}
