//go:build cgo

package render_test

import (
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"
)

// Packed groups and groups that are ranked in a window are the same groups, with the same sums:
// a contribution that does not fit beside the hash brings the window back.
func TestPackedGroupsAreTheRanked(t *testing.T) {
	db := openDuck(t)
	bigint, text, boolean := sqltype.Of(sqltype.Bigint), sqltype.Of(sqltype.Text), sqltype.Of(sqltype.Boolean)
	if _, err := db.Exec(`CREATE TABLE t AS SELECT CAST(hash(4 * i) % 300 AS BIGINT) AS u, CASE WHEN i % 11 > 0 THEN 'it''s ' || hash(4 * i + 1) % 6 END AS a,
		'w' || hash(4 * i + 2) % 3 AS b, CASE WHEN i % 7 > 0 THEN hash(4 * i + 3) % 2 = 0 END AS c FROM range(4000) AS t(i)`); err != nil {
		t.Fatal(err)
	}
	table := &catalog.Table{Name: "t", Columns: []*catalog.Column{{Name: "u", Type: bigint}, {Name: "a", Type: text}, {Name: "b", Type: text}, {Name: "c", Type: boolean}}}
	one := &plan.Literal{Value: int64(1), T: bigint}
	condition := &plan.Ref{Index: 3, Name: "c", T: boolean}
	contributions := []plan.Contribution{{Kind: plan.Added, Value: one}, {Kind: plan.UnitCount, Value: condition}, {Kind: plan.UnitCount}}
	asked := func(b *plan.Bounded, salt int) (rows [][]string, sql string) {
		q, err := render.Release(b)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(q.Groups, "$salt") || q.Groups != "" && strings.Count(q.SQL, "("+q.Groups+")") != 1 {
			t.Fatalf("the groups depend on the salt, or do not stand in the query once: %s in %s", q.Groups, q.SQL)
		}
		found, err := db.Query("SELECT * FROM (" + strings.NewReplacer("$salt", fmt.Sprint(salt), "$slices", "1", "$slice", "0").Replace(q.SQL) + ") ORDER BY ALL")
		if err != nil {
			t.Fatal(err)
		}
		defer found.Close()
		for found.Next() {
			row, into := make([]any, len(b.Keys)+len(b.Contributions)), make([]any, len(b.Keys)+len(b.Contributions))
			for i := range into {
				into[i] = &row[i]
			}
			if err := found.Scan(into...); err != nil {
				t.Fatal(err)
			}
			var shown []string
			for _, v := range row[:len(b.Keys)+len(contributions)] {
				shown = append(shown, fmt.Sprint(v))
			}
			rows = append(rows, shown)
		}
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		return rows, q.SQL
	}
	lists := [][]string{{"it's 0", "it's 1", "it's 2", "it's 4", "it's 5"}, {"w2", "w0", "w1"}}
	for keys := 1; keys <= 2; keys++ {
		for _, most := range []int64{1, 2, 4} {
			for _, rows := range []int64{1, 3, 1000} {
				b := &plan.Bounded{Input: &plan.Scan{Table: table}, MaxGroups: most, MaxRows: rows, Contributions: contributions}
				for i := range keys {
					b.Keys, b.Names, b.Listed = append(b.Keys, &plan.Ref{Index: 1 + i, T: text}), append(b.Names, "k"), append(b.Listed, lists[i])
				}
				ranked := *b
				ranked.Contributions = append(contributions[:len(contributions):len(contributions)], plan.Contribution{Kind: plan.DistinctValues, Value: one})
				for salt := range 3 {
					got, packed := asked(b, salt)
					want, window := asked(&ranked, salt)
					if strings.Contains(packed, "OVER (") || !strings.Contains(window, "OVER (") {
						t.Fatalf("both forms are the same: %s and %s", packed, window)
					}
					if len(got) < 5 || !reflect.DeepEqual(got, want) {
						t.Errorf("%d keys, %d groups, %d rows, salt %d: packed %v, ranked %v", keys, most, rows, salt, got, want)
					}
				}
			}
		}
	}
}

