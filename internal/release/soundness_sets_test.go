//go:build cgo

package release_test

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
)

// Grouping sets of keys with complete domains, whose values the finest noisy ones do not add up to: averages
// and distinct values have noise of their own at each set.
var setStatements = []string{
	"SELECT i > 2 AS a, CASE WHEN s < 'b' THEN 'x' ELSE 'z' END AS b, count(*), sum(least(greatest(i, -2), 9)), count(DISTINCT i) FROM t0 GROUP BY CUBE (1, 2)",
	"SELECT i > 2 AS a, width_bucket(i, 0, 10, 3) AS b, count(DISTINCT u), avg(least(greatest(i, -2), 9)) FROM t0 GROUP BY ROLLUP (1, 2)",
	"SELECT i > 2 AS a, CASE WHEN s < 'b' THEN 'x' END AS b, count(DISTINCT u), count(DISTINCT u) FILTER (WHERE i > 1) FROM t0 GROUP BY ROLLUP (1, 2)",
	"SELECT i > 2 AS a, s < 'b' AS b, count(*), count(s), count(DISTINCT u) FROM t0 GROUP BY GROUPING SETS ((a), (b), ())",
	"SELECT i > 2 AS a, s < 'b' AS b, var_pop(least(greatest(i, -2), 9)), count(DISTINCT u) FILTER (WHERE i > 1), count(DISTINCT s) FROM t0 GROUP BY ROLLUP (1, 2)",
}

// setExample has a unit, the first, that D' lacks, with more fine groups than it may be in, many of them in one coarse
// group, and more rows in each; and rows outside the domain of one key alone.
func setExample(statements ...string) *example {
	columns := func(names ...string) (out []column) {
		for _, n := range names {
			for _, c := range templates {
				if c.name == n {
					out = append(out, column{template: c})
				}
			}
		}
		return out
	}
	u := column{template: template{name: "u", typ: "bigint", kind: whole}}
	x := &example{changed: "one", statements: statements, tables: []*table{
		{name: "p0", public: true, columns: columns("i", "s")},
		{name: "t0", domain: "one", bounds: "max_groups_per_unit = 3\nmax_rows_per_group = 2\n", columns: append([]column{u}, columns("i", "s")...)}}}
	var gone, rest []row
	for i := range 12 {
		for range 3 {
			gone = append(gone, row{"1", fmt.Sprint(i - 1), []string{"a", "c", "b", "ä"}[i%4]})
		}
		rest = append(rest, row{"2", fmt.Sprint(i), "a"}, row{fmt.Sprint(3 + i), fmt.Sprint(i % 5), "c"}, row{"2", "5", nil}, row{fmt.Sprint(3 + i), nil, "a"})
	}
	x.d, x.e = database{"t0": append(gone, rest...)}, database{"t0": rest}
	x.text = x.catalog()
	return x
}

