package attack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/eventtest"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// A consumer takes an event, and says what it made of it.
type consumer struct {
	name string
	take func(e privacy.Event, n privacy.Neighbours) (kept fmt.Stringer, err error)
}

type kept func() string

func (k kept) String() string { return k() }

// eventConsumers are all who take events from outside.
func eventConsumers(t *testing.T) []consumer {
	t.Helper()
	eps, delta := must(privacy.ParseEpsilon("100")), must(privacy.ParseDelta("1e-3"))
	half := must(privacy.ParseDelta("1e-6"))
	o := func(n privacy.Neighbours) accountant.Options { return accountant.Options{Neighbours: n, Work: 1 << 20} }
	all := []consumer{
		{"accountant.Epsilon", func(e privacy.Event, n privacy.Neighbours) (fmt.Stringer, error) {
			r, err := accountant.Epsilon(t.Context(), e, 1e-6, o(n))
			return kept(func() string { return fmt.Sprint(r.Plan, r.Bounds[0].Epsilon.High, r.Warnings) }), err
		}},
		{"accountant.Delta", func(e privacy.Event, n privacy.Neighbours) (fmt.Stringer, error) {
			r, err := accountant.Delta(t.Context(), e, 1, o(n))
			return kept(func() string { return fmt.Sprint(r.Plan, r.Bounds[0].Delta.High) }), err
		}},
		{"accountant.DeltaCurve", func(e privacy.Event, n privacy.Neighbours) (fmt.Stringer, error) {
			points, err := accountant.DeltaCurve(t.Context(), e, []float64{1}, o(n))
			return kept(func() string { return fmt.Sprint(points) }), err
		}},
		{"json.Marshal", func(e privacy.Event, _ privacy.Neighbours) (fmt.Stringer, error) {
			text, err := json.Marshal(e)
			return kept(func() string { return string(text) }), err
		}},
		{"plan.Parse", func(e privacy.Event, _ privacy.Neighbours) (fmt.Stringer, error) {
			p, err := plan.Parse(e.String())
			if err == nil {
				_, err = p.Event()
			}
			return kept(func() string { return fmt.Sprint(must(p.Event())) }), err
		}},
	}
	for _, m := range []filter.Measure{filter.Pure, filter.Approx, filter.ZCDP, filter.Whitehouse, filter.RDP, filter.GDP} {
		built := map[privacy.Neighbours]filter.Filter{} // that of gdp seeks its boundary
		build := func(n privacy.Neighbours) (filter.Filter, error) {
			if f := built[n]; f != nil {
				return f, nil
			}
			b := filter.Budget{Measure: m, Neighbours: n, Epsilon: eps}
			if m != filter.Pure {
				b.Delta = delta
			}
			if m != filter.Pure && m != filter.Approx {
				b.SelectionDelta = half
			}
			f, err := filter.New(b)
			if err == nil {
				built[n] = f
			}
			return f, err
		}
		all = append(all,
			consumer{"charge of " + string(m), func(e privacy.Event, n privacy.Neighbours) (fmt.Stringer, error) {
				f, err := build(n)
				if err != nil {
					return nil, err
				}
				total, err := f.Charge([]privacy.Event{e}, half)
				return kept(func() string { return fmt.Sprint(f.Amounts(total)) }), err
			}},
			consumer{"guarantee of " + string(m), func(e privacy.Event, n privacy.Neighbours) (fmt.Stringer, error) {
				f, err := build(n)
				if err != nil {
					return nil, err
				}
				of, err := accountant.Guarantee(t.Context(), e, f, half, o(n))
				return kept(func() string { return of.String() }), err
			}})
	}
	for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
		path := filepath.Join(t.TempDir(), "events.ledger")
		now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
		domain := ledger.DomainBudget{ID: "people", Neighbours: n, Measure: filter.Approx, Epsilon: must(privacy.ParseEpsilon("100000")), Delta: delta}
		l := must(ledger.Create(context.Background(), path, ledger.Options{Domains: []ledger.DomainBudget{domain}, Now: now}))
		t.Cleanup(func() { l.Close() })
		all = append(all, consumer{"ledger.Reserve", func(e privacy.Event, under privacy.Neighbours) (fmt.Stringer, error) {
			if under != n {
				return nil, fmt.Errorf("another ledger's relation")
			}
			r, err := l.Reserve(t.Context(), ledger.Request{Domain: "people", Analyst: "eve", Statement: "x", Events: []privacy.Event{e}, Delta: half, Now: now})
			return kept(func() string {
				for _, entry := range must(l.History(context.Background())) {
					if entry.Seq == r.ID {
						return fmt.Sprint(entry.Events, entry.Charge)
					}
				}
				return "lost"
			}), err
		}})
	}
	return all
}

