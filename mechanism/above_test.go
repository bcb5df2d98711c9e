package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// aboveOptions are those of whole queries that change by one.
func aboveOptions(e string, monotone bool) AboveThresholdOptions {
	return AboveThresholdOptions{Sensitivity: rat("1"), Epsilon: eps(e), Monotone: monotone, Grid: rat("1")}
}

// again returns a run that has not begun, with the noise of one that has not.
func again(r *run) *run {
	c := *r
	return &c
}

// variant returns the laws that a run's noise should make.
func (r *run) variant(answers int) variant {
	f := func(d *noise.DiscreteLaplace) geometric { x, _ := d.Scale().Float64(); return geometric(x) }
	return variant{rho: f(r.rho), nu: f(r.query), answers: answers, gap: true, shown: 3}
}

// No answers to any queries near the threshold are more than e^ε times as likely on a
// neighbour: by summing over all noise. And for some they are.
func TestAboveThresholdIsPrivateAndTight(t *testing.T) {
	t.Parallel()
	for _, monotone := range []bool{false, true} {
		for _, e := range []string{"0.5", "1", "3"} {
			a := must(NewAboveThreshold(aboveOptions(e, monotone)))
			for _, gap := range []bool{false, true} {
				v := a.variant(1)
				v.gap = gap
				if got := v.worst(3, 1, monotone); got > eps(e).Float64()+1e-9 {
					t.Errorf("epsilon %s, monotone %v, gap %v: the loss is %v", e, monotone, gap, got)
				}
			}
			// Many queries that all rise, so that the threshold must, and a last one
			// that falls.
			q, other := make([]int64, 3001), slices.Repeat([]int64{1}, 3001)
			if other[3000] = -1; monotone {
				other[3000] = 0
			}
			v, said := a.variant(1), strings.Repeat("F", 3000)+"T"
			if got := math.Abs(math.Log(v.of(q, said) / v.of(other, said))); got < 0.97*eps(e).Float64() {
				t.Errorf("epsilon %s, monotone %v: the loss is only %v, half of the noise would do", e, monotone, got)
			}
		}
	}
}

// starter returns what starts runs, of which calibration is done once.
func starter(t *testing.T, o AboveThresholdOptions) func() *AboveThreshold {
	t.Helper()
	a := must(NewAboveThreshold(o))
	return func() *AboveThreshold { return &AboveThreshold{again(a.run)} }
}

// play asks all queries and writes down what a run says.
func play(ask func(noise.Bits, float64) (Answer, error), show func(Answer) string, bits noise.Bits, queries []int64) string {
	said := ""
	for _, q := range queries {
		a, err := ask(bits, float64(q))
		switch {
		case errors.Is(err, ErrHalted):
			return said
		case err != nil:
			panic(err)
		case a.Above:
			said += show(a)
		default:
			said += "F"
		}
	}
	return said
}

func showGap(a Answer) string { return fmt.Sprint("T", a.Gap) }

var played = []int64{0, 1, -1, 2}

// Runs give answers with the probabilities of the law that is proved private.
func TestAboveThresholdFits(t *testing.T) {
	t.Parallel()
	bits := entropy.New()
	n := trials(t, 100_000)
	for _, monotone := range []bool{false, true} {
		o := aboveOptions("1", monotone)
		start := starter(t, o)
		l := start().variant(1).law(played)
		if err := follows(l, n, func() string { return play(start().Ask, showGap, bits, played) }); err != nil {
			t.Errorf("monotone %v: %v", monotone, err)
		}
		halved := must(noise.NewDiscreteLaplace(new(big.Rat).Mul(start().query.Scale(), half)))
		for name, draw := range map[string]func() string{
			"noise halved": func() string {
				a := start()
				a.query = halved
				return play(a.Ask, showGap, bits, played)
			},
			"threshold drawn again for each query": func() string {
				a := start()
				return play(func(b noise.Bits, q float64) (Answer, error) {
					a.started = false
					return a.Ask(b, q)
				}, showGap, bits, played)
			},
			"goes on after its answer": func() string {
				a := start()
				return play(func(b noise.Bits, q float64) (Answer, error) {
					a.halted = false
					return a.Ask(b, q)
				}, showGap, bits, played)
			},
			"value instead of gap": func() string {
				a := start()
				return play(a.Ask, func(x Answer) string { return fmt.Sprint("T", x.Gap+float64(a.noisy)) }, bits, played)
			},
		} {
			if follows(l, n/4, draw) == nil {
				t.Errorf("monotone %v, %s: passes", monotone, name)
			}
		}
	}
}

func TestAboveThresholdAccuracy(t *testing.T) {
	bits, n := entropy.New(), trials(t, 100_000)
	queries := make([]int64, 5)
	for _, beta := range []string{"0.5", "0.05"} {
		o := aboveOptions("1", false)
		o.Grid = nil
		start := starter(t, o)
		alpha := must(start().Bound(len(queries), rat(beta)))
		b, _ := rat(beta).Float64()
		// All queries are α below the threshold, the last α above: any other answer is a
		// failure, or the last is not asked.
		err := held(b, n, func() bool {
			a := start()
			for i := range queries {
				q := -alpha * 1.000001
				if last := i == len(queries)-1; last {
					q = -q
				}
				x := must(a.Ask(bits, q))
				if x.Above != (q > 0) {
					return false
				}
			}
			return true
		})
		if err != nil {
			t.Errorf("beta %s, alpha %v: %v", beta, alpha, err)
		}
		if want := 6 * math.Log(5/b); alpha > 3*want || alpha < want/3 {
			t.Errorf("beta %s: alpha is %v, about %v expected", beta, alpha, want)
		}
	}
}

