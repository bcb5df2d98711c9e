package accountant

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/discreet-dp/discreet/accountant/internal/work"
	"github.com/discreet-dp/discreet/privacy"
)

// A flat plan is a list of events with counts, none of which is a combinator.
type flat struct {
	meter  *work.Meter
	terms  []term
	orders []float64  // Rényi orders to take; nil is the default ones
	found  []spectrum // divergences that were computed already
	keeps  bool       // compositions, for answers at other points
	kept   []composition
}

// A term is an event that happens count times.
type term struct {
	event privacy.Event
	rel   privacy.Neighbours // the relation that the unit's change has within this event
	side  int                // 1 in the part that a unit leaves for another, where the others see it come
	count float64            // whole, below 2^53
	claims
	noise *sampledGaussian // looked up once
}

// maxPlans bounds the flat plans that one plan with parallel parts stands for.
const maxPlans = 256

var errTooMany = errors.New("too many combinations of parallel parts; make parallel the outermost, each part with its own whole plan")

// flatten returns the flat plans that plan may amount to; a guarantee must hold
// for each. Without parallel parts there is one.
func flatten(meter *work.Meter, plan privacy.Event, o Options) ([]*flat, error) {
	if plan == nil {
		return nil, errors.New("the plan is missing")
	}
	if err := privacy.Holds(plan, o.Neighbours); err != nil {
		return nil, err
	}
	return flattenHeld(meter, plan, o)
}

// flattenHeld is flatten of a plan that is known to hold, in which events may stand that
// are this package's alone.
func flattenHeld(meter *work.Meter, plan privacy.Event, o Options) ([]*flat, error) {
	if err := plan.Validate(); err != nil {
		return nil, err
	}
	for _, order := range o.Orders {
		if !(order > 1) || math.IsInf(order, 1) {
			return nil, fmt.Errorf("order %v is not above 1 and finite", order)
		}
	}
	worlds, err := expand(planned(plan, o.Neighbours), o.Neighbours)
	if err != nil {
		return nil, err
	}
	plans := make([]*flat, len(worlds))
	err = meter.Do(o.work(), func() (err error) {
		for i, w := range worlds {
			if plans[i], err = w.flat(meter); err != nil {
				return err
			}
			plans[i].orders = o.Orders
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return plans, nil
}

// perTerm is what reading a term costs: some tens of µs of rational arithmetic.
const perTerm = 1 << 11

// A world is what may happen to one unit: events and their counts.
type world []term

// expand lists the worlds of e.
func expand(e privacy.Event, rel privacy.Neighbours) ([]world, error) {
	switch e := e.(type) {
	case privacy.Sum:
		return product(len(e.Events), func(i int) ([]world, error) { return expand(e.Events[i], rel) })
	case privacy.Repeat:
		inner, err := expand(e.Event, rel)
		if err != nil {
			return nil, err
		}
		return repeat(inner, float64(e.Count))
	case privacy.Parallel:
		return parallel(e.Events, rel)
	}
	return []world{{{event: e, rel: rel, count: 1}}}, nil
}

// parallel lists the worlds of events on the parts of a public partition.
//
// Theorem (McSherry 2009, "Privacy Integrated Queries", Theorem 4, for one unit):
// under AddRemove the unit lies in one part, and the other parts do not change.
// Under ReplaceOne the old and the new row lie in one part, which sees a
// replacement, or in two, one of which sees a removal and the other an addition:
// the outputs are then independent, and the loss is that of both events under
// AddRemove.
func parallel(events []privacy.Event, rel privacy.Neighbours) (worlds []world, err error) {
	seen := map[string]bool{}
	add := func(w []world) error {
		for _, w := range w {
			if key := w.key(); !seen[key] {
				seen[key] = true
				worlds = append(worlds, w)
			}
		}
		if len(worlds) > maxPlans {
			return errTooMany
		}
		return nil
	}
	for i, e := range events {
		inner, err := expand(e, rel)
		if err != nil {
			return nil, err
		}
		if err := add(inner); err != nil {
			return nil, err
		}
		if rel != privacy.ReplaceOne {
			continue
		}
		for _, f := range events[:i] {
			pair := []privacy.Event{e, f}
			both, err := product(2, func(i int) ([]world, error) {
				worlds, err := expand(pair[i], privacy.AddRemove)
				for _, w := range worlds {
					for j := range w {
						w[j].side = i
					}
				}
				return worlds, err
			})
			if err != nil {
				return nil, err
			}
			if err := add(both); err != nil {
				return nil, err
			}
		}
	}
	return worlds, nil
}

// product lists every choice of one world from each of n lists, joined.
func product(n int, list func(int) ([]world, error)) ([]world, error) {
	all := []world{nil}
	for i := range n {
		next, err := list(i)
		if err != nil {
			return nil, err
		}
		if len(all)*len(next) > maxPlans {
			return nil, errTooMany
		}
		if len(all) == 1 && len(next) == 1 {
			all[0] = append(all[0], next[0]...)
			continue
		}
		var joined []world
		for _, a := range all {
			for _, b := range next {
				joined = append(joined, append(a[:len(a):len(a)], b...))
			}
		}
		all = joined
	}
	return all, nil
}

// repeat lists the worlds of n repetitions, each of which may meet another of the
// inner worlds.
func repeat(inner []world, n float64) ([]world, error) {
	if len(inner) == 1 {
		return []world{inner[0].times(n)}, nil
	}
	// Try each count of the first event, then the others.
	if n >= maxPlans {
		return nil, errTooMany
	}
	var all []world
	for k := 0.0; k <= n; k++ {
		rest := []world{nil}
		if n > k {
			var err error
			if rest, err = repeat(inner[1:], n-k); err != nil {
				return nil, err
			}
		}
		for _, r := range rest {
			all = append(all, append(inner[0].times(k), r...))
		}
		if len(all) > maxPlans {
			return nil, errTooMany
		}
	}
	return all, nil
}

func (w world) times(n float64) world {
	if n == 0 {
		return nil
	}
	out := make(world, len(w))
	for i, t := range w {
		t.count *= n
		out[i] = t
	}
	return out
}

func (w world) key() string {
	var b strings.Builder
	for _, t := range w {
		fmt.Fprintf(&b, "%v*%v %v %d;", t.count, t.event, t.rel, t.side)
	}
	return b.String()
}

// flat joins equal events and looks up what is known of each.
func (w world) flat(meter *work.Meter) (*flat, error) {
	p := &flat{meter: meter}
	at := map[string]int{}
	for _, t := range w {
		meter.Spend(perTerm)
		key := ""
		if len(w) > 1 {
			key = fmt.Sprint(t.event, t.rel, t.side)
		}
		i, ok := at[key]
		if !ok {
			i = len(p.terms)
			at[key] = i
			c, err := describe(meter, t.event, t.rel)
			if err != nil {
				return nil, err
			}
			p.terms = append(p.terms, term{event: t.event, rel: t.rel, side: t.side, claims: c})
		}
		p.terms[i].count += t.count
		if p.terms[i].count >= 1<<53 {
			return nil, fmt.Errorf("%v: happens more than 2^53 times", t.event)
		}
	}
	return p, nil
}

// unsupported is the refusal of an event that a method knows nothing of.
func unsupported(t term, want string) error {
	return fmt.Errorf("%v: %s", t.event, want)
}
