package accountant

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/accountant/internal/referee"
	"github.com/discreet-dp/discreet/privacy"
)

// A sweep draws plans with parameters of every decade that they may have, and
// questions of every decade, and holds all accountants against the referee: what they
// certify is attained by no mechanism of the plan, and what they say is needed is.
// Refusals are right; wrong numbers, contradictions and panics are not.

// A sample is one plan of a sweep. Its text is a function of how much less it reveals
// than it might: noise times x, counts and rates divided by x.
type sample struct {
	text func(x float64) string
	o    Options
}

// drawing draws from a fixed source, so that a failure repeats.
type drawing struct{ *rand.Rand }

func (d drawing) one(n int) bool { return d.IntN(n) == 0 }

// decade draws a number of three digits or of few, whose exponent is one of use or any.
func (d drawing) decade(lo, hi float64) float64 {
	if mid := math.Max(lo, math.Min(hi, 0)); !d.one(3) {
		lo, hi = math.Max(lo, mid-4), math.Min(hi, mid+4)
	}
	x := lo + (hi-lo)*d.Float64()
	digits := 3
	switch {
	case d.one(4):
		digits, x = 1, math.Floor(x) // a power of ten
	case d.one(4):
		digits = 17
	}
	f, _ := strconv.ParseFloat(strconv.FormatFloat(math.Pow(10, x), 'g', digits, 64), 64)
	return math.Max(f, 1e-300)
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// whole draws a whole number, most often a small one.
func (d drawing) whole(most float64) int64 {
	return int64(math.Pow(most, d.Float64()*d.Float64()))
}

// event draws an event, that reveals less for greater x.
func (d drawing) event(rel privacy.Neighbours) func(x float64) string {
	call := func(name string, rest string, first float64, up bool) func(float64) string {
		return func(x float64) string {
			if !up {
				x = 1 / x
			}
			return name + "(" + number(first*x) + rest + ")"
		}
	}
	eps := func() float64 { return math.Min(1e6, d.decade(-300, 6)) }
	kinds := 14
	if rel == privacy.ReplaceOne {
		kinds = 15
	}
	switch d.IntN(kinds) {
	case 0, 1:
		rest := ""
		if d.one(3) {
			rest = ", sensitivity=" + number(d.decade(-300, 300))
		}
		return call("gaussian", rest, d.decade(-300, 300), true)
	case 2, 3:
		rest := ""
		if d.one(3) {
			rest = ", sensitivity=" + number(d.decade(-300, 300))
		}
		return call("laplace", rest, d.decade(-300, 300), true)
	case 4:
		return call("discrete_laplace", fmt.Sprintf(", sensitivity=%d", d.whole(30)), d.decade(-300, 300), true)
	case 5:
		text := call("discrete_gaussian", fmt.Sprintf(", sensitivity=%d", d.whole(10)), d.decade(-300, 300), true)
		return func(float64) string { return text(1) } // it is not known to be monotone
	case 6:
		return call("pure", "", eps(), false)
	case 7:
		return call("approx", ", "+number(math.Min(0.999, d.decade(-300, 0))), eps(), false)
	case 8:
		return call("exponential", "", eps(), false)
	case 9:
		return call([]string{"permute_and_flip", "noisy_max", "sparse_vector"}[d.IntN(3)], "", eps(), false)
	case 10:
		return call("zcdp", "", math.Min(1e12, d.decade(-300, 12)), false)
	case 11:
		return call("gdp", "", d.decade(-300, 300), false)
	case 12:
		return call("tree", fmt.Sprintf(", %d", d.whole(1e12)), d.decade(-300, 300), true)
	case 13:
		return call("selection", ", "+number(math.Min(0.999, d.decade(-300, 0))), eps(), false)
	}
	var p float64
	if d.one(2) {
		p = 1 - math.Min(0.9, d.decade(-15, 0))
	} else {
		p = math.Min(0.9, d.decade(-300, 0))
	}
	text := fmt.Sprintf("randomized_response(%s, k=%d)", number(p), 1+max(1, d.whole(1e3)))
	return func(float64) string { return text }
}

// plan draws an event alone, repeated, sampled, in a group, in a sum, and so on.
func (d drawing) plan() sample {
	s := sample{o: Options{Neighbours: privacy.Neighbours(d.IntN(2)), Work: 1 << 19}}
	rel := s.o.Neighbours
	e := d.event(rel)
	count := func(e func(float64) string) func(float64) string {
		n := d.whole(1e9)
		return func(x float64) string { return fmt.Sprintf("%d*%s", max(1, int64(float64(n)/x)), e(x)) }
	}
	rate := func(e func(float64) string) func(float64) string {
		q := math.Min(1, d.decade(-300, 0))
		if d.one(5) {
			q = 1 - math.Min(0.5, d.decade(-15, 0))
		}
		return func(x float64) string { return fmt.Sprintf("poisson(%s, %s)", number(math.Max(q/x, 1e-300)), e(x)) }
	}
	sampled := func(e func(float64) string) func(float64) string {
		if rel == privacy.AddRemove {
			return rate(e)
		}
		n := max(1, d.whole(1e12))
		m := max(1, int64(float64(n)*math.Min(1, d.decade(-6, 0))))
		switch d.IntN(4) {
		case 0:
			g := d.decade(-300, 300)
			return rate(func(x float64) string { return "gaussian(" + number(g*x) + ")" })
		case 1:
			return func(x float64) string {
				return fmt.Sprintf("with_replacement(%d, %d, %s)", min(m, 1000), n, e(x))
			}
		case 2:
			if !strings.HasPrefix(e(1), "gaussian") {
				return func(x float64) string { return fmt.Sprintf("shuffled(%d, %s)", 1+n%1000, e(x)) }
			}
		}
		return func(x float64) string {
			return fmt.Sprintf("without_replacement(%d, %d, %s)", max(1, int64(float64(m)/x)), n, e(x))
		}
	}
	switch d.IntN(12) {
	case 0, 1, 2:
	case 3, 4:
		e = count(e)
	case 5, 6:
		e = sampled(e)
	case 7:
		e = count(sampled(e))
	case 8:
		e = sampled(count(e))
	case 9:
		s.o.Group = 1 + int(max(1, d.whole(100)))
	case 10:
		f, g := e, d.event(rel)
		e = func(x float64) string { return f(x) + " + " + g(x) }
	case 11:
		f, g := count(e), count(sampled(d.event(rel)))
		e = func(x float64) string { return f(x) + " + " + g(x) }
	}
	s.text = e
	return s
}

// read returns the plan, or ok = false where its numbers mean nothing together.
func (s sample) read(t testing.TB, x float64) (e privacy.Event, ok bool) {
	p, err := privacy.ParsePlan(s.text(x))
	if err != nil {
		return nil, false
	}
	if e, err = p.Event(); err != nil {
		return nil, false
	}
	return e, privacy.Holds(e, s.o.Neighbours) == nil
}

// sweep draws n plans and says what is wrong.
func sweep(t *testing.T, seed uint64, n int) {
	d := drawing{rand.New(rand.NewPCG(seed, 1))}
	meant, judgedAny, answered, brackets := 0, 0, 0, 0
	where := ""
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: panic: %v\n%s", where, r, debug.Stack())
		}
	}()
	for i := range n {
		s := d.plan()
		delta, eps := math.Min(0.99, d.decade(-300, 0)), math.Min(1e300, d.decade(-300, 300))
		asksDelta, finer, zero := d.one(2), 1+d.decade(-12, 2), d.one(30)
		e, ok := s.read(t, 1)
		if !ok {
			continue
		}
		meant++
		where = fmt.Sprintf("sample %d of seed %d: %s under %v, groups of %d", i, seed, s.text(1), s.o.Neighbours, s.o.Group)
		b := referee.Of(groupOf(e, int64(s.o.Group)), s.o.Neighbours, 1, 200)
		ask := func(e privacy.Event, accountant string) (*Report, error) {
			o := s.o
			o.Accountant = accountant
			switch {
			case asksDelta:
				return Delta(t.Context(), e, eps, o)
			case zero:
				return Epsilon(t.Context(), e, 0, o)
			}
			return Epsilon(t.Context(), e, delta, o)
		}
		r, err := ask(e, "")
		if wrong := judged(r, err, b); wrong != nil {
			t.Errorf("%s: %v", where, wrong)
			continue
		}
		if err != nil {
			continue
		}
		answered++
		if b.Floor != nil {
			judgedAny++
			brackets += len(r.Bounds)
		}
		// The other question, where this one's answer is.
		best, found := r.Best()
		if found && !asksDelta {
			o := s.o
			o.Accountant = best.Accountant
			back, err := Delta(t.Context(), e, best.Epsilon.High, o)
			if wrong := judged(back, err, b); wrong != nil {
				t.Errorf("%s: and back: %v", where, wrong)
			}
			if b.Floor != nil && err == nil {
				brackets += len(back.Bounds)
			}
		}
		// A plan that reveals less needs no more than this one has, by an accountant that
		// knows of lower bounds.
		less, ok := s.read(t, finer)
		if !ok || !found {
			continue
		}
		if q, err := ask(less, []string{"pld", "gdp", "optimal"}[d.IntN(3)]); err == nil {
			for _, a := range q.Bounds {
				if low, high := a.value().Low, best.value().High; low > high {
					t.Errorf("%s: %s reveals at least %v by %s, and this at most %v by %s", where, less, low, a.Accountant, high, best.Accountant)
				}
			}
		} else if errors.Is(err, errContradiction) {
			t.Errorf("%s: %s: %v", where, less, err)
		}
	}
	t.Logf("seed %d: of %d drawn plans %d mean something, %d are answered, %d of these held against a floor, %d brackets in all", seed, n, meant, answered, judgedAny, brackets)
	if meant < n/2 || answered < meant/2 || judgedAny < answered/2 {
		t.Errorf("too few plans mean something, are answered, or are judged")
	}
}

// groupOf writes out what a group of units does to an event, where that is known to be
// attained: noise moves by so many sensitivities, choices and pure events by as many ε.
// Of others nothing is known, which the referee is told by an event that it does not know.
func groupOf(e privacy.Event, g int64) privacy.Event {
	if g <= 1 {
		return e
	}
	out, err := grouped(e, group{g, g, 0})
	if err != nil {
		return privacy.RDP{} // of nothing
	}
	switch e.(type) {
	case privacy.Approx, privacy.Selection, privacy.PermuteAndFlip, privacy.NoisyMax, privacy.SparseVector, privacy.ZCDP:
		return privacy.RDP{} // an upper bound
	}
	return out
}

// 1,000 plans, and some 5,000 brackets that are held against the referee; with DISCREET_SOAK
// a million plans.
func TestSweep(t *testing.T) {
	n, seeds := 500, uint64(2)
	switch {
	case os.Getenv("DISCREET_SOAK") != "":
		n, seeds = 25000, 40
	case testing.Short():
		n, seeds = 150, 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			sweep(t, seed, n)
		})
	}
}