// spoil writes into everything that a caller still holds of an event.
func spoil(e privacy.Event) {
	v := reflect.ValueOf(e)
	for i := range v.NumField() {
		switch f := v.Field(i).Interface().(type) {
		case *big.Rat:
			f.SetInt64(1_000_000)
		case []*big.Rat:
			for _, r := range f {
				r.SetInt64(1_000_000)
			}
		case privacy.Event:
			spoil(f)
		case []privacy.Event:
			for j, part := range f {
				spoil(part)
				f[j] = privacy.Parallel{}
			}
		}
	}
}

// An event that reached a consumer cannot be changed by who gave it.
func TestEventsCannotBeChangedAfterwards(t *testing.T) {
	consumers := eventConsumers(t)
	taken := map[string]int{}
	types := len(eventtest.Every(t))
	for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
		for _, c := range consumers {
			for _, e := range eventtest.Every(t) {
				what := e.String()
				k, err := c.take(e, n)
				if err != nil {
					continue // a refusal
				}
				taken[c.name]++
				before := k.String()
				spoil(e)
				if after := k.String(); after != before {
					t.Errorf("%s of %s under %v: %s became %s", c.name, what, n, before, after)
				}
			}
		}
	}
	for _, c := range consumers {
		if taken[c.name] < types/4 {
			t.Errorf("%s took %d events: the test tests nothing", c.name, taken[c.name])
		}
	}
}

// A plan's event is a copy, whose owner may do with it what they like.
func TestPlansCannotBeChanged(t *testing.T) {
	p := must(plan.Parse("3*poisson(0.1, gaussian(2)) + rdp(2: 0.1)"))
	before := must(p.Event()).String()
	spoil(must(p.Event()))
	if after := must(p.Event()).String(); after != before {
		t.Errorf("%s became %s", before, after)
	}
}

// Each field of each type of event, with a value that means nothing, is refused by every
// consumer with a reason.
func TestEventsThatMeanNothing(t *testing.T) {
	endless := privacy.Sum{Events: make([]privacy.Event, 2)}
	endless.Events[0], endless.Events[1] = endless, endless
	hostile := []privacy.Event{privacy.Repeat{Count: 2, Event: (*privacy.Pure)(nil)}, privacy.Parallel{Events: []privacy.Event{privacy.Gaussian{}}}}
	for _, e := range eventtest.Every(t) {
		hostile = append(hostile, reflect.Zero(reflect.TypeOf(e)).Interface().(privacy.Event))
		v := reflect.ValueOf(e)
		for i := range v.NumField() {
			var values []any
			switch f := v.Field(i).Interface().(type) {
			case *big.Rat:
				values = []any{(*big.Rat)(nil), new(big.Rat), big.NewRat(-1, 1), big.NewRat(-1, 1<<60)}
			case []*big.Rat:
				for _, r := range []*big.Rat{nil, big.NewRat(-1, 2)} {
					values = append(values, append([]*big.Rat{r}, f[1:]...))
				}
				values = append(values, []*big.Rat(nil), f[1:])
			case int64:
				values = []any{int64(0), int64(-1), int64(privacy.MaxCount + 1)}
			case int:
				values = []any{0, -1, privacy.MaxCount + 1}
			case privacy.Neighbours:
				values = []any{privacy.Neighbours(7)}
			case privacy.Event:
				values = []any{(*privacy.Event)(nil), privacy.Laplace{}}
			case []privacy.Event:
				values = []any{[]privacy.Event(nil), []privacy.Event{nil}, []privacy.Event{privacy.Pure{}}}
			}
			for _, x := range values {
				bad := reflect.New(v.Type()).Elem()
				bad.Set(v)
				if _, missing := x.(*privacy.Event); missing {
					bad.Field(i).SetZero()
				} else {
					bad.Field(i).Set(reflect.ValueOf(x))
				}
				hostile = append(hostile, bad.Interface().(privacy.Event))
			}
		}
	}
	if len(hostile) < 150 {
		t.Fatalf("%d events mean nothing", len(hostile))
	}
	refused := func(c consumer, e privacy.Event, n privacy.Neighbours) {
		defer func() {
			if r := recover(); r != nil {
				t.Errorf("%s of %T: panic: %v", c.name, e, r)
			}
		}()
		if k, err := c.take(e, n); err == nil {
			t.Errorf("%s of %T under %v: %#v gives %v", c.name, e, n, e, k)
		} else if len(strings.TrimSpace(err.Error())) < 10 {
			t.Errorf("%s of %T: no reason: %q", c.name, e, err)
		}
	}
	for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
		for _, c := range eventConsumers(t) {
			for _, e := range hostile {
				if c.name == "plan.Parse" && reflect.DeepEqual(e, hostile[0]) {
					continue // a nil pointer has no text
				}
				refused(c, e, n)
			}
			if c.name != "plan.Parse" && c.name != "json.Marshal" {
				for _, e := range []privacy.Event{nil, (*privacy.Gaussian)(nil), &privacy.ZCDP{}, endless} {
					refused(c, e, n)
				}
			}
		}
	}
}
