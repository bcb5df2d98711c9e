package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/bounds"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/privacy"
)

// odometer goes through a plan event by event and prints what each odometer calls spent.
func (a *accounting) odometer(ctx context.Context, t *terminal.Terminal, args []string) error {
	if err := onePlan(args); err != nil {
		return err
	}
	e, err := a.event(args[0])
	if err != nil {
		return err
	}
	switch {
	case a.delta == nil:
		return diagnostic.New("D113", diagnostic.Span{}, "give a --delta").
			Try("--delta 1e-6: the odometer's bounds hold at all stops together with probability 1 - 1e-6")
	case a.epsilon != nil:
		return diagnostic.New("D115", diagnostic.Span{}, "an odometer has no budget, so no --epsilon").
			Try("discreet account runs says how often a filter admits an event within --epsilon and --delta")
	}
	_, delta, err := a.budget(new(big.Rat))
	if err != nil {
		return err
	}
	j, err := a.journey(ctx, e, delta)
	if err != nil {
		return uncharged(err)
	}
	stops, err := j.run(j.stops())
	if err != nil {
		return uncharged(err)
	}
	if a.json {
		return t.WriteJSON(j.json(e, a, delta, stops))
	}
	kept := ""
	if j.kept.Sign() > 0 {
		kept = fmt.Sprintf(", of which %s is kept for deltas of the events", bounds.Decimal(j.kept.Rat()))
	}
	fmt.Fprintf(t.Out, "plan      %v\nrelation  %v\ndelta     %s%s\ntight at  a sum of squares of %s\n\n", e, a.options.Neighbours, bounds.Decimal(a.delta), kept, bounds.Decimal(j.at))
	j.grid(stops).Write(t.Out)
	return nil
}

// A leg is a run of equal events of a plan.
type leg struct {
	event privacy.Event
	times *big.Int
	size  *big.Int    // how many releases one event is
	spent filter.Sums // by one event
	open  bool        // its guarantee needs a delta to be chosen
}

// A journey is a plan as legs, and how the odometers are set for it.
type journey struct {
	legs      []leg
	kept      privacy.Delta
	at        *big.Rat
	odometers []namedOdometer
}

type namedOdometer struct {
	name string
	*filter.Odometer
}

// maxLegs bounds what is printed and computed.
const maxLegs = 1000

// legsOf lists the terms of a plan in their order; a sum that is repeated is one term.
func legsOf(e privacy.Event, times *big.Int, legs []leg) []leg {
	switch e := e.(type) {
	case privacy.Sum:
		if times.IsInt64() && times.Int64() == 1 {
			for _, part := range e.Events {
				legs = legsOf(part, times, legs)
			}
			return legs
		}
	case privacy.Repeat:
		return legsOf(e.Event, new(big.Int).Mul(times, big.NewInt(int64(e.Count))), legs)
	}
	return append(legs, leg{event: e, times: times, size: releases(e)})
}

// releases counts the events that e is made of.
func releases(e privacy.Event) *big.Int {
	switch e := e.(type) {
	case privacy.Sum:
		n := new(big.Int)
		for _, part := range e.Events {
			n.Add(n, releases(part))
		}
		return n
	case privacy.Repeat:
		n := big.NewInt(int64(e.Count))
		return n.Mul(n, releases(e.Event))
	}
	return big.NewInt(1)
}