// What is grouped first and ranked where a bound cuts is what ranks every row: a contribution that
// looks at distinct values brings that form back. Rows of the table reach and pass both bounds.
func TestRankingWhatIsCutIsRankingAll(t *testing.T) {
	db := openDuck(t)
	bigint, text, boolean := sqltype.Of(sqltype.Bigint), sqltype.Of(sqltype.Text), sqltype.Of(sqltype.Boolean)
	if _, err := db.Exec(`CREATE TABLE t AS SELECT CAST(hash(5 * i) % 60 AS BIGINT) AS u, CASE WHEN i % 11 > 0 THEN 'it''s ' || hash(5 * i + 1) % 40 END AS a, 'w' || hash(5 * i + 2) % 4 AS b,
		CASE WHEN i % 9 > 0 THEN CAST(hash(5 * i + 3) % 21 AS BIGINT) - 10 END AS x, CASE WHEN i % 7 > 0 THEN hash(5 * i + 4) % 2 = 0 END AS c, CASE WHEN i % 5 > 0 THEN i % 3 END AS k FROM range(1500) AS t(i)`); err != nil {
		t.Fatal(err)
	}
	table := &catalog.Table{Name: "t", Columns: []*catalog.Column{{Name: "u", Type: bigint}, {Name: "a", Type: text}, {Name: "b", Type: text},
		{Name: "x", Type: bigint}, {Name: "c", Type: boolean}, {Name: "k", Type: bigint}}}
	ref := func(i int) plan.Expr {
		return &plan.Ref{Index: i, Name: table.Columns[i].Name, T: table.Columns[i].Type}
	}
	var as []string
	for i := range 40 {
		if i != 5 { // which is in rows, and dropped
			as = append(as, fmt.Sprintf("it's %d", i))
		}
	}
	bs := []string{"w2", "w0", "w3", "never"}
	count, sum := plan.Contribution{Kind: plan.Added, Value: &plan.Literal{Value: int64(1), T: bigint}}, plan.Contribution{Kind: plan.Added, Value: ref(3)}
	clamped := plan.Contribution{Kind: plan.Clamped, Value: ref(3), Lower: big.NewInt(-12), Upper: big.NewInt(7)}
	units := []plan.Contribution{{Kind: plan.UnitCount}, {Kind: plan.UnitCount, Value: ref(4)}}
	for name, b := range map[string]plan.Bounded{
		"no key":      {},
		"places":      {Keys: []plan.Expr{ref(2)}, Listed: [][]string{bs}},
		"many places": {Keys: []plan.Expr{ref(1)}, Listed: [][]string{as}},
		"two keys":    {Keys: []plan.Expr{ref(2), ref(1)}, Listed: [][]string{bs[:3], as}},
		"a set":       {Keys: []plan.Expr{ref(2), ref(1)}, Listed: [][]string{bs[:3], as}, Shown: []int{1}},
		"no set":      {Keys: []plan.Expr{ref(2)}, Listed: [][]string{bs}, Shown: []int{}},
		"no list":     {Keys: []plan.Expr{ref(5)}, EveryGroup: true},
		"some listed": {Keys: []plan.Expr{ref(2), ref(5)}, Listed: [][]string{bs, nil}, EveryGroup: true},
	} {
		b.Input, b.Names = &plan.Scan{Table: table}, make([]string, len(b.Keys))
		for _, contributions := range [][]plan.Contribution{{sum, count}, append([]plan.Contribution{clamped, count}, units...), append([]plan.Contribution{sum, clamped}, units...)} {
			for _, bounds := range [][2]int64{{1, 1}, {3, 2}, {16, 3}} {
				if cuts := len(b.Keys) > 0 && !b.EveryGroup; cuts != (contributions[0].Kind == plan.Clamped) {
					continue // no row, or every row is ranked
				}
				one, all := b, b
				one.MaxGroups, one.MaxRows, one.Contributions = bounds[0], bounds[1], contributions
				all.MaxGroups, all.MaxRows = bounds[0], bounds[1]
				all.Contributions = append(contributions[:len(contributions):len(contributions)], plan.Contribution{Kind: plan.DistinctValues, Value: ref(3)})
				shown := len(contributions) + len(b.Keys)
				if b.Shown != nil {
					shown = len(contributions) + len(b.Shown)
				}
				ask := func(b *plan.Bounded) (rows [][]string, sql string) {
					q, err := render.Release(b)
					if err != nil {
						t.Fatal(err)
					}
					namesAreReserved(t, q.SQL)
					if strings.Contains(q.Groups, "$salt") || q.Groups != "" && strings.Count(q.SQL, "("+q.Groups+")") != 1 {
						t.Fatalf("the groups depend on the salt, or do not stand in the query once: %s in %s", q.Groups, q.SQL)
					}
					found, err := db.Query("SELECT * FROM (" + strings.NewReplacer("$salt", "11", "$slices", "1", "$slice", "0").Replace(q.SQL) + ") ORDER BY ALL")
					if err != nil {
						t.Fatalf("%v\n%s", err, q.SQL)
					}
					defer found.Close()
					columns, err := found.Columns()
					for found.Next() && err == nil {
						row, into := make([]any, len(columns)), make([]any, len(columns))
						for i := range into {
							into[i] = &row[i]
						}
						if err = found.Scan(into...); err == nil {
							var texts []string
							for _, v := range row[:shown] {
								if v == nil {
									v = 0 // what adds nothing
								}
								texts = append(texts, fmt.Sprint(v))
							}
							rows = append(rows, texts)
						}
					}
					if err := errors.Join(err, found.Err()); err != nil {
						t.Fatal(err)
					}
					return rows, q.SQL
				}
				got, sql := ask(&one)
				want, ranked := ask(&all)
				if !strings.Contains(sql, "units AS MATERIALIZED") || strings.Contains(ranked, "units AS") {
					t.Fatalf("%s, %v, bounds %v: both forms are one: %s", name, contributions, bounds, sql)
				}
				if len(got) == 0 || !reflect.DeepEqual(got, want) {
					t.Errorf("%s, %v, bounds %v: ranking what is cut gives\n%v, ranking all\n%v\n%s", name, contributions, bounds, got, want, sql)
				}
			}
		}
	}
}

