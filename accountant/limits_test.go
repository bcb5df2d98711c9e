package accountant

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/accountant/internal/work"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// soak is how many times as much a sweep does in make soak.
func soak(n int) int {
	if os.Getenv("DISCREET_SOAK") != "" {
		return 50 * n
	}
	if testing.Short() {
		return n / 10
	}
	return n
}

// share says what CI takes of a list: one in n, others in each run and never none. With
// DISCREET_SOAK it takes all.
func share(n int) (taken func(i int) bool) {
	at := rand.IntN(n)
	return func(i int) bool { return i%n == at || os.Getenv("DISCREET_SOAK") != "" }
}

// decades are numbers of every size that a plan can be written with.
var decades = []string{"1e-400", "1e-300", "1e-160", "1e-100", "1e-30", "1e-15", "1e-8", "1e-4", "0.01", "0.1", "0.5", "1", "1.1", "3",
	"10", "100", "3e4", "1e6", "1e8", "1e12", "1e15", "1e30", "1e100", "1e160", "1e300", "1e400"}

// extremePlan is a random plan of extreme numbers.
func extremePlan(r *rand.Rand) string {
	any := func(of []string) string { return of[r.IntN(len(of))] }
	number := func() string { return any(decades) }
	small := func() string { return any(decades[:11]) } // below 1
	count := func() string { return any([]string{"2", "5", "100", "1e4", "1e9", "1e12", "9e15"}) }
	event := func() string {
		switch r.IntN(16) {
		case 0, 1:
			return fmt.Sprintf("gaussian(%s, sensitivity=%s)", number(), any([]string{"1", "1", number()}))
		case 2:
			return fmt.Sprintf("laplace(%s)", number())
		case 3:
			return fmt.Sprintf("discrete_laplace(%s, sensitivity=%s)", number(), any([]string{"1", "100", "1e6", "1e9"}))
		case 4, 5:
			return fmt.Sprintf("discrete_gaussian(%s, sensitivity=%s)", number(), any([]string{"1", "100", "1e6", "1e9"}))
		case 6:
			return fmt.Sprintf("pure(%s)", number())
		case 7:
			return fmt.Sprintf("approx(%s, %s)", number(), small())
		case 8:
			return fmt.Sprintf("zcdp(%s)", number())
		case 9:
			return fmt.Sprintf("rdp(%s: %s)", any([]string{"1.000001", "2", "1e6", "1e300"}), number())
		case 10:
			return fmt.Sprintf("gdp(%s)", number())
		case 11:
			return fmt.Sprintf("exponential(%s)", number())
		case 12:
			return fmt.Sprintf("randomized_response(%s, k=%s)", small(), any([]string{"2", "3", "1000"}))
		case 13:
			return fmt.Sprintf("tree(%s, %s)", number(), any([]string{"1", "1e9", "1e18"}))
		case 14:
			return fmt.Sprintf("selection(%s, %s)", number(), small())
		}
		return fmt.Sprintf("noisy_max(%s)", number())
	}
	term := func() string {
		e := event()
		switch r.IntN(8) {
		case 0, 1:
			e = fmt.Sprintf("poisson(%s, %s)", small(), e)
		case 2:
			e = fmt.Sprintf("without_replacement(%s, %s, %s)", any([]string{"1", "1000", "1e6"}), any([]string{"1e6", "1e12", "1e18"}), e)
		case 3:
			e = fmt.Sprintf("with_replacement(%s, %s, %s)", any([]string{"1", "1000", "1e6", "1e12"}), any([]string{"1", "1e6", "1e12", "1e18"}), e)
		case 4:
			e = fmt.Sprintf("shuffled(%s, %s)", any([]string{"1", "1000", "1e9", "1e12", "1e18"}), e)
		}
		if r.IntN(2) == 0 {
			e = count() + "*" + e
		}
		return e
	}
	plan := term()
	if r.IntN(4) == 0 {
		plan += " + " + term()
	}
	return plan
}

// ends runs f and fails if that has not ended after a time in which it would have
// a hundred times over: its loops then do not count.
func ends(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				t.Errorf("%s: panic: %v\n%s", what, r, debug.Stack())
			}
		}()
		f()
	}()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		stacks := make([]byte, 1<<16)
		t.Errorf("%s: does not end\n%s", what, stacks[:runtime.Stack(stacks, true)])
	}
}

