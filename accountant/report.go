package accountant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/accountant/internal/work"
	"github.com/discreet-dp/discreet/privacy"
)

// A Bracket is a number known from both sides: Low <= truth <= High, where the
// truth is the least value that is valid for the worst mechanism of the plan. High
// is what decisions use; +Inf means that no finite value is known to hold. Low is
// 0 where the method gives upper bounds only. Estimate is the method's own value.
type Bracket struct{ Low, Estimate, High float64 }

// check refuses a bracket that no number lies in.
func (b Bracket) check() error { return loss.Bracket(b).Check() }

func bracket(low, estimate, high float64) Bracket {
	return Bracket{Low: low, Estimate: estimate, High: high}
}

// Options say what a plan is accounted for. The zero Options is every accountant,
// add-remove, at the default orders.
type Options struct {
	Neighbours privacy.Neighbours // the relation in force
	Orders     []float64          // Rényi orders of moments and rdp, above 1; nil is DefaultOrders and, beyond them, some extreme ones
	Accountant Name               // the only accountant to ask; empty is all
	Group      int                // how many units change together; 0 is one
	Work       int64              // steps that an answer may take; 0 is DefaultWork

	unjudged bool // who asks holds the answers against the referee together
}

// DefaultWork is how many steps one answer may take if Options.Work does not say: at most
// a quarter of them each accountant, and pld what these leave. Steps are counted, not timed,
// so that a plan that is answered on one machine is answered on every one. A step takes
// some 7 ns, all of them some 4 s.
const DefaultWork = 600_000_000

func (o Options) work() int64 {
	if o.Work > 0 {
		return o.Work
	}
	return DefaultWork
}

// ErrWork is wrapped where an answer needs more steps than it may take.
var ErrWork = work.ErrLimit

// A Bound is one accountant's answer.
type Bound struct {
	Accountant Name
	Epsilon    *Bracket  // set when a delta was given
	Delta      *Bracket  // set when an epsilon was given
	Direction  Direction // the neighbour that attains High
	Note       string    // theorem, order, fallback, why Low is 0

	// Directions has what holds for each direction by itself, of plans without
	// parallel parts, where the accountant tells them apart.
	Directions []Directed
}

// A Directed bracket holds for one way in which neighbours may lie.
type Directed struct {
	Direction Direction
	Bracket
}

// value returns the bracket that was asked for.
func (b Bound) value() Bracket {
	if b.Epsilon != nil {
		return *b.Epsilon
	}
	return *b.Delta
}

func (b Bound) quantity() string {
	if b.Epsilon != nil {
		return "ε ="
	}
	return "δ ="
}

// A Refusal says why an accountant has no bound.
type Refusal struct {
	Accountant Name
	Why        string
	Unfinished bool // it may have one, but was stopped by Options.Work or the context's deadline
}

// A Report is what all accountants say of a plan.
type Report struct {
	Plan           privacy.Event
	Neighbours     privacy.Neighbours
	Epsilon, Delta *float64  // the one that was given
	Bounds         []Bound   // the least High first; estimates without a bound last
	Refused        []Refusal // accountants that have none
	Warnings       []Warning // what the plan cannot show
}

// Best returns the least certified bound; ok is false if no accountant has one.
func (r *Report) Best() (b Bound, ok bool) {
	if len(r.Bounds) == 0 || math.IsInf(r.Bounds[0].value().High, 1) {
		return Bound{}, false
	}
	return r.Bounds[0], true
}

// ErrNoBound is wrapped when every accountant refuses a plan.
var ErrNoBound = errors.New("no accountant has a bound")

// Epsilon returns every accountant's epsilon for the plan at delta, which lies in
// [0, 1). An accountant that has not finished at the deadline of ctx is refused; a ctx
// that is cancelled is an error.
func Epsilon(ctx context.Context, plan privacy.Event, delta float64, o Options) (*Report, error) {
	return (&inquiry{ctx: ctx, meter: work.New(ctx), plan: plan, o: o}).epsilon(delta)
}

