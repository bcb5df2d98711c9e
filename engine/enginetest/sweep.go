package enginetest

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"
)

// typed are bounds of each order of magnitude that a catalog may declare, up to the greatest.
func typed() (all []int64) {
	for b := int64(1); b < 1<<31; b *= 10 {
		all = append(all, b)
	}
	return append(all, 1<<31)
}

// everyBound: whatever bounds are declared, each form of a query is answered, and where no unit has as many groups and rows as it may,
// it says what the records are. All pairs of bounds are asked, three of each form, each time others, as
// maps are walked in another order.
func everyBound(t *testing.T, open Open) {
	const beyond = 100 // no unit has as many rows
	type row struct {
		u, k int
		v    int64
	}
	var rows []row
	var records, many []string
	for u := range 9 {
		for i := range 5*u + 1 {
			r := row{u, (u + i*i) % 5, int64(i*u+i/4) % 4}
			rows, records = append(rows, r), append(records, fmt.Sprintf("%d,k%d,%d,0", r.u, r.k, r.v))
		}
	}
	for k := range 300 {
		many = append(many, fmt.Sprintf("k%d", k))
	}
	c := visitsIn(t, records)
	e := open(t, c, 2)
	known := boundedPlan(c, 1, 1)
	ref := func(i int) plan.Expr {
		column := c.Tables[0].Columns[i]
		return &plan.Ref{Index: i, Name: column.Name, T: column.Type}
	}
	count, added, clamped, units := known.Contributions[0], known.Contributions[1], known.Contributions[2], known.Contributions[3]
	clamped.Lower, clamped.Upper = big.NewInt(2), big.NewInt(9)
	distinct := plan.Contribution{Kind: plan.DistinctValues, Value: ref(2)}
	text := func(r row) string { return fmt.Sprintf("k%d", r.k) }
	number := func(r row) string { return fmt.Sprint(r.v) }
	values := &plan.Range{First: 0, Step: 1, Count: 4}
	all, place := typed(), 0
	for name, of := range map[string]struct {
		plan.Bounded
		key func(row) string // what is shown of a row's group
	}{
		"no keys":     {plan.Bounded{}, func(row) string { return "" }},
		"any":         {plan.Bounded{Keys: []plan.Expr{ref(1)}}, text},
		"listed":      {plan.Bounded{Keys: []plan.Expr{ref(1)}, Listed: [][]string{many[:5]}}, text},
		"long list":   {plan.Bounded{Keys: []plan.Expr{ref(1)}, Listed: [][]string{many}}, text},
		"numbers":     {plan.Bounded{Keys: []plan.Expr{ref(2)}, Ranges: []*plan.Range{values}}, number},
		"two keys":    {plan.Bounded{Keys: []plan.Expr{ref(1), ref(2)}, Listed: [][]string{many[:5], nil}, Ranges: []*plan.Range{nil, values}}, func(r row) string { return text(r) + " " + number(r) }},
		"a set":       {plan.Bounded{Keys: []plan.Expr{ref(1), ref(2)}, Listed: [][]string{many[:5], nil}, Ranges: []*plan.Range{nil, values}, Shown: []int{1}}, number},
		"a bin":       {plan.Bounded{Keys: []plan.Expr{ref(1)}, Listed: [][]string{many[:5]}, Bin: ref(2)}, func(r row) string { return text(r) + " " + number(r) }},
		"every group": {plan.Bounded{Keys: []plan.Expr{ref(1)}, Listed: [][]string{many[:5]}, EveryGroup: true}, text},
	} {
		for kinds, contributions := range map[string][]plan.Contribution{
			"counts": {count}, "units": {count, units}, "clamped": {clamped, units}, "sums": {added}, "all": {added, clamped, count, units}, "distinct": {count, distinct},
		} {
			if of.Bin != nil && slices.ContainsFunc(contributions, func(c plan.Contribution) bool { return c.Kind != plan.Added }) {
				continue
			}
			want := map[string][]int64{}
			for _, r := range rows {
				sums := want[of.key(r)]
				if sums == nil {
					sums = make([]int64, len(contributions))
					want[of.key(r)] = sums
				}
			}
			for i, c := range contributions {
				type part struct {
					u        int
					key, all string
				}
				sums, seen := map[part]int64{}, map[string]bool{}
				for _, r := range rows {
					at := part{r.u, of.key(r), ""}
					if of.Shown != nil && c.Kind == plan.Clamped { // of each of the finer groups
						at.all = text(r)
					}
					sums[at] += r.v
					once := fmt.Sprint(at.key, c.Kind == plan.UnitCount, r.u, " ")
					if c.Kind == plan.DistinctValues {
						once = fmt.Sprint(at.key, " ", r.v)
					}
					switch {
					case c.Kind == plan.Added && c.Value == count.Value, c.Kind == plan.UnitCount && !seen[once], c.Kind == plan.DistinctValues && !seen[once]:
						want[at.key][i]++
					case c.Kind == plan.Added:
						want[at.key][i] += r.v
					}
					seen[once] = true
				}
				for at, sum := range sums {
					if c.Kind == plan.Clamped {
						want[at.key][i] += max(2, min(9, sum))
					}
				}
			}
			ask := func(groups, rows int64) {
				b := of.Bounded
				b.Input, b.Contributions, b.MaxGroups, b.MaxRows = known.Input, contributions, groups, rows
				b.Names = make([]string, len(b.Keys))
				q, err := render.Dialect(e.Dialect()).Release(&b)
				if err != nil {
					t.Fatal(err)
				}
				q.Salt = 42
				forms := []engine.Query{q}
				if q.Least != nil {
					q.Least, q.Totals = nil, nil
					forms = append(forms, q)
				}
				var first []string
				for _, q := range forms {
					x, err := e.Exact(t.Context(), q)
					if err != nil {
						t.Errorf("%s, %s, L0 %d, R %d: %v", name, kinds, groups, rows, cause(err))
						return
					}
					got := show(x.RevealExact())
					if first == nil {
						first = got
					}
					if !slices.Equal(got, first) {
						t.Errorf("%s, %s, L0 %d, R %d: one form says\n%v\nand another\n%v", name, kinds, groups, rows, first, got)
					}
					if groups < beyond && len(of.Keys) > 0 && !of.EveryGroup || rows < beyond {
						continue
					}
					for _, row := range x.RevealExact() {
						var keys []string
						for _, key := range row[:len(q.Keys)] {
							keys = append(keys, fmt.Sprint(key))
						}
						for i, sum := range row[len(q.Keys):] {
							if d, ok := sum.(sqltype.Decimal); !ok || len(row)-len(q.Keys) != len(contributions) || d.Unscaled.Int64() != want[strings.Join(keys, " ")][i] {
								t.Errorf("%s, %s, L0 %d, R %d: %v, want %v", name, kinds, groups, rows, row, want[strings.Join(keys, " ")])
							}
						}
					}
					if len(x.RevealExact()) != len(want) {
						t.Errorf("%s, %s, L0 %d, R %d: %d groups, want %d", name, kinds, groups, rows, len(x.RevealExact()), len(want))
					}
				}
			}
			for range 3 {
				place = (place + 37) % (len(all) * len(all)) // of each pair in turn
				ask(all[place%len(all)], all[place/len(all)])
			}
		}
	}
}
