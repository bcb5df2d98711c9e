package pate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/pate/analysis"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
	"pgregory.net/rapid"
)

// within is the false-reject probability of every statistical test here.
const within = 1e-9

func amount[T any](t testing.TB, parse func(string) (T, error), text string) T {
	t.Helper()
	x, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// purse is a budget in memory.
func purse(t testing.TB, m filter.Measure, epsilon, delta string, n privacy.Neighbours) *budget.InMemory {
	t.Helper()
	b := filter.Budget{Measure: m, Epsilon: amount(t, privacy.ParseEpsilon, epsilon), Neighbours: n}
	if delta != "" {
		b.Delta = amount(t, privacy.ParseDelta, delta)
	}
	p, err := budget.NewInMemory("test", b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func aggregator(t testing.TB, o Options) *Aggregator {
	t.Helper()
	a, err := NewAggregator(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestOptions(t *testing.T) {
	one := big.NewRat(1, 1)
	p := purse(t, filter.ZCDP, "1", "1e-6", privacy.AddRemove)
	for name, o := range map[string]Options{
		"no classes":       {Classes: 1, Sigma: one, Budget: p},
		"nobody pays":      {Classes: 2, Sigma: one},
		"neither":          {Classes: 2, Budget: p},
		"both":             {Classes: 2, Gamma: one, Sigma: one, Budget: p},
		"half a threshold": {Classes: 2, Sigma: one, Threshold: one, Budget: p},
		"LNMax with one":   {Classes: 2, Gamma: one, Threshold: one, ThresholdSigma: one, Budget: p},
		"no noise":         {Classes: 2, Sigma: new(big.Rat), Budget: p},
		"no Laplace noise": {Classes: 2, Gamma: new(big.Rat), Budget: p},
		"no noisy test":    {Classes: 2, Sigma: one, Threshold: one, ThresholdSigma: new(big.Rat), Budget: p},
		"negative":         {Classes: 2, Sigma: big.NewRat(-1, 1), Budget: p},
	} {
		if _, err := NewAggregator(o); !errors.Is(err, ErrOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is charged is what the events of the analysis are: under replacement two votes
// move.
func TestEvents(t *testing.T) {
	for _, test := range []struct {
		n            privacy.Neighbours
		o            Options
		test, answer string
	}{
		{privacy.AddRemove, Options{Gamma: big.NewRat(1, 20)}, "", "noisy_max(0.1)"},
		{privacy.ReplaceOne, Options{Gamma: big.NewRat(1, 20)}, "", "noisy_max(0.2)"},
		{privacy.AddRemove, Options{Sigma: big.NewRat(40, 1)}, "", "discrete_gaussian(40, sensitivity=sqrt(2))"},
		{privacy.ReplaceOne, Options{Sigma: big.NewRat(40, 1)}, "", "discrete_gaussian(40, sensitivity=sqrt(8))"},
		{privacy.AddRemove, Options{Sigma: big.NewRat(40, 1), Threshold: big.NewRat(200, 1), ThresholdSigma: big.NewRat(150, 1)},
			"discrete_gaussian(150)", "discrete_gaussian(40, sensitivity=sqrt(2))"},
		{privacy.ReplaceOne, Options{Sigma: big.NewRat(40, 1), Threshold: big.NewRat(200, 1), ThresholdSigma: big.NewRat(150, 1)},
			"discrete_gaussian(150, sensitivity=2)", "discrete_gaussian(40, sensitivity=sqrt(8))"},
	} {
		test.o.Classes, test.o.Budget = 10, purse(t, filter.ZCDP, "1", "1e-6", test.n)
		a, b := aggregator(t, test.o).Events()
		text := func(e privacy.Event) string {
			if e == nil {
				return ""
			}
			return e.String()
		}
		want := func(s string) string {
			if s == "" {
				return s
			}
			p, err := plan.Parse(s)
			if err != nil {
				t.Fatal(err)
			}
			e, err := p.Event()
			if err != nil {
				t.Fatal(err)
			}
			return e.String()
		}
		if text(a) != want(test.test) || text(b) != want(test.answer) {
			t.Errorf("events %v and %v, want %s and %s", a, b, test.test, test.answer)
		}
	}
}

// winner returns the probability that each class wins: ∫ f(x−n_j)·Π F(x−n_i) dx.
func winner(votes []int32, density, below func(x float64) float64, width float64) []float64 {
	p := make([]float64, len(votes))
	const step = 1.0 / 64
	for x := -width; x < width; x += step {
		for j, n := range votes {
			term := density(x - float64(n))
			for i, m := range votes {
				if i != j {
					term *= below(x - float64(m))
				}
			}
			p[j] += term * step
		}
	}
	return p
}

// Released labels have the probabilities that integrals say. Each of a few intervals
// is exact (Clopper–Pearson) at 1e-9 over their number; a scale that is wrong by a
// quarter is seen (TestPlantedScaleIsSeen).
func TestLabelProbabilities(t *testing.T) {
	const draws = 20000
	votes := []int32{12, 9, 4}
	normal := func(s float64) (density, below func(float64) float64) {
		return func(x float64) float64 { return math.Exp(-x*x/2/s/s) / s / math.Sqrt(2*math.Pi) },
			func(x float64) float64 { return math.Erfc(-x/s/math.Sqrt2) / 2 }
	}
	laplace := func(b float64) (density, below func(float64) float64) {
		return func(x float64) float64 { return math.Exp(-math.Abs(x)/b) / 2 / b },
			func(x float64) float64 {
				if x < 0 {
					return math.Exp(x/b) / 2
				}
				return 1 - math.Exp(-x/b)/2
			}
	}
	for _, test := range []struct {
		name string
		o    Options
		law  func(float64) (a, b func(float64) float64)
		s    float64
	}{
		{"lnmax", Options{Gamma: big.NewRat(1, 5)}, laplace, 5},
		{"gnmax", Options{Sigma: big.NewRat(5, 1)}, normal, 5},
		{"small sigma", Options{Sigma: big.NewRat(3, 2)}, normal, 1.5},
	} {
		t.Run(test.name, func(t *testing.T) {
			counts := draw(t, test.o, votes, draws)
			if bad := misfit(counts, draws, winner(votes, first(test.law(test.s)), second(test.law(test.s)), 120)); bad != "" {
				t.Error(bad)
			}
		})
	}
}

func first[A, B any](a A, _ B) A  { return a }
func second[A, B any](_ A, b B) B { return b }

// draw returns how often each class was named.
func draw(t *testing.T, o Options, votes []int32, n int) []int64 {
	t.Helper()
	o.Classes = len(votes)
	a := aggregator(t, withPurse(t, o))
	counts := make([]int64, len(votes))
	for range n {
		label, err := a.Answer(t.Context(), votes)
		if err != nil {
			t.Fatal(err)
		}
		counts[label]++
	}
	return counts
}

// withPurse adds a budget that the test cannot exhaust.
func withPurse(t *testing.T, o Options) Options {
	o.Budget = purse(t, filter.ZCDP, "1000000", "1e-6", privacy.AddRemove)
	return o
}

// misfit names the class whose share cannot come from these probabilities.
func misfit(counts []int64, n int64, p []float64) string {
	for j, k := range counts {
		low, high, err := audit.ClopperPearson(int(k), int(n), within/float64(2*len(p)))
		if err != nil {
			return err.Error()
		}
		if p[j] < low || p[j] > high {
			return fmt.Sprintf("class %d: %d of %d, probability %g", j, k, n, p[j])
		}
	}
	return ""
}

// The test above rejects noise of a scale that is off by a quarter, here planted in
// what it compares with.
func TestPlantedScaleIsSeen(t *testing.T) {
	votes := []int32{12, 9, 4}
	counts := draw(t, Options{Sigma: big.NewRat(5, 1)}, votes, 20000)
	s := 4.0
	p := winner(votes, func(x float64) float64 { return math.Exp(-x*x/2/s/s) / s / math.Sqrt(2*math.Pi) },
		func(x float64) float64 { return math.Erfc(-x/s/math.Sqrt2) / 2 }, 120)
	if misfit(counts, 20000, p) == "" {
		t.Error("a wrong scale passes")
	}
}

// The confident test passes with the probability that the analysis says, at the mean
// and far from it, and ties are as likely as not.
func TestThresholdProbability(t *testing.T) {
	for _, at := range []int64{0, 10, 13} {
		a := aggregator(t, withPurse(t, Options{Classes: 2, Sigma: big.NewRat(1, 1), Threshold: big.NewRat(at, 1), ThresholdSigma: big.NewRat(3, 1)}))
		const draws = 10000
		passed := int64(0)
		for range draws {
			ok, err := a.test(t.Context(), a.threshold.steps(10))
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				passed++
			}
		}
		p := math.Exp(analysis.Threshold{At: float64(at), Sigma: 3}.LogAnswered([]float64{10}))
		if bad := misfit([]int64{passed}, draws, []float64{p}); bad != "" {
			t.Errorf("threshold %d: %s", at, bad)
		}
	}
}

// The budget is charged for exactly what was released: the test of every query asked,
// the answer of every one answered.
func TestChargesAreTheEvents(t *testing.T) {
	o := Options{Classes: 3, Sigma: big.NewRat(4, 1), Threshold: big.NewRat(10, 1), ThresholdSigma: big.NewRat(5, 1)}
	p := purse(t, filter.ZCDP, "100", "1e-6", privacy.AddRemove)
	o.Budget = p
	a := aggregator(t, o)
	v := &analysis.Votes{Classes: 3}
	for range 60 {
		v.Counts = append(v.Counts, 8, 3, 1)
	}
	run, err := a.Label(t.Context(), v, nil)
	if err != nil || run.Asked() != 60 || run.Answered == 0 || run.Answered == 60 {
		t.Fatalf("asked %d, answered %d: %v", run.Asked(), run.Answered, err)
	}
	spent, err := p.Spent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// 1/(2·25) a test, 1/16 an answer.
	want := new(big.Rat).Add(big.NewRat(60, 50), big.NewRat(int64(run.Answered), 16))
	if spent.Rho.Rat().Cmp(want) != 0 {
		t.Errorf("spent rho %v, want %v", spent.Rho, want)
	}
}

// A budget that is exhausted stops the run, which says what it has released.
func TestExhaustion(t *testing.T) {
	p := purse(t, filter.Pure, "0.55", "", privacy.AddRemove)
	a := aggregator(t, Options{Classes: 2, Gamma: big.NewRat(1, 20), Budget: p})
	v := &analysis.Votes{Classes: 2, Counts: make([]int32, 20)}
	run, err := a.Label(t.Context(), v, nil)
	if !errors.Is(err, budget.ErrExceeded) || run.Answered != 5 || run.Asked() != 5 {
		t.Errorf("%d answered of %d: %v", run.Answered, run.Asked(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if run, err = aggregator(t, withPurse(t, Options{Classes: 2, Sigma: big.NewRat(1, 1)})).Label(ctx, v, nil); !errors.Is(err, context.Canceled) || run.Asked() != 0 {
		t.Errorf("a run that is over goes on: %v", err)
	}
}

// failing bits give no answer, and the charge stays.
type failing struct{}

func (failing) Uint64() (uint64, error) { return 0, errors.New("no randomness") }

func TestNoRandomnessNoAnswer(t *testing.T) {
	for name, o := range map[string]Options{
		"lnmax":     {Classes: 2, Gamma: big.NewRat(1, 10)},
		"gnmax":     {Classes: 2, Sigma: big.NewRat(1, 1)},
		"confident": {Classes: 2, Sigma: big.NewRat(1, 1), Threshold: big.NewRat(1, 1), ThresholdSigma: big.NewRat(1, 1)},
	} {
		p := purse(t, filter.ZCDP, "10", "1e-6", privacy.AddRemove)
		o.Budget = p
		a := aggregator(t, o)
		a.bits = failing{}
		label, err := a.Answer(t.Context(), []int32{9, 1})
		spent, _ := p.Spent(t.Context())
		if err == nil || label != NoLabel || spent.Rho.Sign() == 0 {
			t.Errorf("%s: label %d, %v, spent %v", name, label, err, spent.Rho)
		}
	}
}

func TestInteractive(t *testing.T) {
	o := withPurse(t, Options{Classes: 2, Sigma: big.NewRat(1, 100), Threshold: big.NewRat(50, 1), ThresholdSigma: big.NewRat(1, 100)})
	a := aggregator(t, o)
	for _, test := range []struct {
		votes []int32
		p     []float64
		want  int32
	}{
		{[]int32{0, 100}, []float64{0.9, 0.1}, 1},         // the teachers disagree with a student that is sure
		{[]int32{100, 0}, []float64{0.95, 0.05}, 0},       // they agree: the student's own
		{[]int32{60, 40}, []float64{0.5, 0.5}, NoLabel},   // they agree, and nobody is sure
		{[]int32{100, 0}, []float64{0.498, 0.502}, 0},     // 100 − 49.8 is 50 or more, by 20 sigma
		{[]int32{100, 0}, []float64{0.502, 0.4}, NoLabel}, // 100 − 50.2 is not
	} {
		got, err := a.Ask(t.Context(), test.votes, Student{test.p, 100, 0.9})
		if err != nil || got != test.want {
			t.Errorf("votes %v, student %v: %d, want %d (%v)", test.votes, test.p, got, test.want, err)
		}
	}
	if _, err := a.Ask(t.Context(), []int32{1, 1}, Student{[]float64{math.NaN(), 0}, 2, 0.9}); err == nil {
		t.Error("a student may say NaN")
	}
}

// A person is a unit: a name, and examples, which may be those of others too.
type person struct {
	name     string
	examples []int8
}

func people(t *rapid.T) (all []person) {
	for i := range rapid.IntRange(0, 20).Draw(t, "units") {
		all = append(all, person{fmt.Sprint("unit ", i), rapid.SliceOfN(rapid.Int8Range(0, 3), 1, 4).Draw(t, "examples")})
	}
	return all
}

// setOf holds the people's examples in a chance order, as rows of tables come.
func setOf(t *rapid.T, all []person, named bool) *example.Set {
	type row struct {
		of int
		x  int8
	}
	var rows []row
	for i, p := range all {
		for _, x := range p.examples {
			rows = append(rows, row{i, x})
		}
	}
	s := &example.Set{Width: 1, Classes: 4, Outputs: 1, Features: []float32{}, Labels: []int32{}, Units: []int32{}}
	number := map[int]int32{} // by first appearance
	for _, r := range rapid.Permutation(rows).Draw(t, "order") {
		u, ok := number[r.of]
		if !ok {
			u = int32(len(number))
			number[r.of] = u
			if named {
				s.Names = append(s.Names, all[r.of].name)
			}
		}
		s.Features, s.Labels, s.Units = append(s.Features, float32(r.x)), append(s.Labels, int32(r.x)), append(s.Units, u)
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return s
}

func partText(s *example.Set) string { return fmt.Sprint(s.Features, s.Labels, s.Units, s.Names) }

// Taking a unit out changes the part of one teacher and of no other, to the last bit and
// its order, whether units have names or not, in whatever order records come. All
// examples of a unit are in one part.
func TestOneUnitChangesOneTeacher(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := people(t)
		named, alone := rapid.Bool().Draw(t, "named"), rapid.Bool().Draw(t, "alone")
		if alone { // each example is its own unit
			named = false
			for i := range all {
				all[i].examples = all[i].examples[:1]
			}
		}
		a, err := NewAssignment(rapid.IntRange(1, 7).Draw(t, "teachers"))
		if err != nil {
			t.Fatal(err)
		}
		without := slices.Clone(all)
		if len(without) > 0 {
			gone := rapid.IntRange(0, len(all)-1).Draw(t, "gone")
			without = slices.Delete(without, gone, gone+1)
		}
		parts := func(people []person) []*example.Set {
			s := setOf(t, people, named)
			if alone {
				s.Units = nil
			}
			return a.Parts(s)
		}
		before, after := parts(all), parts(without)
		changed, seen := 0, 0
		teacherOf := map[string]int{}
		for i := range before {
			seen += before[i].Len()
			if partText(before[i]) != partText(after[i]) {
				changed++
			}
			for _, name := range before[i].Names {
				if _, twice := teacherOf[name]; twice {
					t.Fatalf("%s has two teachers", name)
				}
				teacherOf[name] = i
			}
		}
		if changed > 1 {
			t.Fatalf("%d teachers change", changed)
		}
		want := 0
		for _, p := range all {
			want += len(p.examples)
		}
		if seen != want {
			t.Fatalf("%d of %d examples have a teacher", seen, want)
		}
		again := parts(all) // in another order
		for i := range before {
			if partText(before[i]) != partText(again[i]) {
				t.Fatalf("teacher %d depends on the order of records", i)
			}
		}
	})
}

// Equal units spread over the teachers like others: none of four has a share of 4000
// that a fair draw gives with probability below 1e-9. If what a unit is were all that
// its teacher hangs on, one would have them all.
func TestEqualUnitsSpread(t *testing.T) {
	a, err := NewAssignment(4)
	if err != nil {
		t.Fatal(err)
	}
	set := &example.Set{Width: 1, Classes: 2, Outputs: 1, Features: make([]float32, 4000), Labels: make([]int32, 4000)}
	var counts []int64
	for _, part := range a.Parts(set) {
		counts = append(counts, int64(part.Len()))
	}
	if bad := misfit(counts, 4000, []float64{0.25, 0.25, 0.25, 0.25}); bad != "" {
		t.Error(bad)
	}
}

// Units spread evenly: no teacher of four has a share that a fair draw of 4000 units
// has with probability below 1e-9.
func TestAssignmentIsEven(t *testing.T) {
	a, err := NewAssignment(4)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]int64, 4)
	for i := range 4000 {
		counts[a.Teacher([]byte(fmt.Sprint("unit ", i)))]++
	}
	if bad := misfit(counts, 4000, []float64{0.25, 0.25, 0.25, 0.25}); bad != "" {
		t.Error(bad)
	}
	b, err := NewAssignment(4)
	if err != nil {
		t.Fatal(err)
	}
	if a.key == b.key {
		t.Error("two ensembles have one key")
	}
}

// majority is the smallest learner: it names the label that it saw most. It fails on
// parts whose first feature says so.
type majority struct{}

func (majority) Train(_ context.Context, set *example.Set) (Classifier, error) {
	if set.Features[0] == -1 {
		return nil, errors.New("a part that cannot be learned")
	}
	if set.Features[0] == -2 {
		panic("a part that breaks the learner")
	}
	n := 0
	for _, l := range set.Labels {
		n += int(2*l - 1)
	}
	return constant(min(max(n, 0), 1)), nil
}

type constant int32

func (c constant) Predict(_ context.Context, set *example.Set) ([]int32, error) {
	labels := make([]int32, set.Len())
	for i := range labels {
		labels[i] = int32(c)
	}
	return labels, nil
}

// Every teacher votes once, whatever its data are; an ensemble shows nothing of itself.
func TestEnsembleAlwaysVotes(t *testing.T) {
	set := &example.Set{Width: 1, Classes: 2, Outputs: 1}
	for i := range 30 {
		set.Features = append(set.Features, []float32{-1, -2, 3}[i%3])
		set.Labels = append(set.Labels, 1)
	}
	e, err := Train(t.Context(), set, EnsembleOptions{Teachers: 25, Learner: majority{}})
	if err != nil {
		t.Fatal(err)
	}
	public := &example.Set{Width: 1, Classes: 2, Outputs: 1, Features: make([]float32, 4), Labels: []int32{-1, -1, -1, -1}}
	v, err := e.Votes(t.Context(), public)
	if err != nil {
		t.Fatal(err)
	}
	if n, odd := v.Teachers(); n != 25 || odd >= 0 || v.Len() != 4 {
		t.Errorf("%d votes, row %d has others, of %d queries", n, odd, v.Len())
	}
	if len(e.Failures()) == 0 {
		t.Error("no teacher failed")
	}
	if text := fmt.Sprintf("%v %+v %s %v", e, e, e, Assignment{}); text != "[ensemble withheld] [ensemble withheld] [ensemble withheld] [ensemble withheld]" {
		t.Error(text)
	}
}
