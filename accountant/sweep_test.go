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
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/accountant/internal/referee"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
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
type drawing struct {
	*rand.Rand
	last    string      // the kind of event and the form that were drawn last
	decades map[int]int // how often which was drawn
}

func (d *drawing) one(n int) bool { return d.IntN(n) == 0 }

// decade draws a number of three digits or of few, whose exponent is one of use or any.
func (d *drawing) decade(lo, hi float64) float64 {
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
	d.decades[int(math.Floor(x))]++
	return math.Max(f, 1e-300)
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// whole draws a whole number, most often a small one.
func (d *drawing) whole(most float64) int64 {
	return int64(math.Pow(most, d.Float64()*d.Float64()))
}

// event draws an event, that reveals less for greater x.
func (d *drawing) event(rel privacy.Neighbours) func(x float64) string {
	call := func(name string, rest string, first float64, up bool) func(float64) string {
		d.last = name
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
	d.last = "randomized_response"
	text := fmt.Sprintf("randomized_response(%s, k=%d)", number(p), 1+max(1, d.whole(1e3)))
	return func(float64) string { return text }
}

// forms names what plan makes of an event.
var forms = [...]string{"alone", "alone", "alone", "repeated", "repeated", "sampled", "sampled", "sampled and repeated",
	"repeated and sampled", "in a group", "in a sum", "in a sum"}

// plan draws an event alone, repeated, sampled, in a group, in a sum, and so on.
func (d *drawing) plan() sample {
	s := sample{o: Options{Neighbours: privacy.Neighbours(d.IntN(2)), Work: 1 << 19}}
	rel := s.o.Neighbours
	e := d.event(rel)
	kind := d.last
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
	form := d.IntN(12)
	defer func() { d.last = fmt.Sprintf("%s %s under %v", kind, forms[form], rel) }()
	switch form {
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
	p, err := plan.Parse(s.text(x))
	if err != nil {
		return nil, false
	}
	if e, err = p.Event(); err != nil {
		return nil, false
	}
	return e, privacy.Holds(e, s.o.Neighbours) == nil
}

// A tally counts what a sweep did.
type tally struct {
	meant, answered int
	points          int            // questions of which an answer was held against a floor
	brackets        int            // in these answers
	kinds           map[string]int // of plans that were answered: event, form and relation
	decades         map[int]int    // of numbers that were drawn
}

func newTally() tally { return tally{kinds: map[string]int{}, decades: map[int]int{}} }

func (a *tally) add(b tally) {
	a.meant, a.answered, a.points, a.brackets = a.meant+b.meant, a.answered+b.answered, a.points+b.points, a.brackets+b.brackets
	for k, n := range b.kinds {
		a.kinds[k] += n
	}
	for k, n := range b.decades {
		a.decades[k] += n
	}
}

// sweep draws n plans and says what is wrong.
func sweep(t *testing.T, seed uint64, n int) tally {
	did := newTally()
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 1)), decades: did.decades}
	for i := range n {
		d.sample(t, &did, fmt.Sprintf("sample %d of seed %d", i, seed))
	}
	return did
}

// sample draws a plan and a question.
func (d *drawing) sample(t *testing.T, did *tally, where string) {
	s := d.plan()
	kind := d.last
	delta, eps := math.Min(0.99, d.decade(-300, 0)), math.Min(1e300, d.decade(-300, 300))
	asksDelta, finer, zero := d.one(2), 1+d.decade(-12, 2), d.one(30)
	e, ok := s.read(t, 1)
	if !ok {
		return
	}
	did.meant++
	where = fmt.Sprintf("%s: %s under %v, groups of %d, asked for δ: %v, δ %v, ε %v", where, s.text(1), s.o.Neighbours, s.o.Group, asksDelta, delta, eps)
	stuck := time.AfterFunc(2*time.Minute, func() { panic(where + ": does not end") })
	defer stuck.Stop()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: panic: %v\n%s", where, r, debug.Stack())
		}
	}()
	b := referee.Of(groupOf(e, int64(s.o.Group)), s.o.Neighbours, 1, 200)
	point := func(r *Report, err error) bool {
		if err == nil && b.Floor != nil {
			did.points++
			did.brackets += len(r.Bounds)
		}
		return err == nil
	}
	ask := func(e privacy.Event, accountant Name) (*Report, error) {
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
		return
	}
	if !point(r, err) {
		return
	}
	did.answered++
	did.kinds[kind]++
	// The other question, where this one's answer is.
	best, found := r.Best()
	if found && !asksDelta {
		o := s.o
		o.Accountant = best.Accountant
		back, err := Delta(t.Context(), e, best.Epsilon.High, o)
		if wrong := judged(back, err, b); wrong != nil {
			t.Errorf("%s: and back: %v", where, wrong)
		}
		point(back, err)
	}
	// A plan that reveals less needs no more than this one has, by an accountant that
	// knows of lower bounds.
	less, ok := s.read(t, finer)
	if !ok || !found {
		return
	}
	if q, err := ask(less, []Name{PLD, GDP, Optimal}[d.IntN(3)]); err == nil {
		for _, a := range q.Bounds {
			if low, high := a.value().Low, best.value().High; low > high {
				t.Errorf("%s: %s reveals at least %v by %s, and this at most %v by %s", where, less, low, a.Accountant, high, best.Accountant)
			}
		}
	} else if errors.Is(err, errContradiction) {
		t.Errorf("%s: %s: %v", where, less, err)
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

// 1,500 points, the same in each run: a plan and a question, of which what all accountants
// answer is held against the referee. With DISCREET_SOAK a million.
func TestSweep(t *testing.T) {
	n, seeds := 700, uint64(2)
	switch {
	case os.Getenv("DISCREET_SOAK") != "":
		n, seeds = 25_000, 40
	case testing.Short():
		n, seeds = 400, 1
	}
	all, lock := newTally(), sync.Mutex{}
	t.Run("plans", func(t *testing.T) {
		for seed := range seeds {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				did := sweep(t, seed, n)
				t.Logf("of %d plans %d mean something, %d are answered; %d points, %d brackets", n, did.meant, did.answered, did.points, did.brackets)
				lock.Lock()
				defer lock.Unlock()
				all.add(did)
			})
		}
	})
	asked := all.meant > 0 // by the pattern of -run, perhaps not all seeds
	want := 1300
	if testing.Short() {
		want = n
	}
	if asked && all.points < want {
		t.Errorf("%d points were judged, want %d", all.points, want)
	}
	if testing.Short() || !asked {
		return
	}
	missing := 0
	for x := -300; x < 300; x++ {
		if all.decades[x] == 0 {
			missing++
		}
	}
	t.Logf("%d points, %d brackets, %d kinds of plans, %d of 600 decades were not drawn", all.points, all.brackets, len(all.kinds), missing)
	most, kinds := 120, 150 // so few plans do not draw all
	if n > 10_000 {
		most, kinds = 0, 180
	}
	if missing > most || len(all.kinds) < kinds {
		t.Errorf("the sweep misses what it is for: %d decades were not drawn, and but %d kinds of plans were: %v", missing, len(all.kinds), all.kinds)
	}
}
