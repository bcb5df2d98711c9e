package dataset

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A recorder keeps what a budget was told.
type recorder struct {
	budget.Budget
	releases []budget.Release
}

func (r *recorder) Pays() (self, payer budget.Budget) { return r, r.Budget }

func (r *recorder) Reserve(ctx context.Context, x budget.Release) (budget.Reservation, error) {
	r.releases = append(r.releases, x)
	return r.Budget.Reserve(ctx, x)
}

func zcdpBudget(n privacy.Neighbours) *budget.InMemory {
	return must(budget.NewInMemory("z", filter.Budget{
		Measure: filter.ZCDP, Epsilon: eps("100"), Delta: del("1e-6"), SelectionDelta: del("5e-7"), Neighbours: n,
	}))
}

func identity(x int64) int64 { return x }

// A release costs what was asked for; stability goes into the noise.
func TestCostIsWhatWasAskedFor(t *testing.T) {
	for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
		times := 1 + int64(n)
		r := &recorder{Budget: pureBudget("b", n)}
		d := numbers(t, r, 1, 2, 3)
		a, err := NoisyCount(ctx, noise.System(), GroupBy(SelectMany(d, 3, func(x int64) []int64 { return []int64{x} }), identity), Options{Epsilon: eps("0.5")})
		if err != nil {
			t.Fatal(err)
		}
		want := privacy.DiscreteLaplace{Scale: big.NewRat(12*times, 1), Sensitivity: big.NewRat(6*times, 1)}
		if got := r.releases[0].Events; len(got) != 1 || got[0].String() != want.String() {
			t.Errorf("under %v the events are %v, want %v", n, got, want)
		}
		if got := must(r.Left(ctx)).Epsilon.String(); got != "999.5" || a.Cost[0].Charge.Epsilon.String() != "0.5" {
			t.Errorf("%s is left, and the answer says %v", got, a.Cost)
		}
		if r.releases[0].Statement != "NoisyCount" {
			t.Errorf("the statement is %q", r.releases[0].Statement)
		}

		z := &recorder{Budget: zcdpBudget(n)}
		d = numbers(t, z, 1, 2, 3)
		if _, err := NoisyCount(ctx, noise.System(), GroupBy(d, identity), Options{Rho: rho("0.5")}); err != nil {
			t.Fatal(err)
		}
		gauss := privacy.DiscreteGaussian{Variance: big.NewRat(4*times*times, 1), SensitivitySquared: big.NewRat(4*times*times, 1)}
		if got := z.releases[0].Events; got[0].String() != gauss.String() {
			t.Errorf("under %v the events are %v, want %v", n, got, gauss)
		}
	}
}

// Every aggregation charges exactly what was asked for, of whatever kind.
func TestEveryAggregationCostsTheSame(t *testing.T) {
	f := func(x int64) float64 { return float64(x) }
	bits := noise.System()
	aggregations := map[string]func(d Dataset[int64], o Options) error{
		"count": func(d Dataset[int64], o Options) error { return second(NoisyCount(ctx, bits, d, o)) },
		"histogram": func(d Dataset[int64], o Options) error {
			return second(NoisyHistogram(ctx, bits, d, []int64{1, 2}, identity, o))
		},
		"sum": func(d Dataset[int64], o Options) error {
			return second(NoisySum(ctx, bits, d, f, SumOptions{Options: o, Upper: 5}))
		},
		"average": func(d Dataset[int64], o Options) error {
			return second(NoisyAverage(ctx, bits, d, f, SumOptions{Options: o, Upper: 5}))
		},
		"vector sum": func(d Dataset[int64], o Options) error {
			return second(NoisyVectorSum(ctx, bits, d, func(x int64) []float64 { return []float64{f(x), 1} }, VectorOptions{Options: o, Dimension: 2, Clip: 2}))
		},
	}
	choices := map[string]func(d Dataset[int64], o Options) error{
		"median": func(d Dataset[int64], o Options) error {
			return second(NoisyMedian(ctx, bits, d, f, QuantileOptions{Options: o, Upper: 5, Step: 1}))
		},
		"quantiles": func(d Dataset[int64], o Options) error {
			return second(NoisyQuantiles(ctx, bits, d, f, []float64{0.25, 0.5, 0.75}, QuantileOptions{Options: o, Upper: 5, Step: 1}))
		},
	}
	approx := filter.Budget{Measure: filter.Approx, Epsilon: eps("10"), Delta: del("1e-3")}
	check := func(name string, b *budget.InMemory, run func(Dataset[int64], Options) error, o Options, want filter.Amounts) {
		t.Helper()
		d := GroupBy(numbers(t, b, 1, 2, 3, 4), identity)
		if err := run(Select(d, 0, func(g Group[int64, int64]) int64 { return g.Key }), o); err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		got := must(b.Spent(ctx))
		off := func(a, b privacy.Quantity) bool { // conversions back round up in the 30th digit
			x, _ := a.Rat().Float64()
			y, _ := b.Rat().Float64()
			return a.Rat().Cmp(b.Rat()) > 0 || x < y*(1-1e-12)
		}
		if off(got.Epsilon, want.Epsilon) || off(got.Delta, want.Delta) || off(got.Rho, want.Rho) {
			t.Errorf("%s cost %+v, want %+v", name, got, want)
		}
	}
	for name, run := range aggregations {
		check(name, pureBudget("b", privacy.AddRemove), run, Options{Epsilon: eps("0.3")}, filter.Amounts{Epsilon: eps("0.3")})
		check(name, zcdpBudget(privacy.ReplaceOne), run, Options{Rho: rho("0.3")}, filter.Amounts{Rho: rho("0.3")})
		check(name, zcdpBudget(privacy.AddRemove), run, Options{Epsilon: eps("0.3")}, filter.Amounts{Rho: averageRho(name)})
		check(name, must(budget.NewInMemory("b", approx)), run, Options{Epsilon: eps("0.3"), Delta: del("1e-6")}, filter.Amounts{Epsilon: eps("0.3"), Delta: del("1e-6")})
	}
	for name, run := range choices {
		check(name, pureBudget("b", privacy.ReplaceOne), run, Options{Epsilon: eps("0.3")}, filter.Amounts{Epsilon: eps("0.3")})
	}
}