// Every plan ends within its limit of work, whatever its numbers.
func TestExtremePlansEnd(t *testing.T) {
	const limit = 1 << 21
	r := rand.New(rand.NewPCG(1, 2))
	asked, answered, stopped := 0, 0, 0
	for range soak(500) {
		text := extremePlan(r)
		o := Options{Neighbours: []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne}[r.IntN(2)], Group: []int{0, 0, 0, 2, 1000}[r.IntN(5)], Work: limit}
		delta := []float64{0, 1e-300, 1e-100, 1e-6, 0.5}[r.IntN(5)]
		epsilon := []float64{0, 1e-300, 1e-6, 1, 30, 1e6, 1e300}[r.IntN(7)]
		p, err := plan.Parse(text)
		if err != nil {
			continue
		}
		e, err := p.Event()
		if err != nil {
			continue
		}
		asked++
		ends(t, fmt.Sprintf("%s, %+v at δ %v or ε %v", text, o, delta, epsilon), func() {
			meter := work.New(t.Context())
			var rep *Report
			var err error
			if r.IntN(2) == 0 {
				rep, err = askWith(meter, e, &delta, nil, o)
			} else {
				rep, err = askWith(meter, e, nil, &epsilon, o)
			}
			if spent := meter.Spent(); spent > limit {
				t.Errorf("%s: took %d steps of %d", text, spent, limit)
			}
			if err == nil {
				answered++
			}
			for _, f := range rep.Refused {
				if f.Unfinished {
					stopped++
				}
			}
		})
	}
	t.Logf("%d plans, %d with a bound; %d accountants were stopped", asked, answered, stopped)
	if answered < asked/4 || stopped == 0 && !testing.Short() {
		t.Error("the sweep misses what it is for")
	}
}

func askWith(meter *work.Meter, e privacy.Event, delta, epsilon *float64, o Options) (*Report, error) {
	r := &Report{Plan: e, Neighbours: o.Neighbours, Delta: delta, Epsilon: epsilon}
	err := meter.Do(o.work(), func() error {
		return (&inquiry{ctx: context.Background(), meter: meter, plan: r.Plan, o: o}).inquire(r, func(a method, p *flat) (answer, error) {
			if delta != nil {
				return a.epsilon(p, *delta)
			}
			return a.delta(p, *epsilon)
		})
	})
	return r, err
}

func FuzzPlanEnds(f *testing.F) {
	f.Add("gaussian(1e-160) + 3*poisson(0.5, laplace(1))", uint8(0), 1e-6)
	f.Add("shuffled(1e12, pure(3))", uint8(1), 0.0)
	f.Add("parallel(2*gdp(1e300), with_replacement(3, 5, approx(1, 0.1)))", uint8(1), 0.5)
	f.Fuzz(func(t *testing.T, text string, how uint8, x float64) {
		p, err := plan.Parse(text)
		if err != nil {
			return
		}
		e, err := p.Event()
		if err != nil {
			return
		}
		o := Options{Neighbours: privacy.Neighbours(how & 1), Group: int(how >> 2), Work: 1 << 20}
		meter := work.New(t.Context())
		if how&2 == 0 && x >= 0 && x < 1 {
			_, err = askWith(meter, e, &x, nil, o)
		} else if x >= 0 && x < 1e308 {
			_, err = askWith(meter, e, nil, &x, o)
		}
		if meter.Spent() > o.Work {
			t.Errorf("%s: %d steps of %d, %v", text, meter.Spent(), o.Work, err)
		}
	})
}

// slow took from twenty seconds to for ever.
var slow = []struct {
	plan  string
	rel   privacy.Neighbours
	group int
	delta float64
}{
	{"gaussian(1e-160)", privacy.AddRemove, 0, 1e-6},
	{"gaussian(1e-400)", privacy.AddRemove, 0, 1e-6},
	{"gdp(1e300)", privacy.AddRemove, 0, 1e-6},
	{"1000*poisson(0.5, gaussian(1e-4))", privacy.AddRemove, 0, 1e-6},
	{"discrete_gaussian(30000, sensitivity=100)", privacy.AddRemove, 0, 1e-6},
	{"100*poisson(0.1, discrete_gaussian(10))", privacy.AddRemove, 5, 1e-6},
	{"shuffled(1e12, pure(3))", privacy.ReplaceOne, 0, 1e-6},
	{"11188*gaussian(1e76) + 8*without_replacement(1, 47, approx(7.92e-142, 0.022))", privacy.ReplaceOne, 0, 0.01},
	{"7*poisson(0.01, gaussian(1e30)) + 3*laplace(1e-3)", privacy.AddRemove, 0, 1e-6},
}

// CI asks of a third of them, others in each run, DISCREET_SOAK of all.
func TestSlowPlansEnd(t *testing.T) {
	taken := share(3)
	for i, tc := range slow {
		if !taken(i) {
			continue
		}
		ends(t, tc.plan, func() {
			meter := work.New(t.Context())
			r, err := askWith(meter, parse(t, tc.plan), &tc.delta, nil, Options{Neighbours: tc.rel, Group: tc.group})
			if err != nil {
				t.Errorf("%s: %v", tc.plan, err)
			}
			for _, f := range r.Refused {
				if f.Unfinished {
					t.Errorf("%s: %s %s", tc.plan, f.Accountant, f.Why)
				}
			}
			t.Logf("%s: %d steps", tc.plan, meter.Spent())
		})
	}
	// Two asked for δ: the cell without end around a loss that almost nobody has lies off
	// every lattice, and the transform of a Gaussian of next to no variance has no end.
	for plan, epsilon := range map[string]float64{
		"5*poisson(1.48e-299, gaussian(0.003076227318104488))":                9.01e-239,
		"3575*tree(2.79e+205, 391883) + 2*poisson(0.938, gdp(0.00502))":       7.59e16,
		"55*gaussian(1e+220) + poisson(0.0452593527557627, tree(5e71, 4762))": 9.03e-143,
	} {
		ends(t, plan, func() {
			if _, err := askWith(work.New(t.Context()), parse(t, plan), nil, &epsilon, Options{Neighbours: privacy.AddRemove, Work: 1 << 19}); err != nil {
				t.Errorf("%s: %v", plan, err)
			}
		})
	}
}

