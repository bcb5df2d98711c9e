//go:build cgo

package release_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/privacy"
)

// modes asks, of each private table of an example, for its columns' most frequent values, alone and by another column.
func (x *example) modes() (all []string) {
	for _, t := range x.tables {
		if t.public {
			continue
		}
		for i, c := range t.columns {
			if c.kind == span {
				continue
			}
			all = append(all, fmt.Sprintf("SELECT mode() WITHIN GROUP (ORDER BY %s) FROM %s", c.name, t.name))
			if by := t.columns[(i+1)%len(t.columns)]; by.name != c.name && by.kind != span {
				all = append(all, fmt.Sprintf("SELECT %s, mode() WITHIN GROUP (ORDER BY %s) FROM %s GROUP BY %s", by.name, c.name, t.name, by.name))
			}
		}
	}
	return all
}

// A wrongChoice is a fault of a choice's claim.
type wrongChoice struct {
	pipeline
	removed bool // a unit that is replaced is believed to be removed
	first   int  // an example that shows it, where many do not
}

// checkChoices holds the choices of an example against what they claim: see TestChoicesAreSound.
func (m *machines) checkChoices(x *example, statements []string, p wrongChoice, c *coverage) error {
	ctx := context.Background()
	c.examples++
	if err := m.load(ctx, x, pipeline{}); err != nil {
		return err
	}
	cat, err := catalog.Parse("catalog.toml", x.text)
	if err != nil {
		return err
	}
	for _, statement := range statements {
		c.statements++
		certificate, err := m.certify(ctx, x, pipeline{}, "d", statement, cat)
		if _, refused := errors.AsType[*diagnostic.Diagnostic](err); refused {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s\n%w", statement, err)
		}
		if r := certificate.Releases[0]; r.Chosen {
			c.accepted++
			if err := m.choice(ctx, x, certificate, r, p, c); err != nil {
				return fmt.Errorf("%s\n%w", statement, err)
			}
		}
	}
	return nil
}

// choice computes the exact counts of a choice on D and D', and what telling one from the other by it can gain at most: of each
// combination how far its counts rise and fall together, in steps of the mechanism's scale. All together must not exceed
// what the events of the design claim.
func (m *machines) choice(ctx context.Context, x *example, certificate *stability.Certificate, r *stability.Release, p wrongChoice, c *coverage) error {
	believed, domain := *certificate, *certificate.Domain
	believed.Domain, domain.Neighbours = &domain, privacy.AddRemove
	if x.replaced && !p.removed {
		domain.Neighbours = privacy.ReplaceOne
	}
	spend := release.Spend{}
	if c.accepted%2 == 0 {
		domain.Measure = "pure"
		spend.Epsilon, _ = privacy.ParseEpsilon("1")
	} else {
		spend.Rho, _ = privacy.ParseRho("0.125")
	}
	design, err := release.NewDesign(&believed, release.Options{Spend: spend})
	if err != nil {
		return err
	}
	event, times := design.Events[0], int64(1)
	if repeat, ok := event.(privacy.Repeat); ok {
		event, times = repeat.Event, int64(repeat.Count)
	}
	var each *big.Rat
	switch e := event.(type) {
	case privacy.NoisyMax:
		each = e.Epsilon.Rat()
	case privacy.Exponential:
		each = e.Epsilon.Rat()
	default:
		return fmt.Errorf("a choice reveals %v", event)
	}

	values, err := m.values(ctx, r, nil)
	if err != nil {
		return err
	}
	b := rewrite.Release(r, values)
	if p.plan != nil {
		p.plan(r, b)
	}
	q, err := render.DuckDB.Release(b)
	if err != nil {
		return err
	}
	if err := laid(b, q); err != nil {
		return err
	}
	if p.sql != nil {
		q.SQL, q.Least, q.Totals, q.Whole, q.Held = p.sql(r, q.SQL), nil, nil, nil, nil
	}
	broken := func(format string, args ...any) error {
		return &violation{what: fmt.Sprintf(format, args...), plan: plan.Format(b), sql: q.SQL}
	}
	const salt = 7919
	var sides [2]groups
	for i, schema := range []string{"d", "e"} {
		c.queries++
		if sides[i], err = exactGroups(ctx, m.plain, schema, q, salt, 0, 1); err != nil {
			return broken("the query failed: %v", err)
		}
	}
	type moved struct{ up, down *big.Int }
	combinations := map[string]*moved{}
	for side, of := range sides {
		for key, g := range of {
			by, other := new(big.Int).Set(g.values[0]), sides[1-side][key].values
			if other != nil {
				by.Sub(by, other[0])
			}
			k := bits(g.key[:len(r.Keys)-1])
			if combinations[k] == nil {
				combinations[k] = &moved{new(big.Int), new(big.Int)}
			}
			if at := combinations[k]; side == 0 && by.Cmp(at.down) > 0 {
				at.down = by
			} else if side == 1 && by.Cmp(at.up) > 0 {
				at.up = by
			}
		}
	}
	sum, squares := new(big.Rat), new(big.Rat)
	for _, at := range combinations {
		loss := new(big.Rat).SetInt(new(big.Int).Add(at.up, at.down))
		loss.Quo(loss, design.Releases[0].Choice.Scale())
		sum.Add(sum, loss)
		squares.Add(squares, loss.Mul(loss, loss))
	}
	allowed := times
	if certificate.Domain.ID != x.changed {
		allowed = 0
	}
	claimed := new(big.Rat).Mul(each, big.NewRat(allowed, 1))
	if sum.Cmp(claimed) > 0 {
		return broken("choices lose %s together, the events say %s", sum.FloatString(6), claimed.FloatString(6))
	}
	if ranged := new(big.Rat).Mul(each, claimed); squares.Cmp(ranged) > 0 {
		return broken("choices have squared ranges of %s together, the events say %s", squares.FloatString(6), ranged.FloatString(6))
	}
	if sum.Sign() > 0 {
		c.moved++
		if sum.Cmp(claimed) == 0 {
			c.tight++
		}
	}
	return nil
}

