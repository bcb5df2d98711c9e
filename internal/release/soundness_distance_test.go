//go:build cgo

package release_test

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// A distance is what was measured between two results.
type distance struct {
	broken string // how the certificate does not hold, or ""
	moved  bool   // the results differ
	tight  bool   // by as much as the certificate says
}

// measure holds the difference of two results against the certificate: of no unit at all, of
// one that is added or removed, or, where allowed is 2, of one that is replaced.
func measure(r *stability.Release, d, e groups, allowed int64) (out distance) {
	fail := func(format string, args ...any) distance {
		return distance{broken: fmt.Sprintf(format, args...)}
	}
	most := func(c stability.Component) *big.Int {
		return [...]*big.Int{new(big.Int), c.PerGroup, c.Spread()}[allowed]
	}
	zero := make([]*big.Int, len(r.Components)+1)
	for i := range zero {
		zero[i] = new(big.Int)
	}
	at := func(g groups, key string) []*big.Int {
		if v, ok := g[key]; ok {
			return v.values
		}
		return zero
	}
	keys := maps.Clone(d)
	maps.Copy(keys, e)
	changed := int64(0)
	total, squares := make([]big.Int, len(r.Components)), make([]big.Int, len(r.Components))
	for key := range keys {
		v, w := at(d, key), at(e, key)
		differs, all := false, make([]*big.Int, len(r.Components))
		for i, comp := range r.Components {
			diff := new(big.Int).Sub(v[i], w[i])
			all[i] = new(big.Int).Set(diff)
			limit := most(comp)
			differs = differs || diff.Sign() != 0
			total[i].Add(&total[i], diff.Abs(diff))
			squares[i].Add(&squares[i], new(big.Int).Mul(diff, diff))
			out.tight = out.tight || diff.Sign() != 0 && diff.Cmp(limit) == 0
			if diff.Cmp(limit) > 0 {
				return fail("component %d (kind %d) of group %s is %v in D and %v in D': they differ by %v, the certificate says %v", i, comp.Kind, key, v[i], w[i], diff, limit)
			}
		}
		if why := jointly(r, all, allowed); why != "" {
			return fail("group %s: %s", key, why)
		}
		if r.Private {
			n := len(r.Components)
			diff := new(big.Int).Sub(v[n], w[n])
			differs = differs || diff.Sign() != 0
			if diff.CmpAbs(big.NewInt(allowed)) > 0 {
				return fail("group %s has %v units in D and %v in D'", key, v[n], w[n])
			}
			for _, g := range []groups{d, e} {
				if row, there := g[key]; there && row.values[n].Sign() <= 0 {
					return fail("group %s appears with %v units", key, row.values[n])
				}
			}
		}
		if differs {
			changed++
		}
	}
	if limit := r.MaxGroups * allowed; changed > limit {
		return fail("%d groups differ, the certificate says %d", changed, limit)
	}
	for i, comp := range r.Components {
		if allowed == 0 {
			break // no group differs
		}
		l1, l2 := r.Distances(comp, 1, [...]privacy.Neighbours{1: privacy.AddRemove, 2: privacy.ReplaceOne}[allowed])
		if new(big.Rat).SetInt(&total[i]).Cmp(l1) > 0 || new(big.Rat).SetInt(&squares[i]).Cmp(l2) > 0 {
			return fail("component %d is at an L1 distance of %v and an L2² of %v, the certificate says %v and %v", i, &total[i], &squares[i], l1.RatString(), l2.RatString())
		}
	}
	for _, set := range r.Exclusive { // all groups together, as the noise of such components hides them
		if allowed == 0 {
			break
		}
		norm, square := new(big.Int), new(big.Int)
		for _, i := range set {
			norm.Add(norm, &total[i])
			square.Add(square, &squares[i])
		}
		l1, l2 := r.VectorDistances(r.Components[set[0]].PerGroup, [...]privacy.Neighbours{1: privacy.AddRemove, 2: privacy.ReplaceOne}[allowed])
		if new(big.Rat).SetInt(norm).Cmp(l1) > 0 || new(big.Rat).SetInt(square).Cmp(l2) > 0 {
			return fail("components %d are at an L1 distance of %v and an L2² of %v together, not %v and %v", set, norm, square, l1.RatString(), l2.RatString())
		}
	}
	out.moved = changed > 0
	return out
}