// Delta returns every accountant's delta for the plan at epsilon, which is finite
// and not negative. The deadline of ctx is that of Epsilon.
func Delta(ctx context.Context, plan privacy.Event, epsilon float64, o Options) (*Report, error) {
	return (&inquiry{ctx: ctx, meter: work.New(ctx), plan: plan, o: o}).delta(epsilon)
}

// An answer is one accountant's value for one flat plan.
type answer struct {
	Bracket
	direction Direction
	note      string
	each      []Directed // nil where directions are not told apart
}

// A method is an accountant: epsilon at a delta in [0, 1), and delta at an epsilon.
type method struct {
	name    Name
	epsilon func(p *flat, delta float64) (answer, error)
	delta   func(p *flat, epsilon float64) (answer, error)
}

// methods lists the accountants, in the order of Names.
func methods() []method {
	return []method{
		{Basic, basicEpsilon, basicDelta},
		{Advanced, advancedEpsilon, inverted(advancedEpsilon)},
		{Optimal, optimalEpsilon, optimalDelta},
		{Moments, momentsEpsilon, momentsDelta},
		{RDP, rdpEpsilon, rdpDelta},
		{ZCDP, zcdpEpsilon, zcdpDelta},
		{GDP, gdpEpsilon, gdpDelta},
		{PLD, pldEpsilon, pldDelta},
	}
}

// An inquiry asks a plan at one point or several. What depends on no point is there after the first.
type inquiry struct {
	ctx   context.Context // that of the meter
	meter *work.Meter
	plan  privacy.Event
	o     Options
	keeps bool // asks at several

	plans   []*flat
	methods []method // nil before the first point
	floors  []certain
}

func (q *inquiry) epsilon(delta float64) (*Report, error) {
	if !(delta >= 0 && delta < 1) {
		return nil, fmt.Errorf("account: delta %v does not lie in [0, 1)", delta)
	}
	r := &Report{Neighbours: q.o.Neighbours, Delta: &delta}
	return r, q.ask(r, func(a method, p *flat) (answer, error) { return a.epsilon(p, delta) })
}

func (q *inquiry) delta(epsilon float64) (*Report, error) {
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return nil, fmt.Errorf("account: epsilon %v is negative or not finite", epsilon)
	}
	r := &Report{Neighbours: q.o.Neighbours, Epsilon: &epsilon}
	return r, q.ask(r, func(a method, p *flat) (answer, error) { return a.delta(p, epsilon) })
}

func (q *inquiry) ask(r *Report, value func(method, *flat) (answer, error)) error {
	return q.meter.Do(q.o.work(), func() error { return q.inquire(r, value) })
}

// prepare flattens the plan, the first time.
func (q *inquiry) prepare() error {
	if q.methods != nil {
		return nil
	}
	plan, err := privacy.New(q.plan)
	if err != nil {
		return err
	}
	q.plan = plan // a copy: later changes of the plan do not change the report
	plans, ms, err := prepare(q.meter, plan, q.o)
	if err != nil {
		return err
	}
	for _, p := range plans {
		p.keeps = q.keeps
	}
	if !q.o.unjudged {
		q.floors = floorsOf(plans)
	}
	q.plans, q.methods = plans, ms
	return nil
}

