//go:build cgo

package least_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/engine/duckdb/least"
)

// A copiedRow is a row of a copy. What is nil is NULL; a group below 0 is none.
type copiedRow struct {
	unit, rows int64
	shown      *bool
	group      *int
	order      uint64
	hash       uint64
	values     []*int64
}

// A total as it is asked.
type asked struct {
	kind         string
	value        int
	lower, upper int64
}

func (a asked) String() string {
	switch a.kind {
	case "n", "u":
		return a.kind
	case "c":
		return fmt.Sprintf("c%d:%d:%d", a.value, a.lower, a.upper)
	}
	return fmt.Sprint(a.kind, a.value)
}

// totalsModel is what all units contribute, from the definition: groups by their numbers, each with its totals.
func totalsModel(rows []copiedRow, groups, most int, totals []asked) map[int][]string {
	kept := map[int64]map[int][]copiedRow{}
	for _, r := range rows {
		if r.shown == nil || !*r.shown || r.group == nil || *r.group < 0 {
			continue
		}
		if kept[r.unit] == nil {
			kept[r.unit] = map[int][]copiedRow{}
		}
		kept[r.unit][*r.group] = append(kept[r.unit][*r.group], r)
	}
	sums := map[int][]*big.Int{}
	for _, of := range kept {
		first := slices.SortedFunc(maps.Keys(of), func(a, b int) int {
			return cmp.Or(cmp.Compare(of[a][0].order>>25, of[b][0].order>>25), cmp.Compare(a, b))
		})
		for _, g := range first[:min(len(first), groups)] {
			if sums[g] == nil {
				sums[g] = make([]*big.Int, len(totals))
			}
			contribute(sums[g], of[g], most, totals)
		}
	}
	out := map[int][]string{}
	for g, of := range sums {
		for _, x := range of {
			out[g] = append(out[g], fmt.Sprint(x))
		}
	}
	return out
}

// contribute adds to totals of a group what the rows of one unit in it contribute.
func contribute(to []*big.Int, rows []copiedRow, most int, totals []asked) {
	slices.SortFunc(rows, func(a, b copiedRow) int {
		before := cmp.Compare(a.hash, b.hash)
		for _, t := range totals {
			if v, w := a.values, b.values; t.kind == "a" && before == 0 {
				switch v, w := v[t.value], w[t.value]; {
				case v != nil && w != nil:
					before = cmp.Compare(*v, *w)
				case v != nil:
					before = -1
				case w != nil:
					before = 1
				}
			}
		}
		return before
	})
	first := rows[:min(len(rows), most)]
	for k, t := range totals {
		var x *big.Int
		sum := func(rows []copiedRow) (x *big.Int) {
			for _, r := range rows {
				if v := r.values[t.value]; v != nil {
					if x == nil {
						x = new(big.Int)
					}
					x.Add(x, big.NewInt(*v))
				}
			}
			return x
		}
		switch t.kind {
		case "n":
			x = big.NewInt(int64(len(first)))
		case "u":
			x = big.NewInt(1)
		case "a":
			x = sum(first)
		case "s":
			if sum(rows) != nil {
				x = big.NewInt(1)
			}
		case "c":
			if x = sum(rows); x != nil && x.Cmp(big.NewInt(t.lower)) < 0 {
				x = big.NewInt(t.lower)
			} else if x != nil && x.Cmp(big.NewInt(t.upper)) > 0 {
				x = big.NewInt(t.upper)
			}
		}
		if x != nil && to[k] == nil {
			to[k] = new(big.Int)
		}
		if x != nil {
			to[k].Add(to[k], x)
		}
	}
}

func literal[T any](x *T) string {
	if x == nil {
		return "NULL"
	}
	return fmt.Sprint(*x)
}