// results are those of a query on D and on D', the same on two machines and, of D, in slices if they are asked for; or why they are not.
func (m *machines) results(ctx context.Context, q engine.Query, slices bool) (results [2]groups, why string) {
	const salt = 7919
	for i, schema := range []string{"d", "e"} {
		var err error
		if results[i], err = exactGroups(ctx, m.plain, schema, q, salt, 0, 1); err != nil {
			return results, fmt.Sprintf("the query failed: %v", err)
		}
		other, err := exactGroups(ctx, m.other, schema, q, salt, 0, 1)
		if err != nil {
			return results, fmt.Sprintf("the query failed: %v", err)
		}
		if why := results[i].differs(other); why != "" {
			return results, "the result depends on threads, order or optimizer: " + why
		}
	}
	if !q.Sliceable || !slices {
		return results, ""
	}
	sum := groups{}
	for slice := range 3 {
		g, err := exactGroups(ctx, m.plain, "d", q, salt, slice, 3)
		if err != nil {
			return results, fmt.Sprintf("the query failed: %v", err)
		}
		sum.add(g)
	}
	if why := results[0].differs(sum); why != "" {
		return results, "the slices do not add up: " + why
	}
	return results, ""
}

// domains checks that the keys of a release with complete domains lie in them.
func (m *machines) domains(ctx context.Context, r *stability.Release, over render.Stages, types []sqltype.Type, results ...groups) (why string, err error) {
	if r.Private {
		return "", nil
	}
	values, err := m.values(ctx, r, over)
	if err != nil {
		return "", err
	}
	for i, of := range r.Displayed(values) {
		known := map[string]bool{}
		for _, v := range of {
			known[sqltype.Key(v)] = true
		}
		for _, result := range results {
			for key, g := range result {
				if v := valueOf(g.key[i], types[i]); v == nil || !known[sqltype.Key(v)] {
					return fmt.Sprintf("key %d of group %s is outside its domain", i, key), nil
				}
			}
		}
	}
	return "", nil
}

// values are those of each bounding key's public domain; nil where groups are chosen privately.
func (m *machines) values(ctx context.Context, r *stability.Release, over render.Stages) ([][]sqltype.Value, error) {
	if r.Private {
		return nil, nil
	}
	all := make([][]sqltype.Value, len(r.Bounding()))
	for i, k := range r.Bounding() {
		t := k.Expr.Type()
		if k.Numbered != nil {
			for n := range len(over[k.Numbered.Index]) {
				all[i] = append(all[i], int64(n+1))
			}
		}
		for _, d := range k.Domain {
			if d.FromTable == nil {
				all[i] = slices.AppendSeq(all[i], d.All(t))
				continue
			}
			listed, err := m.column(ctx, "d", d, t)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], listed...)
		}
	}
	return all, nil
}

// column reads the values of a public table's column as those of a type.
func (m *machines) column(ctx context.Context, schema string, d *catalog.PublicDomain, t sqltype.Type) ([]sqltype.Value, error) {
	listed, err := exactGroups(ctx, m.plain, schema, engine.Query{SQL: fmt.Sprintf("SELECT DISTINCT %s FROM %s", d.FromColumn.Name, d.FromTable.Name), Keys: []sqltype.Type{t}}, 0, 0, 1)
	if err != nil {
		return nil, err
	}
	values := []sqltype.Value{}
	for _, g := range listed {
		if v := valueOf(g.key[0], t); v != nil {
			values = append(values, v)
		}
	}
	slices.SortFunc(values, sqltype.Compare)
	return values, nil
}

// summed is a release with the components of its own query: TestTreesAreSound looks at trees.
func summed(r *stability.Release) *stability.Release {
	copied := *r
	copied.Components, copied.Exclusive = nil, nil
	at := make([]int, len(r.Components)) // of each of them there
	for i, c := range r.Components {
		if at[i] = len(copied.Components); c.Kind != stability.Tree {
			copied.Components = append(copied.Components, c)
		}
	}
	for _, set := range r.Exclusive { // of which none is a tree
		moved := make([]int, len(set))
		for n, i := range set {
			moved[n] = at[i]
		}
		copied.Exclusive = append(copied.Exclusive, moved)
	}
	return &copied
}