// TestChoicesAreSound is TestSoundness for choices: by what a unit changes counts, nobody can tell more of it from what is chosen than
// the events say.
func TestChoicesAreSound(t *testing.T) {
	t.Parallel()
	m := newMachines(t)
	var c coverage
	for i := range soak(30, 1000) {
		x := examples.Example(i)
		all := x.modes()
		if err := m.checkChoices(x, all[i%2*len(all)/2:][:len(all)/2], wrongChoice{}, &c); err != nil {
			t.Fatalf("%v\n%s", err, x)
		}
	}
	t.Logf("%d choices, %d differ between neighbours, %d reach what is claimed", c.accepted, c.moved, c.tight)
	if c.moved < 4 || c.tight < 1 {
		t.Error("the test is weak")
	}
}

// TestChoiceFaultsAreCaught plants what an implementation could get wrong; a unit that plays a part in several choices, and pays for one, is
// caught by stability's TestChoicesByBruteForce.
func TestChoiceFaultsAreCaught(t *testing.T) {
	t.Parallel()
	m := newMachines(t)
	for name, p := range map[string]wrongChoice{
		"R is not enforced":                {first: 12, pipeline: pipeline{plan: func(_ *stability.Release, b *plan.Bounded) { b.MaxRows = unlimited }}},
		"L0 is not enforced":               {first: 196, pipeline: pipeline{plan: func(_ *stability.Release, b *plan.Bounded) { b.MaxGroups, b.EveryGroup = unlimited, true }}},
		"the range is R under replace-one": {first: 65, removed: true},
	} {
		t.Run(name, func(t *testing.T) {
			var c coverage
			for i := p.first; i < 1000; i++ {
				x := examples.Example(i)
				err := m.checkChoices(x, x.modes(), p, &c)
				if v, ok := errors.AsType[*violation](err); ok {
					what, _, _ := strings.Cut(v.what, "\n")
					t.Logf("found by example %d, after %d queries: %s", i, c.queries, what)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			t.Errorf("not found in %d queries", c.queries)
		})
	}
}