// TestGroupingSetsAreSound holds the theorem of coarser groups (internal/stability/sets.go) against a unit whose
// groups share a parent, and the promise that sets add up; each planted fault breaks one of them.
func TestGroupingSetsAreSound(t *testing.T) {
	t.Parallel()
	m := newMachines(t)
	holds := func(p pipeline) (broken string) {
		for _, statement := range setStatements {
			x := setExample(statement)
			why, seen := m.breaks(t, x, p)
			if why != "" {
				return why
			}
			if !p.planted && seen.shapes["coarser grouping set"] == 0 {
				t.Fatalf("%s has no set of its own", statement)
			}
			if why := m.addsUp(t, x, statement, p); why != "" {
				return why
			}
		}
		return ""
	}
	if why := holds(pipeline{}); why != "" {
		t.Fatal(why)
	}
	coarse := func(f func(*stability.Release, *plan.Bounded)) func(*stability.Release, *plan.Bounded) {
		return func(r *stability.Release, b *plan.Bounded) {
			if r.Within != nil {
				f(r, b)
			}
		}
	}
	for name, p := range map[string]pipeline{
		"a coarser group has one fine group of a unit": {claim: func(r *stability.Release) {
			for i, c := range r.Components {
				if r.Within != nil && c.Kind != stability.Units {
					r.Components[i].PerGroup = new(big.Int).Quo(c.PerGroup, big.NewInt(r.MaxGroups))
				}
			}
		}},
		"the L2 distance of coarser groups is √L0 times that of one": {claim: func(r *stability.Release) {
			for i, c := range r.Components {
				if r.Within != nil && c.Kind != stability.Units { // √3 < 7/4
					r.Components[i].PerGroup = new(big.Int).Quo(new(big.Int).Mul(c.PerGroup, big.NewInt(7)), big.NewInt(4*r.MaxGroups))
				}
			}
		}},
		"bounds are applied to each set by itself": {plan: coarse(func(r *stability.Release, b *plan.Bounded) {
			keys, names, listed := b.Keys, b.Names, b.Listed
			b.Keys, b.Names, b.Listed, b.Shown = nil, nil, nil, nil
			for _, k := range r.Shown {
				b.Keys, b.Names, b.Listed = append(b.Keys, keys[k]), append(b.Names, names[k]), append(b.Listed, listed[k])
			}
		})},
		"L0 is not enforced":                             {plan: coarse(func(_ *stability.Release, b *plan.Bounded) { b.MaxGroups = unlimited })},
		"R is not enforced":                              {plan: coarse(func(_ *stability.Release, b *plan.Bounded) { b.MaxRows = max(b.MaxRows, b.MaxRows*unlimited) })},
		"a unit counts once for each of its fine groups": {sql: replace(`count\(DISTINCT u\)`, "count(u)")},
		"rows outside the domain of another set's key are aggregated": {plan: coarse(func(_ *stability.Release, b *plan.Bounded) {
			b.Input = transform(b.Input, func(n plan.Node) plan.Node {
				if f, ok := n.(*plan.Filter); ok && isCall(f.Condition, plan.In) {
					return f.Input
				}
				return n
			})
		})},
	} {
		p.planted = true
		if why := holds(p); why == "" {
			t.Errorf("planted: %s: it is not caught", name)
		} else {
			t.Logf("planted: %s: %s", name, why)
		}
	}
}

// addsUp compares the exact values of each coarser set with the sums of those of the finest set, where
// both are released and the values are sums.
func (m *machines) addsUp(t *testing.T, x *example, statement string, p pipeline) (why string) {
	ctx := context.Background()
	cat, err := catalog.Parse("catalog.toml", x.text)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.load(ctx, x, pipeline{}); err != nil {
		t.Fatal(err)
	}
	certificate, err := certify(statement, cat)
	if err != nil {
		t.Fatal(err)
	}
	exact := func(r *stability.Release) groups {
		values, err := m.values(ctx, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		var q engine.Query
		if _, q, _, err = p.query(r, values); err != nil {
			t.Fatal(err)
		}
		out, err := exactGroups(ctx, m.plain, "d", q, 7919, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	var finest *stability.Release
	for _, r := range certificate.Releases {
		if r.Sets == nil {
			t.Fatalf("%s: a set is bounded by itself", statement)
		}
		if r.Within == nil {
			finest = r
		}
	}
	if finest == nil {
		return ""
	}
	fine := exact(finest)
	for _, r := range certificate.Releases {
		if r.Within == nil {
			continue
		}
		sums := map[string][]*big.Int{}
		for _, g := range fine {
			var key []string
			for _, k := range r.Shown {
				key = append(key, fmt.Sprint(g.key[k]))
			}
			name := strings.Join(key, "|")
			if sums[name] == nil {
				sums[name] = make([]*big.Int, len(r.Components))
			}
			for i := range r.Components {
				if sums[name][i] == nil {
					sums[name][i] = new(big.Int)
				}
				sums[name][i].Add(sums[name][i], g.values[i])
			}
		}
		coarser := exact(r)
		if len(coarser) != len(sums) {
			return fmt.Sprintf("set %v has %d groups, and %d by the finest set", r.Shown, len(coarser), len(sums))
		}
		for _, g := range coarser {
			var key []string
			for _, k := range g.key {
				key = append(key, fmt.Sprint(k))
			}
			for i, c := range r.Components {
				sum := sums[strings.Join(key, "|")]
				if c.Kind != stability.Units && c.Kind != stability.Distinct && (sum == nil || sum[i].Cmp(g.values[i]) != 0) {
					return fmt.Sprintf("component %d of group %v of set %v is %v, and its fine groups have %v", i, key, r.Shown, g.values[i], sum)
				}
			}
		}
	}
	return ""
}