// What does not fit is not packed.
func TestFewAndSmallGroupsArePacked(t *testing.T) {
	bigint, text := sqltype.Of(sqltype.Bigint), sqltype.Of(sqltype.Text)
	table := &catalog.Table{Name: "t", Columns: []*catalog.Column{{Name: "u", Type: bigint}, {Name: "a", Type: text}}}
	var list []string
	for i := range 1000 { // 10 bits
		list = append(list, fmt.Sprint(i))
	}
	for _, c := range []struct {
		groups, rows int64
		listed       []string
		packed       bool
	}{
		{16, 1<<14 - 1, list, true}, {17, 1, list, false}, {16, 1 << 14, list, false}, {2, 5, nil, false},
	} {
		q, err := render.Release(&plan.Bounded{Input: &plan.Scan{Table: table}, MaxGroups: c.groups, MaxRows: c.rows,
			Keys: []plan.Expr{&plan.Ref{Index: 1, T: text}}, Names: []string{"a"}, Listed: [][]string{c.listed},
			Contributions: []plan.Contribution{{Kind: plan.Added, Value: &plan.Literal{Value: int64(1), T: bigint}}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(q.SQL, " AS least FROM "); got != c.packed {
			t.Errorf("%d groups of %d, %d rows: packed %v", c.groups, len(c.listed), c.rows, got)
		}
	}
}