// averageRho is what Laplace noise of 0.3 costs as zCDP; two halves cost half.
func averageRho(name string) privacy.Rho {
	if name == "average" {
		return rho("0.0225")
	}
	return rho("0.045")
}

// Several budgets are each charged for their own stability.
func TestSeveralBudgets(t *testing.T) {
	a, b := pureBudget("a", privacy.AddRemove), pureBudget("b", privacy.AddRemove)
	joined := Join(numbers(t, a, 1, 2), SelectMany(numbers(t, b, 1, 2), 2, func(x int64) []int64 { return []int64{x} }), identity, identity)
	answer, err := NoisyCount(ctx, noise.System(), joined, Options{Epsilon: eps("0.4")})
	if err != nil {
		t.Fatal(err)
	}
	if x, y := must(a.Spent(ctx)).Epsilon.String(), must(b.Spent(ctx)).Epsilon.String(); x != "0.2" || y != "0.4" || len(answer.Cost) != 2 {
		t.Errorf("%s and %s were spent", x, y)
	}
	f := func(p Pair[int64, []int64, []int64]) float64 { return float64(p.Key) }
	if _, err := NoisyMedian(ctx, noise.System(), joined, f, QuantileOptions{Options: Options{Epsilon: eps("0.4")}, Upper: 1, Step: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := NoisyOrderStatistic(ctx, noise.System(), joined, f, 1, QuantileOptions{Options: Options{Epsilon: eps("0.4")}, Upper: 1, Step: 1}); err != nil {
		t.Fatal(err)
	}
	if x, y := must(a.Spent(ctx)).Epsilon.String(), must(b.Spent(ctx)).Epsilon.String(); x != "0.6" || y != "1.2" {
		t.Errorf("with choices %s and %s were spent", x, y)
	}
	// One of them exhausted: neither is charged.
	small := must(budget.NewInMemory("small", filter.Budget{Measure: filter.Pure, Epsilon: eps("0.1")}))
	both := Concat(numbers(t, a, 1), numbers(t, small, 1))
	_, err = NoisyCount(ctx, noise.System(), both, Options{Epsilon: eps("0.2")})
	var e *budget.ExceededError
	if !errors.As(err, &e) || e.Budget != "small" || e.Asked.Epsilon.String() != "0.2" || e.Left.Epsilon.String() != "0.1" {
		t.Errorf("%v", err)
	}
	if got := must(a.Spent(ctx)).Epsilon.String(); got != "0.6" {
		t.Errorf("a refusal cost %s", got)
	}
}

// Parts cost their maximum, and datasets that end in one budget cost their sum.
func TestPartitionCosts(t *testing.T) {
	b := pureBudget("b", privacy.ReplaceOne)
	d := numbers(t, b, 1, 2, 3, 1)
	parts := Partition(d, []int64{1, 2, 3}, identity)
	count := func(d Dataset[int64], e string) {
		t.Helper()
		if _, err := NoisyCount(ctx, noise.System(), d, Options{Epsilon: eps(e)}); err != nil {
			t.Fatal(err)
		}
	}
	spent := func(want string) {
		t.Helper()
		if got := must(b.Spent(ctx)).Epsilon.String(); got != want {
			t.Errorf("%s was spent, want %s", got, want)
		}
	}
	for _, p := range parts {
		count(p, "0.25")
	}
	spent("0.25")
	count(Partition(parts[0], []int64{0, 1}, identity)[1], "0.5") // 0.75 for parts[0]
	spent("0.75")
	count(parts[2], "0.5")
	spent("0.75")

	// Of two siblings each change is in one, but both are charged for all: 0.25 each.
	r := &recorder{Budget: zcdpBudget(privacy.AddRemove)}
	whole := numbers(t, r, 1, 2, 3)
	parts = Partition(whole, []int64{1, 2}, identity)
	if _, err := NoisyCount(ctx, noise.System(), Concat(parts[0], Concat(whole, whole)), Options{Rho: rho("0.1")}); err != nil {
		t.Fatal(err)
	}
	// A part and the whole: the noise is for distance 3, and both pay for 3. Charging 1²
	// and 2² of 3² would forget that one record is in both.
	var total privacy.Rho
	for _, x := range r.releases {
		for _, e := range x.Events {
			switch e := e.(type) {
			case privacy.DiscreteGaussian:
				if e.SensitivitySquared.Cmp(big.NewRat(9, 1)) != 0 {
					t.Errorf("the sensitivity squared is %v", e.SensitivitySquared)
				}
				total = total.Add(rho("0.1"))
			case privacy.ZCDP:
				total = total.Add(e.Rho)
			}
		}
	}
	if total.Rat().Cmp(big.NewRat(1, 10)) < 0 {
		t.Errorf("rho %v was charged for 0.1", total)
	}
}

// What no theorem adds up over parts is refused; see Partition.
func TestNoiseThatPartsDoNotAddUp(t *testing.T) {
	mixed := func(m filter.Measure) *budget.InMemory {
		b := filter.Budget{Measure: m, Epsilon: eps("5"), Delta: del("1e-4")}
		if m != filter.Approx {
			b.SelectionDelta = del("1e-6")
		}
		return must(budget.NewInMemory("b", b))
	}
	laplace, gauss := Options{Epsilon: eps("0.1")}, Options{Epsilon: eps("0.1"), Delta: del("1e-6")}
	for _, c := range []struct {
		measure   filter.Measure
		stability int64
		o         Options
		admitted  bool
	}{
		{filter.Approx, 1, gauss, true}, {filter.Approx, 2, gauss, false}, {filter.Approx, 2, laplace, true},
		{filter.Whitehouse, 1, gauss, true}, {filter.Whitehouse, 2, gauss, false}, {filter.Whitehouse, 2, laplace, true},
		{filter.GDP, 1, laplace, true}, {filter.GDP, 2, laplace, false},
		{filter.ZCDP, 2, gauss, true}, {filter.RDP, 2, gauss, true}, {filter.RDP, 2, laplace, true},
	} {
		d := SelectMany(numbers(t, mixed(c.measure), 1, 2), c.stability, func(x int64) []int64 { return []int64{x} })
		part := Partition(d, []int64{1, 2}, identity)[0]
		_, err := NoisyCount(ctx, noise.System(), part, c.o)
		if (err == nil) != c.admitted {
			t.Errorf("%s, stability %d: %v", c.measure, c.stability, err)
		}
	}
}

// The theorem of Partition asks of a charge that a share of the distance costs at most
// that share of it.
func TestChargesAreStarShaped(t *testing.T) {
	budgets := []filter.Budget{
		{Measure: filter.Pure, Epsilon: eps("10")},
		{Measure: filter.Approx, Epsilon: eps("10"), Delta: del("1e-3")},
		{Measure: filter.ZCDP, Epsilon: eps("10"), Delta: del("1e-3"), SelectionDelta: del("1e-4")},
		{Measure: filter.Whitehouse, Epsilon: eps("10"), Delta: del("1e-3"), SelectionDelta: del("1e-4")},
		{Measure: filter.RDP, Epsilon: eps("10"), Delta: del("1e-3"), SelectionDelta: del("1e-4")},
	}
	violates := func(t *rapid.T, b filter.Budget, gaussian bool) bool {
		f := must(filter.New(b))
		whole := rapid.Int64Range(2, 20).Draw(t, "stability")
		part := rapid.Int64Range(1, whole-1).Draw(t, "of it")
		scale := big.NewRat(rapid.Int64Range(1, 200).Draw(t, "scale"), 10)
		kind := rapid.IntRange(0, 1).Draw(t, "kind")
		event := func(c int64) privacy.Event {
			switch {
			case gaussian:
				return privacy.DiscreteGaussian{Variance: scale, SensitivitySquared: big.NewRat(c*c, 1)}
			case kind == 0:
				return privacy.DiscreteLaplace{Scale: scale, Sensitivity: big.NewRat(c, 1)}
			}
			return privacy.Exponential{Epsilon: must(privacy.NewEpsilon(new(big.Rat).Quo(big.NewRat(c, 1), scale)))}
		}
		charge := func(c int64) filter.Total { return must(f.Charge([]privacy.Event{event(c)}, del("1e-6"))) }
		share := charge(part).Times(whole)
		limit := charge(whole).Times(part)
		slack := filter.Amounts{Epsilon: eps("1e-25"), EpsilonSquared: must(privacy.NewLoss(big.NewRat(1, 1e18))),
			Renyi: must(privacy.NewLoss(big.NewRat(1, 1e18))), Rho: rho("1e-25"), Delta: del("1e-30")}.Total(b.Measure)
		return !share.Within(limit.Add(slack))
	}
	for _, b := range budgets {
		t.Run(string(b.Measure), rapid.MakeCheck(func(t *rapid.T) {
			gaussian := (b.Measure == filter.ZCDP || b.Measure == filter.RDP) && rapid.Bool().Draw(t, "gaussian")
			if violates(t, b, gaussian) {
				t.Fatal("a share costs more than its share")
			}
		}))
	}
	noticed := false
	for i := 0; i < 100 && !noticed; i++ { // up to 2,000 draws, also where -short makes a check 20
		rapid.Check(t, func(t *rapid.T) { noticed = noticed || violates(t, budgets[1], true) })
	}
	if !noticed {
		t.Error("nothing was noticed of a Gaussian that is converted at a delta")
	}
}

// The noise on a count has the law that its stability asks for. With n draws, each
// frequency lies within 6.2 standard deviations of its probability but with
// probability 1e-9, by the normal approximation.
func TestNoiseHasItsLaw(t *testing.T) {
	const n = 2_000
	b := must(budget.NewInMemory("b", filter.Budget{Measure: filter.Pure, Epsilon: eps("1000000")}))
	d := GroupBy(numbers(t, b, 1, 2, 3), identity)
	zeros := 0
	for range n {
		a, err := NoisyCount(ctx, noise.System(), d, Options{Epsilon: eps("2")})
		if err != nil {
			t.Fatal(err)
		}
		if a.Value == 3 {
			zeros++
		}
	}
	// P(0) for scale t is tanh(1/2t).
	far := func(t float64) bool {
		p := math.Tanh(1 / (2 * t))
		return math.Abs(float64(zeros)-n*p) > 6.2*math.Sqrt(n*p*(1-p))
	}
	if far(1) {
		t.Errorf("%d of %d draws are 0 with stability 2 and ε = 2", zeros, n)
	}
	if !far(0.5) {
		t.Error("the noise of stability 1 would not have been noticed")
	}
}

// Intervals hold with their confidence: of n runs fewer than 1−c fail, but for 6.2
// standard deviations, which is exceeded with probability below 1e-9.
func TestIntervalsHold(t *testing.T) {
	if testing.Short() {
		t.Skip("skip: statistics, in -short")
	}
	const n, confidence = 250, 0.8
	b := must(budget.NewInMemory("b", filter.Budget{Measure: filter.ZCDP, Epsilon: eps("100000"), Delta: del("1e-6"), SelectionDelta: del("5e-7")}))
	records := make([]int64, 200)
	for i := range records {
		records[i] = int64(i % 10)
	}
	d := numbers(t, b, records...)
	bits := noise.System()
	f := func(x int64) float64 { return float64(x) }
	in := func(low, x, high float64) bool { return low <= x && x <= high }
	for name, holds := range map[string]func(o Options, shrink float64) bool{
		"count": func(o Options, shrink float64) bool {
			a := must(NoisyCount(ctx, bits, d, o))
			half := float64(a.High-a.Low) / 2 * shrink
			return in(float64(a.Value)-half, 200, float64(a.Value)+half)
		},
		"sum": func(o Options, shrink float64) bool {
			a := must(NoisySum(ctx, bits, d, f, SumOptions{Options: o, Upper: 9}))
			return in(a.Value-(a.Value-a.Low)*shrink, 900, a.Value+(a.High-a.Value)*shrink)
		},
		"average": func(o Options, shrink float64) bool {
			a := must(NoisyAverage(ctx, bits, d, f, SumOptions{Options: o, Upper: 9}))
			return in(a.Value-(a.Value-a.Low)*shrink*shrink, 4.5, a.Value+(a.High-a.Value)*shrink*shrink)
		},
		"histogram": func(o Options, shrink float64) bool {
			a := must(NoisyHistogram(ctx, bits, d, []int64{0, 1, 2}, identity, o))
			ok := true
			for i, v := range a.Value {
				half := float64(a.High[i]-a.Low[i]) / 2 * shrink
				ok = ok && in(float64(v)-half, 20, float64(v)+half)
			}
			return ok
		},
		"vector sum": func(o Options, shrink float64) bool {
			a := must(NoisyVectorSum(ctx, bits, d, func(x int64) []float64 { return []float64{f(x) / 10, 0.4} }, VectorOptions{Options: o, Dimension: 2, Clip: 2}))
			ok := true
			for i, want := range []float64{90, 80} {
				half := (a.High[i] - a.Low[i]) / 2 * shrink
				ok = ok && in(a.Value[i]-half-1e-5, want, a.Value[i]+half+1e-5)
			}
			return ok
		},
	} {
		o := Options{Rho: rho("0.05"), Confidence: confidence}
		fails := func(shrink float64) (bad float64) {
			for range n {
				if !holds(o, shrink) {
					bad++
				}
			}
			return bad
		}
		limit := n*(1-confidence) + 6.2*math.Sqrt(n*confidence*(1-confidence))
		if bad := fails(1); bad > limit {
			t.Errorf("%s: %v of %d intervals failed", name, bad, n)
		}
		if bad := fails(0.4); bad <= limit {
			t.Errorf("%s: intervals of 0.4 times the width were not noticed: %v of %d failed", name, bad, n)
		}
	}
}

// With next to no noise, answers are right.
func TestAnswers(t *testing.T) {
	b := must(budget.NewInMemory("b", filter.Budget{Measure: filter.Pure, Epsilon: eps("1000000")}))
	o := Options{Epsilon: eps("10000")}
	records := make([]int64, 0, 101)
	for i := range int64(101) {
		records = append(records, i)
	}
	d := numbers(t, b, records...)
	bits := noise.System()
	f := func(x int64) float64 { return float64(x) }
	near := func(name string, got, want, by float64) {
		t.Helper()
		if math.Abs(got-want) > by {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	near("count", float64(must(NoisyCount(ctx, bits, d, o)).Value), 101, 0)
	near("sum", must(NoisySum(ctx, bits, d, f, SumOptions{Options: o, Upper: 50})).Value, 50*51/2+50*50, 0.2)
	near("average", must(NoisyAverage(ctx, bits, d, f, SumOptions{Options: o, Upper: 100})).Value, 50, 0.01)
	near("average of nobody", must(NoisyAverage(ctx, bits, numbers(t, b), f, SumOptions{Options: o, Lower: 2, Upper: 100})).Value, 51, 0)
	near("median", must(NoisyMedian(ctx, bits, d, f, QuantileOptions{Options: o, Upper: 100, Step: 1})).Value, 50, 1)
	qs := must(NoisyQuantiles(ctx, bits, d, f, []float64{0.1, 0.9}, QuantileOptions{Options: o, Upper: 100, Step: 1})).Value
	near("first decile", qs[0], 10, 1)
	near("last decile", qs[1], 90, 1)
	near("third smallest", must(NoisyOrderStatistic(ctx, bits, d, f, 3, QuantileOptions{Options: o, Upper: 100, Step: 1})).Value, 2, 0)
	near("largest", must(NoisyOrderStatistic(ctx, bits, d, f, 101, QuantileOptions{Options: o, Upper: 100, Step: 0.5})).Value, 100, 0)
	best := must(Choose(ctx, bits, d, []int64{10, 90, 60}, func(x, c int64) float64 { return -math.Abs(f(x - c)) }, ScoreOptions{Options: o, Lower: -100})).Value
	near("nearest to the middle", float64(best), 2, 0)
	h := must(NoisyHistogram(ctx, bits, d, []int64{0, 1, 2}, func(x int64) int64 { return x % 4 }, o)).Value
	if !slices.Equal(h, []int64{26, 25, 25}) {
		t.Errorf("the histogram is %v", h)
	}
	v := must(NoisyVectorSum(ctx, bits, d, func(x int64) []float64 { return []float64{3, float64(x % 2 * 4)} }, VectorOptions{Options: o, Dimension: 2, Clip: 10})).Value
	near("first sum", v[0], 303, 0.1)
	near("second sum", v[1], 200, 0.1)
}

// Many goroutines may ask of one dataset.
func TestConcurrentUse(t *testing.T) {
	b := must(budget.NewInMemory("b", filter.Budget{Measure: filter.Pure, Epsilon: eps("1")}))
	parts := Partition(numbers(t, b, 1, 2, 3, 4), []int64{1, 2}, identity)
	var wait sync.WaitGroup
	for i := range 32 {
		wait.Go(func() {
			d := Distinct(Where(parts[i%2], func(int64) bool { return true }))
			if _, err := NoisyCount(ctx, noise.System(), d, Options{Epsilon: eps("0.1")}); err != nil && !errors.Is(err, budget.ErrExceeded) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if got := must(b.Spent(ctx)).Epsilon.String(); got != "1" {
		t.Errorf("%s was spent", got)
	}
}

func TestErrorsSayWhereAndWhy(t *testing.T) {
	b := pureBudget("clinic", privacy.AddRemove)
	d := numbers(t, b, 1)
	floats := Select(d, 0, func(x int64) float64 { return float64(x) })
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(NoisyCount(ctx, noise.System(), Distinct(floats), Options{Epsilon: eps("1")})),
			"bad dataset parameter: keys of type float64 hold float64: only integers, strings and booleans, and arrays and structs of these, are compared exactly; round to a whole number of steps"},
		{second(NoisyCount(ctx, noise.System(), d, Options{Epsilon: eps("2000")})),
			`NoisyCount: the privacy budget does not suffice: budget "clinic" was asked for epsilon 2000 and has epsilon 1000 left`},
		{second(NoisyCount(ctx, noise.System(), d, Options{})), "bad dataset parameter: NoisyCount takes epsilon, rho, or epsilon with delta"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", c.err, c.want)
		}
	}
}

// A choice prefers the better of two candidates as its stability asks for: with scores
// 1 and 0 of one group, in odds e^(ε/2s). So does a median whose only value lies on one of
// two candidates, and misses by 1 at the other. The bound is 6.2 standard deviations.
func TestChoiceHasItsLaw(t *testing.T) {
	const n = 2_000
	b := must(budget.NewInMemory("b", filter.Budget{Measure: filter.Pure, Epsilon: eps("1000000")}))
	d := GroupBy(numbers(t, b, 7), identity)
	o := Options{Epsilon: eps("4")}
	type group = Group[int64, int64]
	for name, choose := range map[string]func() (float64, error){
		"Choose": func() (float64, error) {
			a, err := Choose(ctx, noise.System(), d, []float64{0, 1}, func(_ group, c float64) float64 { return c }, ScoreOptions{Options: o, Upper: 1})
			return float64(a.Value), err
		},
		"NoisyMedian": func() (float64, error) {
			a, err := NoisyMedian(ctx, noise.System(), d, func(group) float64 { return 1 }, QuantileOptions{Options: o, Upper: 1, Step: 1})
			return a.Value, err
		},
		"NoisyOrderStatistic": func() (float64, error) {
			a, err := NoisyOrderStatistic(ctx, noise.System(), d, func(group) float64 { return 1 }, 1, QuantileOptions{Options: o, Upper: 1, Step: 1})
			return a.Value, err
		},
	} {
		better := 0.0
		for range n {
			x, err := choose()
			if err != nil {
				t.Fatal(err)
			}
			better += x
		}
		far := func(stability float64) bool {
			p := 1 / (1 + math.Exp(-4/(2*stability)))
			return math.Abs(better-n*p) > 6.2*math.Sqrt(n*p*(1-p))
		}
		if far(2) {
			t.Errorf("%s: the better candidate was chosen %v times in %d", name, better, n)
		}
		if !far(1) {
			t.Errorf("%s: the choice of stability 1 would not have been noticed", name)
		}
	}
}
