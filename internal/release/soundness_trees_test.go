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
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/stability"
)

// quantiles asks for medians where a statement of the generator asks for averages, and for
// maxima where it sums, within units and over them.
func quantiles(statement string) string {
	return strings.NewReplacer("avg(", "median(", "sum(", "max(").Replace(statement)
}

// checkTrees holds the leaves of trees against their certificate: see TestTreesAreSound.
func (m *machines) checkTrees(x *example, p pipeline, c *coverage) error {
	ctx := context.Background()
	c.examples++
	cat, err := catalog.Parse("catalog.toml", x.text)
	if err != nil {
		return err
	}
	for _, statement := range x.statements {
		statement = quantiles(statement)
		certificate, err := certify(statement, cat)
		if _, refused := errors.AsType[*diagnostic.Diagnostic](err); refused {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s\n%w", statement, err)
		}
		for _, r := range certificate.Releases {
			if err := m.leaves(ctx, x, certificate, r, p, c); err != nil {
				return fmt.Errorf("%s\n%w", statement, err)
			}
		}
	}
	return nil
}

func (m *machines) leaves(ctx context.Context, x *example, certificate *stability.Certificate, r *stability.Release, p pipeline, c *coverage) error {
	if err := m.load(ctx, x, p); err != nil {
		return err
	}
	var err error
	if p.over, err = m.numbered(ctx, certificate, p.over); err != nil {
		return err
	}
	values, err := m.values(ctx, r, p.over)
	if err != nil {
		return err
	}
	var components []stability.Component
	for _, comp := range r.Components {
		if comp.Kind == stability.Tree {
			components = append(components, comp)
		}
	}
	allowed := int64(1)
	if x.replaced {
		allowed = 2
	}
	if certificate.Domain.ID != x.changed {
		allowed = 0
	}
	for i, b := range rewrite.Trees(r, values) {
		c.releases++
		comp := components[i]
		if p.plan != nil {
			p.plan(r, b)
		}
		q, err := render.Release(b)
		if err != nil {
			return err
		}
		if err := laid(b, q); err != nil {
			return err
		}
		if p.sql != nil {
			q.SQL, q.Whole = p.sql(r, q.SQL), nil
		}
		broken := func(format string, args ...any) error {
			return &violation{what: fmt.Sprintf(format, args...), plan: plan.Format(b), sql: q.SQL}
		}
		c.queries += 4
		results, why := m.results(ctx, q, c.releases%3 == 0)
		if why != "" {
			return broken("%s", why)
		}
		// Over the leaves of a group, so that no node of a level, and no level, moves by more.
		moved := map[string]*big.Int{}
		for side, result := range results {
			for key, g := range result {
				place, ok := g.key[len(g.key)-1].(int64)
				if !ok || place < 0 || place >= comp.Places {
					return broken("place %v of %d", g.key[len(g.key)-1], comp.Places)
				}
				diff := new(big.Int).Set(g.values[0])
				if other, there := results[1-side][key]; there && side == 0 {
					diff.Sub(diff, other.values[0])
				} else if there {
					continue
				}
				of := bits(g.key[:len(r.Keys)])
				if moved[of] == nil {
					moved[of] = new(big.Int)
				}
				moved[of].Add(moved[of], diff.Abs(diff))
			}
		}
		claimed := comp.PerGroup
		if p.claim != nil {
			claimed = big.NewInt(1)
		}
		limit := new(big.Int).Mul(claimed, big.NewInt(allowed))
		changed := int64(0)
		for key, by := range moved {
			if by.Cmp(limit) > 0 {
				return broken("the leaves of group %s differ by %v, the certificate says %v", key, by, limit)
			}
			if by.Sign() > 0 {
				changed++
			}
			if by.Sign() > 0 && by.Cmp(limit) == 0 {
				c.tight++
			}
		}
		if changed > r.MaxGroups*allowed {
			return broken("%d groups differ, the certificate says %d", changed, r.MaxGroups*allowed)
		}
		if changed > 0 {
			c.moved++
		}
	}
	return nil
}

// TestTreesAreSound is TestSoundness for trees of counts: a unit moves the leaves of at most
// L0 groups, those of each by at most R together, whatever places its rows have.
func TestTreesAreSound(t *testing.T) {
	t.Parallel()
	m := newMachines(t)
	var c coverage
	for i := range soak(30, 1000) {
		x := examples.Example(i)
		if err := m.checkTrees(x, pipeline{}, &c); err != nil {
			t.Fatalf("%v\n%s", err, x)
		}
	}
	t.Logf("%d trees, %d differ between neighbours, %d groups reach their bound", c.releases, c.moved, c.tight)
	if c.moved < 10 || c.tight < 5 {
		t.Error("the test is weak")
	}
}

// TestTreeFaultsAreCaught plants what an implementation could get wrong.
func TestTreeFaultsAreCaught(t *testing.T) {
	t.Parallel()
	first := map[string]int{"L0 is not enforced": 42} // that shows it, where many do not
	for name, p := range map[string]pipeline{
		"L0 is not enforced": {plan: func(_ *stability.Release, b *plan.Bounded) { b.MaxGroups = unlimited }},
		"R is not enforced":  {plan: func(_ *stability.Release, b *plan.Bounded) { b.MaxRows = unlimited }},
		"R holds at each place": {plan: func(_ *stability.Release, b *plan.Bounded) {
			b.Keys, b.Names, b.Listed = append(b.Keys, b.Bin), append(b.Names, "bin"), append(b.Listed, nil)
		}},
		"rows are chosen by their physical number":  {sql: replace(`hash\(hash\(CAST\(\$salt AS BIGINT\)[^()]*\)\) AS hr`, "row_number() OVER () AS hr")},
		"a unit moves one count of a level, by one": {claim: func(*stability.Release) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachines(t)
			var c coverage
			for i := first[name]; i < 1000; i++ {
				err := m.checkTrees(examples.Example(i), p, &c)
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