func (q *inquiry) inquire(r *Report, value func(method, *flat) (answer, error)) error {
	r.Plan = q.plan
	if err := q.prepare(); err != nil {
		return fmt.Errorf("account: %w", err)
	}
	r.Plan = q.plan
	o := q.o
	asked := false
	for _, m := range q.methods {
		if o.Accountant != "" && m.name != o.Accountant {
			continue
		}
		asked = true
		a, err := worst(q.meter, o, m, q.plans, func(p *flat) (answer, error) { return value(m, p) })
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			r.Refused = append(r.Refused, Refusal{m.name, "did not finish in the time given", true})
			continue
		case errors.Is(err, context.Canceled):
			return fmt.Errorf("account: %w", err)
		case err != nil:
			r.Refused = append(r.Refused, Refusal{m.name, err.Error(), errors.Is(err, ErrWork)})
			continue
		}
		b := Bound{Accountant: m.name, Direction: a.direction, Note: a.note, Directions: a.each}
		if r.Delta != nil {
			b.Epsilon = &a.Bracket
		} else {
			b.Delta = &a.Bracket
		}
		r.Bounds = append(r.Bounds, b)
	}
	if !asked {
		return fmt.Errorf("account: there is no accountant %q", o.Accountant)
	}
	slices.SortStableFunc(r.Bounds, func(a, b Bound) int { return cmp.Compare(a.value().High, b.value().High) })
	if !o.unjudged {
		r.judge(q.floors)
	}
	if len(r.Bounds) == 0 {
		return fmt.Errorf("account: %w", r.none(o))
	}
	if !q.keeps {
		r.warn(q.ctx, o)
	}
	if err := q.ctx.Err(); errors.Is(err, context.Canceled) {
		return fmt.Errorf("account: %w", err)
	}
	return r.contradiction()
}

// none is the error of a report without a bound.
func (r *Report) none(o Options) error {
	if o.Accountant != "" {
		return errors.New(r.Refused[0].Why)
	}
	for _, f := range r.Refused {
		if f.Unfinished {
			return fmt.Errorf("%w; %s %s", ErrNoBound, f.Accountant, f.Why)
		}
	}
	return ErrNoBound
}

// prepare returns the flat plans to account for, and the methods to do it by: for
// groups of units either the plan changes, or what is made of the methods' answers.
func prepare(meter *work.Meter, plan privacy.Event, o Options) ([]*flat, []method, error) {
	ms := methods()
	plans, err := flattenGroups(meter, plan, o)
	if errors.Is(err, errGroup) {
		for i := range ms {
			ms[i] = ms[i].forGroups(float64(o.Group))
		}
		plans, err = flatten(meter, plan, o)
	}
	return plans, ms, err
}

var errContradiction = errors.New("accountants contradict each other, which is a fault")

// contradiction is an error if one accountant's Low is above another's High: then
// one of them is wrong, and none is to be believed.
func (r *Report) contradiction() error {
	for _, a := range r.Bounds {
		for _, b := range r.Bounds {
			if low, high := a.value().Low, b.value().High; low > high*(1+1e-9) {
				return fmt.Errorf("account: %w: %s says at least %v, %s at most %v",
					errContradiction, a.Accountant, low, b.Accountant, high)
			}
		}
	}
	return nil
}

// worst is the answer for the worst of several plans, any of which may be the one
// that an adversary meets (parallel composition).
func worst(meter *work.Meter, o Options, m method, plans []*flat, value func(*flat) (answer, error)) (w answer, err error) {
	share := o.work() / 4
	if m.name == PLD {
		share = o.work() // the work that the others left
	}
	err = meter.Do(share, func() error {
		for i, p := range plans {
			a, err := value(p)
			if err == nil {
				err = a.check()
			}
			if err != nil {
				return err
			}
			if i == 0 {
				w = a
				continue
			}
			if a.High > w.High {
				w.direction, w.note = a.direction, a.note
			}
			w.Low, w.Estimate, w.High = max(w.Low, a.Low), max(w.Estimate, a.Estimate), max(w.High, a.High)
			w.each = nil
		}
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	return w, nil
}

// check refuses what no number lies in: a NaN or a lost sign must never become a
// small answer.
func (a answer) check() error {
	if err := a.Bracket.check(); err != nil {
		return err
	}
	if a.Low < 0 {
		return fmt.Errorf("a bound is negative: %v", a.Low)
	}
	return nil
}