// A deadline leaves accountants out of a report; of a charge it changes nothing but whether
// there is one.
func TestChargesDoNotDependOnTheClock(t *testing.T) {
	approx := newFilter(t, filter.Approx, "1", "1e-6", "0")
	for _, text := range []string{"100*poisson(0.1, discrete_gaussian(10))", "3*laplace(2) + 100*gaussian(7)", "500*poisson(0.01, laplace(1))"} {
		for _, limit := range []int64{1 << 16, 1 << 22, 1 << 26} {
			o := Options{Work: limit}
			want, refused := Guarantee(t.Context(), parse(t, text), approx, parseDelta(t, "1e-6"), o)
			if refused != nil && !errors.Is(refused, ErrWork) && !strings.Contains(refused.Error(), fmt.Sprint(limit)) && !strings.Contains(refused.Error(), "steps") {
				t.Errorf("%s, %d steps: the refusal does not name the limit: %v", text, limit, refused)
			}
			for _, left := range []time.Duration{-1, time.Microsecond, time.Millisecond, 10 * time.Millisecond, time.Hour} {
				ctx, cancel := context.WithTimeout(t.Context(), left)
				got, err := Guarantee(ctx, parse(t, text), approx, parseDelta(t, "1e-6"), o)
				cancel()
				switch {
				case errors.Is(err, context.DeadlineExceeded) && left < time.Hour:
				case fmt.Sprint(got, err) != fmt.Sprint(want, refused):
					t.Errorf("%s, %d steps, with %v left: %v, %v; without a clock %v, %v", text, limit, left, got, err, want, refused)
				}
			}
		}
	}
}

// After its context was cancelled nothing goes on: counted in steps.
func TestCancellation(t *testing.T) {
	for _, text := range []string{"1000*poisson(0.5, gaussian(1e-4))", "100*discrete_gaussian(3000)", "500*poisson(0.01, laplace(1))", "with_replacement(1e6, 100, pure(0.01))"} {
		for _, after := range []int64{0, 1 << 14, 1 << 18, 1 << 21} {
			ctx, cancel := context.WithCancel(t.Context())
			c := &cancelling{Context: ctx, cancel: cancel, after: after}
			c.meter = work.New(c)
			rel := privacy.AddRemove
			if strings.HasPrefix(text, "with_replacement") {
				rel = privacy.ReplaceOne
			}
			r := &Report{Plan: parse(t, text), Neighbours: rel, Delta: new(float64)}
			err := c.meter.Do(DefaultWork, func() error {
				return (&inquiry{ctx: c, meter: c.meter, plan: r.Plan, o: Options{Neighbours: rel}}).inquire(r, func(a method, p *flat) (answer, error) { return a.epsilon(p, 1e-6) })
			})
			cancel()
			if c.at == 0 && err == nil {
				continue // it ended before
			}
			// One step that Spend was told of at once may be as long as a grid.
			if late := c.meter.Spent() - c.at; !errors.Is(err, context.Canceled) || late > 1<<24 {
				t.Errorf("%s, cancelled after %d steps: %d steps later, %v", text, after, late, err)
			}
		}
	}
}

// A cancelling context cancels itself once its meter has counted enough.
type cancelling struct {
	context.Context
	cancel    func()
	meter     *work.Meter
	after, at int64
}

func (c *cancelling) Err() error {
	if c.meter != nil && c.at == 0 && c.meter.Spent() >= c.after {
		c.cancel()
		c.at = max(1, c.meter.Spent())
	}
	return c.Context.Err()
}

func TestDeadlineNamesWhatIsMissing(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	defer cancel()
	// The hour is over once the basic accountant has answered.
	late := &lateContext{Context: ctx}
	r := &Report{Plan: parse(t, "10*laplace(3)"), Delta: new(float64)}
	meter := work.New(late)
	err := meter.Do(DefaultWork, func() error {
		return (&inquiry{ctx: late, meter: meter, plan: r.Plan, o: Options{}}).inquire(r, func(a method, p *flat) (answer, error) {
			got, err := a.epsilon(p, 1e-6)
			late.over = true
			return got, err
		})
	})
	if err != nil || len(r.Bounds) != 1 || r.Bounds[0].Accountant != "basic" {
		t.Fatalf("bounds %v, %v", r.Bounds, err)
	}
	if len(r.Refused) != 7 {
		t.Errorf("%d accountants are missing, want 7: %v", len(r.Refused), r.Refused)
	}
	for _, f := range r.Refused {
		if !f.Unfinished {
			t.Errorf("%s: %s: not said to be unfinished", f.Accountant, f.Why)
		}
	}
}

type lateContext struct {
	context.Context
	over bool
}

func (c *lateContext) Err() error {
	if c.over {
		return context.DeadlineExceeded
	}
	return nil
}