func TestAboveThresholdRun(t *testing.T) {
	o := AboveThresholdOptions{Threshold: 1000, Sensitivity: rat("1"), Epsilon: eps("1")}
	bits := noise.System()
	a := must(NewAboveThreshold(o))
	if got := a.Event(); got.String() != "sparse_vector(1)" || got.Validate() != nil {
		t.Errorf("event is %v", got)
	}
	for _, q := range []float64{0, math.NaN(), math.Inf(-1), -1e300} { // e^-100: never above
		if x, err := a.Ask(bits, q); err != nil || x != (Answer{}) || a.Halted() {
			t.Fatalf("%v: %v, %v", q, x, err)
		}
	}
	if x, err := a.Ask(bits, math.Inf(1)); err != nil || !x.Above || x.Gap < 1e6 || !a.Halted() {
		t.Errorf("+Inf: %v, %v", x, err)
	}
	for range 2 {
		if x, err := a.Ask(bits, 1e9); !errors.Is(err, ErrHalted) || x != (Answer{}) {
			t.Errorf("after the end: %v, %v", x, err)
		}
	}
	read := 0
	queries := func(yield func(float64) bool) {
		for _, q := range []float64{0, 0, 1e9, 0} {
			read++
			if !yield(q) {
				return
			}
		}
	}
	var said []bool
	for x, err := range must(NewAboveThreshold(o)).All(bits, queries) {
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, x.Above)
	}
	if !slices.Equal(said, []bool{false, false, true}) || read != 3 {
		t.Errorf("answers %v, %d queries read", said, read)
	}
}

// Where bits fail there is no answer, then or later.
func TestAboveThresholdFailsClosed(t *testing.T) {
	for words := range 6 {
		a := must(NewAboveThreshold(aboveOptions("1", false)))
		var last Answer
		var err error
		bits := &few{entropy.New(), words}
		for i := 0; i < 1000 && err == nil; i++ {
			last, err = a.Ask(bits, -1000)
		}
		if !errors.Is(err, errBroken) || last != (Answer{}) {
			t.Errorf("%d words: %v, %v", words, last, err)
		}
		if _, err := a.Ask(entropy.New(), 0); !errors.Is(err, ErrHalted) {
			t.Errorf("%d words: goes on: %v", words, err)
		}
	}
}

// few fails after some words.
type few struct {
	bits noise.Bits
	left int
}

func (f *few) Uint64() (uint64, error) {
	if f.left--; f.left < 0 {
		return 0, errBroken
	}
	return f.bits.Uint64()
}

func TestAboveThresholdRefusals(t *testing.T) {
	for name, change := range map[string]func(*AboveThresholdOptions){
		"no sensitivity":       func(o *AboveThresholdOptions) { o.Sensitivity = nil },
		"negative sensitivity": func(o *AboveThresholdOptions) { o.Sensitivity = rat("-1") },
		"no epsilon":           func(o *AboveThresholdOptions) { o.Epsilon = privacy.Epsilon{} },
		"tiny epsilon":         func(o *AboveThresholdOptions) { o.Epsilon = eps("1e-200") },
		"NaN threshold":        func(o *AboveThresholdOptions) { o.Threshold = math.NaN() },
		"infinite threshold":   func(o *AboveThresholdOptions) { o.Threshold = math.Inf(1) },
		"far threshold":        func(o *AboveThresholdOptions) { o.Threshold = -1e300 },
		"grid not dyadic":      func(o *AboveThresholdOptions) { o.Grid = rat("0.1") },
		"negative grid":        func(o *AboveThresholdOptions) { o.Grid = rat("-1") },
		"grid too fine":        func(o *AboveThresholdOptions) { o.Grid = new(big.Rat).SetFloat64(0x1p-70) },
	} {
		o := aboveOptions("1", false)
		change(&o)
		if a, err := NewAboveThreshold(o); a != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v, %v", name, a, err)
		}
	}
	a := must(NewAboveThreshold(aboveOptions("1", false)))
	for _, beta := range []*big.Rat{nil, rat("0"), rat("1"), rat("-1")} {
		if _, err := a.Bound(1, beta); !errors.Is(err, ErrParameter) {
			t.Errorf("beta %v: %v", beta, err)
		}
	}
	if _, err := a.Bound(0, half); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
}

// A copy of a run is the same run: it cannot have answers of its own.
func TestCopiesOfARunAreTheRun(t *testing.T) {
	epsilon, err := privacy.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	one := big.NewRat(1, 1)
	a, err := NewAboveThreshold(AboveThresholdOptions{Sensitivity: one, Epsilon: epsilon})
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewSparseVector(SparseVectorOptions{Sensitivity: one, Epsilon: epsilon, Answers: 2})
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewAdaptiveSparseVector(SparseVectorOptions{Sensitivity: one, Epsilon: epsilon, Answers: 2})
	if err != nil {
		t.Fatal(err)
	}
	b, x, y := *a, *v, *w
	bits := noise.System()
	for _, run := range []struct {
		of, copied interface {
			Ask(noise.Bits, float64) (Answer, error)
		}
		most int
	}{{a, &b, 1}, {v, &x, 2}, {w, &y, 4}} {
		above := 0
		for i := range 20 {
			asked := run.of
			if i%2 == 1 {
				asked = run.copied
			}
			answer, err := asked.Ask(bits, 1e9)
			if err != nil && !errors.Is(err, ErrHalted) {
				t.Fatal(err)
			}
			if answer.Above {
				above++
			}
		}
		if above > run.most {
			t.Errorf("%T and its copy gave %d answers, at most %d are paid for", run.of, above, run.most)
		}
	}
}