// Whatever the rows, in whatever order and in however many states, all units together contribute what the definition says: their L0 first groups, and of
// these R first rows. States are of parts of a union, which are combined; groups tie in the bits by which they are ordered, and not in their numbers.
func TestTotalsOfAnyRows(t *testing.T) {
	const mostValues, mostTotals = 3, 5
	var all []least.Totals
	for values := range mostValues + 1 {
		for n := range mostTotals {
			all = append(all, least.Totals{Values: values, Totals: n + 1})
		}
	}
	conn := totals(t, "SET threads = 3", all...)
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(all).Draw(t, "function")
		groups, most, numbers := rapid.IntRange(1, 5).Draw(t, "L0"), rapid.IntRange(1, 4).Draw(t, "R"), rapid.SampledFrom([]int{1, 3, 8, 70, 65536}).Draw(t, "groups")
		kinds := []string{"n", "u"}
		if f.Values > 0 {
			kinds = append(kinds, "a", "a", "s", "c")
		}
		var what []asked
		for range f.Totals {
			of := asked{kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
			if of.kind != "n" && of.kind != "u" {
				of.value = rapid.IntRange(0, f.Values-1).Draw(t, "value of")
			}
			of.lower = rapid.Int64Range(-9, 9).Draw(t, "lower")
			of.upper = of.lower + rapid.Int64Range(0, 9).Draw(t, "width")
			what = append(what, of)
		}
		// Numbers that are 64 apart share a mark.
		among := []int{0, numbers - 1, numbers / 2, min(1, numbers-1), min(2, numbers-1), min(64, numbers-1), min(66, numbers-1)}
		orders := map[[2]int64]uint64{}
		count := map[int64]int64{}
		rows := make([]copiedRow, rapid.IntRange(0, 60).Draw(t, "rows"))
		for i := range rows {
			r := &rows[i]
			r.unit = rapid.Int64Range(0, 2).Draw(t, "unit")
			count[r.unit]++
			if no := rapid.IntRange(0, 11).Draw(t, "shown"); no > 0 {
				shown := no > 1
				r.shown = &shown
			}
			if no := rapid.IntRange(0, 11).Draw(t, "in a group"); no > 0 {
				group := rapid.SampledFrom(among).Draw(t, "group")
				if no == 1 {
					group = rapid.SampledFrom([]int{-1, -2, -1 << 31}).Draw(t, "no group")
				}
				r.group = &group
				key := [2]int64{r.unit, int64(group)}
				if _, ok := orders[key]; !ok {
					orders[key] = rapid.Uint64Range(0, 1).Draw(t, "first bit")<<63 | rapid.Uint64Range(0, 1).Draw(t, "39th bit")<<25 | rapid.Uint64Range(0, 1).Draw(t, "40th bit")<<24 | rapid.Uint64Range(0, 1<<24-1).Draw(t, "other bits")
				}
				r.order = orders[key]
			}
			r.hash = rapid.OneOf(rapid.Uint64Range(0, 2), rapid.Uint64()).Draw(t, "hash")
			for range f.Values {
				var v *int64
				if rapid.IntRange(0, 3).Draw(t, "null") > 0 {
					x := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.SampledFrom(extremes), rapid.Int64()).Draw(t, "value")
					v = &x
				}
				r.values = append(r.values, v)
			}
		}
		together := rapid.Bool().Draw(t, "units together")
		if together {
			slices.SortStableFunc(rows, func(a, b copiedRow) int { return cmp.Compare(a.unit, b.unit) })
		}
		names := []string{"n", "m", "f", "g", "o", "h"}
		for j := range f.Values {
			names = append(names, fmt.Sprint("v", j))
		}
		parts := make([][]string, rapid.IntRange(1, 4).Draw(t, "parts"))
		for i := range rows {
			r := &rows[i]
			r.rows = count[r.unit]
			cells := []string{fmt.Sprintf("%d::BIGINT, %d::BIGINT, %s::BOOLEAN, (%s)::INTEGER, %d::UBIGINT, %d::UBIGINT", r.unit, r.rows, literal(r.shown), literal(r.group), r.order, r.hash)}
			for _, v := range r.values {
				cells = append(cells, "("+literal(v)+")::BIGINT")
			}
			p := i * len(parts) / len(rows)
			if !together {
				p = rapid.IntRange(0, len(parts)-1).Draw(t, "part")
			}
			parts[p] = append(parts[p], "("+strings.Join(cells, ", ")+")")
		}
		var from []string
		for _, of := range parts {
			if len(of) > 0 {
				from = append(from, fmt.Sprintf("SELECT * FROM (VALUES %s) AS v(%s)", strings.Join(of, ", "), strings.Join(names, ", ")))
			}
		}
		got := map[int][]string{}
		if len(from) > 0 {
			text := fmt.Sprintf("SELECT * FROM (SELECT unnest(x, recursive := true) FROM (SELECT %s('%d %d %d %s', %s) AS x FROM (%s) AS t))", f.Name(), groups, most, numbers,
				strings.Trim(fmt.Sprint(what), "[]"), strings.Join(names, ", "), strings.Join(from, " UNION ALL "))
			found, err := conn.QueryContext(context.Background(), text)
			if err != nil {
				t.Fatal(err)
			}
			defer found.Close()
			for found.Next() {
				var g int
				cells := make([]any, f.Totals)
				into := []any{&g}
				for i := range cells {
					into = append(into, &cells[i])
				}
				if err := found.Scan(into...); err != nil {
					t.Fatal(err)
				}
				if _, twice := got[g]; twice {
					t.Fatalf("group %d is there twice", g)
				}
				for _, c := range cells {
					got[g] = append(got[g], fmt.Sprint(c))
				}
			}
			if err := found.Err(); err != nil {
				t.Fatal(err)
			}
		}
		if want := totalsModel(rows, groups, most, what); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