// journey sets the odometers for a plan, before the first event: they are tightest at the
// plan's end, or where the flag says. Half of delta is kept for events that have a delta.
func (a *accounting) journey(ctx context.Context, e privacy.Event, delta privacy.Delta) (*journey, error) {
	j := &journey{legs: legsOf(e, big.NewInt(1), nil)}
	if len(j.legs) > maxLegs {
		return nil, fmt.Errorf("the plan has %d terms, more than the %d that odometers are shown for", len(j.legs), maxLegs)
	}
	deltas, open := new(big.Rat), new(big.Int) // Σδ of events that have a delta; how many events need one
	for i := range j.legs {
		l := &j.legs[i]
		err := a.price(ctx, l, privacy.Delta{})
		if err != nil && !l.open {
			return nil, err
		}
		if l.open {
			open.Add(open, l.times)
		}
		deltas.Add(deltas, new(big.Rat).Mul(l.spent.Delta.Rat(), new(big.Rat).SetInt(l.times)))
	}
	if deltas.Sign() > 0 || open.Sign() > 0 {
		j.kept = delta.MulRat(big.NewRat(1, 2))
	}
	share := new(big.Rat).Sub(j.kept.Rat(), deltas)
	if share.Sign() < 0 {
		return nil, fmt.Errorf("the deltas of the events add up to %s, more than half of %v, which is kept for them", bounds.Decimal(deltas), delta)
	}
	if open.Sign() > 0 {
		each, err := privacy.NewDelta(terminal.Down(share.Quo(share, new(big.Rat).SetInt(open)), 6))
		if err != nil || each.Sign() == 0 {
			return nil, fmt.Errorf("half of delta is kept for the deltas of events, and no delta is left for the %v events that need one", open)
		}
		for i := range j.legs {
			if l := &j.legs[i]; l.open {
				if err := a.price(ctx, l, each); err != nil {
					return nil, err
				}
			}
		}
	}
	if j.at = a.at; j.at == nil {
		total := filter.Sums{}
		for _, l := range j.legs {
			total = total.Add(l.spent.Times(l.times))
		}
		if j.at = total.Squares.Rat(); j.at.Sign() == 0 {
			return nil, errors.New("the plan spends deltas alone, so there is no sum of squares at which the bound could be tight")
		}
	}
	return j, a.set(j, delta)
}

// price fills in what one event of a leg spends: its own loss, or else its guarantee as a
// plan that is fixed in advance, for which some events need a delta.
func (a *accounting) price(ctx context.Context, l *leg, delta privacy.Delta) (err error) {
	n := a.options.Neighbours
	if a.options.Group <= 1 {
		l.spent, err = filter.SpentOf([]privacy.Event{privacy.OfPlan(l.event, n)}, n)
		if !errors.Is(err, filter.ErrUnsupported) {
			return err
		}
	}
	spent := func(measure filter.Measure) (filter.Sums, error) {
		b := filter.Budget{Measure: measure, Neighbours: n}
		if b.Epsilon, err = privacy.NewEpsilon(big.NewRat(1, 1)); err != nil {
			return filter.Sums{}, err
		}
		if measure != filter.Pure {
			if b.Delta, err = privacy.NewDelta(big.NewRat(1, 2)); err != nil {
				return filter.Sums{}, err
			}
		}
		f, err := filter.New(b)
		if err != nil {
			return filter.Sums{}, err
		}
		e, err := accountant.Guarantee(ctx, l.event, f, delta, a.options)
		if err != nil {
			return filter.Sums{}, err
		}
		return filter.SpentOf([]privacy.Event{e}, n)
	}
	l.spent, err = spent(filter.ZCDP)
	l.open = err != nil && delta.Sign() == 0
	if err != nil {
		return err
	}
	if pure, err := spent(filter.Pure); err == nil {
		l.spent.Epsilon, l.spent.NoPoint = pure.Epsilon, false
	}
	return nil
}

// set makes the odometers.
func (a *accounting) set(j *journey, delta privacy.Delta) error {
	o := filter.OdometerOptions{Delta: delta, Kept: j.kept, At: j.at}
	add := func(name string, odometer *filter.Odometer, err error) error {
		j.odometers = append(j.odometers, namedOdometer{name, odometer})
		return err
	}
	errs := []error{add("basic", filter.NewBasicOdometer(delta), nil)}
	for _, one := range []struct {
		name string
		of   func(filter.OdometerOptions) (*filter.Odometer, error)
	}{{"line", filter.NewLineOdometer}, {"mixture", filter.NewMixtureOdometer}, {"stitched", filter.NewStitchedOdometer}} {
		odometer, err := one.of(o)
		errs = append(errs, add(one.name, odometer, err))
	}
	if a.records > 0 {
		odometer, err := filter.NewRogersOdometer(delta, a.records)
		errs = append(errs, add("rogers", odometer, err))
	}
	return errors.Join(errs...)
}

// A stop is a place in the plan, after some events of a leg.
type stop struct {
	leg     int
	times   *big.Int // of the leg's event
	events  *big.Int // of the whole plan so far
	squares *big.Rat
	epsilon []*privacy.Epsilon // by odometer; nil if it has no bound
}

// stops are the ends of the legs and, if there are few legs, also the first 1, 2, 5, 10, ... events.
func (j *journey) stops() (stops []stop) {
	for i, l := range j.legs {
		if len(j.legs) <= 16 {
			for n := big.NewInt(1); n.Cmp(l.times) < 0; {
				stops = append(stops, stop{leg: i, times: new(big.Int).Set(n)})
				// 1, 2, 5, 10: times 2, but 5 after 2.
				if n.Mul(n, big.NewInt(2)); strings.HasPrefix(n.String(), "4") {
					n.Add(n, new(big.Int).Quo(n, big.NewInt(4)))
				}
			}
		}
		stops = append(stops, stop{leg: i, times: l.times})
	}
	return stops
}

// run reads the odometers at each stop.
func (j *journey) run(stops []stop) ([]stop, error) {
	before, events, leg := filter.Sums{}, new(big.Int), 0 // sums and events before the leg
	for i := range stops {
		s := &stops[i]
		for ; leg < s.leg; leg++ {
			l := j.legs[leg]
			before = before.Add(l.spent.Times(l.times))
			events.Add(events, new(big.Int).Mul(l.size, l.times))
		}
		l := j.legs[s.leg]
		at := before.Add(l.spent.Times(s.times))
		s.squares = at.Squares.Rat()
		s.events = new(big.Int).Add(events, new(big.Int).Mul(l.size, s.times))
		for _, o := range j.odometers {
			eps, err := o.Epsilon(at)
			switch {
			case err == nil:
				s.epsilon = append(s.epsilon, &eps)
			case errors.Is(err, filter.ErrNoPoint), errors.Is(err, filter.ErrNoBound), errors.Is(err, filter.ErrBeyond):
				s.epsilon = append(s.epsilon, nil)
			default:
				return nil, fmt.Errorf("%s odometer after %v events: %w", o.name, s.events, err)
			}
		}
	}
	return stops, nil
}

func (j *journey) grid(stops []stop) terminal.Grid {
	g := terminal.Grid{{Title: "events", Right: true}, {Title: "the last of them", Most: noteWidth}}
	for _, o := range j.odometers {
		g = append(g, terminal.Column{Title: o.name, Right: true})
	}
	for _, s := range stops {
		cells := []string{s.events.String(), terminal.OneLine(repeated(s.times, j.legs[s.leg].event))}
		for _, eps := range s.epsilon {
			if eps == nil {
				cells = append(cells, "-")
				continue
			}
			cells = append(cells, string(bounds.Decimal(terminal.Up(eps.Rat(), 6))))
		}
		for i, cell := range cells {
			g[i].Cells = append(g[i].Cells, cell)
		}
	}
	return g
}

// repeated prints an event that happens several times.
func repeated(times *big.Int, e privacy.Event) string {
	if times.IsInt64() {
		if n := times.Int64(); n == 1 {
			return e.String()
		} else if n <= privacy.MaxCount {
			return privacy.Repeat{Count: int(n), Event: e}.String()
		}
	}
	return fmt.Sprintf("%v*(%v)", times, e)
}

func (j *journey) json(e privacy.Event, a *accounting, delta privacy.Delta, stops []stop) any {
	type stopJSON struct {
		Events  json.Number                 `json:"events"`
		Event   privacy.Event               `json:"event"` // of the last Times events
		Times   json.Number                 `json:"times"`
		Squares json.Number                 `json:"squares"`
		Epsilon map[string]*privacy.Epsilon `json:"epsilon"` // by odometer; null where it has no bound
	}
	out := struct {
		Plan     string             `json:"plan"`
		Event    privacy.Event      `json:"event"`
		Relation privacy.Neighbours `json:"relation"`
		Delta    privacy.Delta      `json:"delta"`
		Kept     privacy.Delta      `json:"kept"`
		At       json.Number        `json:"at"`
		Records  int64              `json:"records,omitempty"`
		Stops    []stopJSON         `json:"stops"`
	}{e.String(), e, a.options.Neighbours, delta, j.kept, bounds.Decimal(j.at), a.records, nil}
	for _, s := range stops {
		one := stopJSON{json.Number(s.events.String()), j.legs[s.leg].event, json.Number(s.times.String()), bounds.Decimal(s.squares), map[string]*privacy.Epsilon{}}
		for i, o := range j.odometers {
			one.Epsilon[o.name] = s.epsilon[i]
		}
		out.Stops = append(out.Stops, one)
	}
	return out
}
