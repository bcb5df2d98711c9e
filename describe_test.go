//go:build cgo

package discreet

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// describedStatements have columns of all kinds: choices, counts that choices are read from, values that are computed, grouping sets, private and public keys.
var describedStatements = []string{
	"SELECT mode() WITHIN GROUP (ORDER BY k) AS often FROM t",
	"SELECT mode() WITHIN GROUP (ORDER BY k) AS often, count(*) AS n FROM t",
	"SELECT s, mode() WITHIN GROUP (ORDER BY k) AS often FROM t GROUP BY s",
	"SELECT s, mode() WITHIN GROUP (ORDER BY k) AS often, count(*) AS n, sum(x) FROM t GROUP BY s",
	"SELECT n, mode() WITHIN GROUP (ORDER BY s) FROM t GROUP BY n",
	"SELECT k FROM t GROUP BY k ORDER BY count(*) DESC LIMIT 1",
	"SELECT n, s FROM t GROUP BY n, s ORDER BY count(*) DESC LIMIT 1",
	"SELECT k, count(*), sum(x), avg(x) FROM t GROUP BY k",
	"SELECT free, count(*) FROM t GROUP BY free",
	"SELECT k, s, count(*), sum(w) FROM t GROUP BY ROLLUP (k, s)",
	"SELECT median(x), percentile_cont(0.9) WITHIN GROUP (ORDER BY x) AS p, min(x), max(x) FROM t",
	"SELECT percentile_cont(ARRAY[0.1, 0.5]) WITHIN GROUP (ORDER BY x) FROM t",
	"SELECT k, count(*) * 2 AS n, 'a' AS a, round(avg(x), 1) FROM t GROUP BY k HAVING count(*) > 3",
	"SELECT max(n) FROM (SELECT k, count(*) AS n FROM t GROUP BY k) AS g",
	"SELECT approx_top_k(k, 2) FROM t",
	"SELECT DISTINCT k FROM t",
	"SELECT variance(x), stddev(x), count(DISTINCT who) FROM t",
	"SELECT p.name, count(*) FROM t JOIN p ON p.k = t.k GROUP BY 1",
	"SELECT k, rank() OVER (ORDER BY count(*) DESC) FROM t GROUP BY k",
	"SELECT k, name FROM p",
	"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 1) k, count(*) FROM t GROUP BY k",
	"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, delta = 1e-6) s, mode() WITHIN GROUP (ORDER BY k) FROM t GROUP BY s",
}

// describedOptions are ways to ask: at each cost that a measure knows, none, and with all that decides how a statement is planned.
func describedOptions() map[string]*QueryOptions {
	rho := func(text string) Spend { return Spend{Rho: must(privacy.ParseRho(text))} }
	epsilon := func(text string) Spend { return Spend{Epsilon: must(privacy.ParseEpsilon(text))} }
	near := Accuracy{Error: big.NewRat(300, 1)}
	return map[string]*QueryOptions{
		"the default":          {},
		"none":                 {NoDefault: true},
		"none, stored":         {NoDefault: true, Reuse: true},
		"free":                 {Spend: rho("0.1"), Free: true, Reuse: true},
		"free, with accuracy":  {Accuracy: near, Free: true, Reuse: true},
		"little rho":           {Spend: rho("0.0001")},
		"rho":                  {Spend: rho("0.5")},
		"epsilon":              {Spend: epsilon("1")},
		"much epsilon":         {Spend: epsilon("400")},
		"epsilon and delta":    {Spend: Spend{Epsilon: must(privacy.ParseEpsilon("1")), Delta: must(privacy.ParseDelta("1e-6"))}},
		"accuracy":             {Accuracy: near, NoDefault: true},
		"relative accuracy":    {Accuracy: Accuracy{Error: big.NewRat(1, 2), Relative: true}, AtMost: epsilon("50")},
		"accuracy, at most":    {Accuracy: near, AtMost: rho("50")},
		"accuracy that is not": {Accuracy: Accuracy{Error: big.NewRat(1, 1_000_000_000)}, AtMost: rho("0.1")},
		"confidence":           {Spend: rho("0.1"), Confidence: 0.5},
		"weights":              {Spend: rho("0.1"), Weights: []*big.Rat{big.NewRat(9, 1), big.NewRat(1, 1)}},
		"consistent":           {Spend: rho("0.1"), Consistent: true},
		"together":             {Spend: rho("0.1"), Together: true},
		"all":                  {Accuracy: near, Consistent: true, Together: true, Confidence: 0.8, NoDefault: true, Reuse: true, Fresh: true},
	}
}

// A statement is answered in the columns in which it is described by the same options: by their names, types, and which are noisy. What can be asked can be described.
func TestDescribedAsAnswered(t *testing.T) {
	t.Parallel()
	told, differ := 0, map[string]bool{}
	for _, measure := range []string{"zcdp", "pure", "approx"} {
		for _, bounds := range []string{inGroups, manyRows, fewRows} {
			w := shelve(t, measure, inGroups, bounds)
			w.version()
			for _, sql := range describedStatements {
				for name, o := range describedOptions() {
					at := fmt.Sprintf("%s, %s, %s\n%s", measure, bounds, name, sql)
					asked := *o
					asked.Analyst = "ann"
					d, refused := w.Describe(t.Context(), sql, nil, &asked)
					s, err := w.plan(t.Context(), sql, &asked)
					if err != nil {
						continue
					}
					if refused != nil {
						t.Errorf("%s\nis not described: %v", at, refused)
						continue
					}
					if !slices.Equal(d.Columns, s.Columns()) || d.Domain != "" && s.Domain() != "" && d.Domain != s.Domain() {
						t.Errorf("%s\nis described as %+v and planned as %+v", at, d, s.Columns())
					}
					if otherwise, err := w.Describe(t.Context(), sql, nil, nil); err == nil && !slices.Equal(otherwise.Columns, d.Columns) {
						differ[sql] = true
					}
					if sql != describedStatements[told%len(describedStatements)] && bounds != manyRows {
						continue // each is answered some times
					}
					a, err := w.Query(t.Context(), sql, &asked)
					if err != nil {
						var r *Refusal
						if !errors.As(err, &r) {
							t.Errorf("%s\n%v", at, err)
						}
						continue
					}
					told++
					if !slices.Equal(a.Columns, d.Columns) {
						t.Errorf("%s\nis described as %+v and answered as %+v (stored: %v)", at, d.Columns, a.Columns, a.Reused)
					}
				}
			}
		}
	}
	if told < 100 || len(differ) < 2 {
		t.Errorf("the test is weak: %d answers, statements whose columns differ by options: %v", told, differ)
	}
}

// The values of parameters change neither names nor types; with those of which the plan depends on none, nor which columns are noisy.
func TestDescribedWithParametersAsAnswered(t *testing.T) {
	t.Parallel()
	w := shelve(t, "zcdp", inGroups, manyRows)
	for _, c := range []struct {
		sql    string
		values []string
	}{
		{"SELECT mode() WITHIN GROUP (ORDER BY k) AS often, count(*) AS n FROM t WHERE x > $1", []string{"3"}},
		{"SELECT s, mode() WITHIN GROUP (ORDER BY k) FROM t WHERE k = $1 GROUP BY s", []string{"a"}},
		{"SELECT width_bucket(x, $1, $2, $3), count(*) FROM t GROUP BY 1", []string{"0", "9", "3"}},
		{"SELECT sum(greatest($1, least(x, $2))), $3 AS word FROM t", []string{"0", "2", "w"}},
		{"SELECT k, count(*) + $1 AS n, sum(w) * $2 AS t FROM t GROUP BY k ORDER BY n LIMIT $3", []string{"1", "2.5", "2"}},
		{"SELECT k, count(*) FROM t GROUP BY k HAVING count(*) > $1", []string{"10"}},
		{"SELECT percentile_cont($1) WITHIN GROUP (ORDER BY x) FROM t", []string{"0.5"}},
		{"SELECT round(avg(w), $1) FROM t", []string{"2"}},
		{"SELECT coalesce(k, $1) AS key, count(*) FROM t GROUP BY 1", []string{"none"}},
		{"SELECT CASE WHEN x > $1 THEN $2 ELSE $3 END AS size, mode() WITHIN GROUP (ORDER BY k) FROM t GROUP BY 1", []string{"5", "much", "little"}},
		{"SELECT n, s FROM t GROUP BY n, s ORDER BY count(*) DESC LIMIT $1", []string{"1"}},
		{"SELECT count(*) FROM t WHERE k = ANY ($1)", []string{"{a,b}"}},
	} {
		for name, o := range describedOptions() {
			d, refused := w.Describe(t.Context(), c.sql, nil, o)
			for _, declared := range []bool{false, true} {
				asked := *o
				for i, v := range c.values {
					p := Parameter{Text: &v}
					if declared && refused == nil {
						p.Type, p.Array = d.Parameters[i].Type, d.Parameters[i].Array
					}
					asked.Parameters = append(asked.Parameters, p)
				}
				s, err := w.plan(t.Context(), c.sql, &asked)
				switch {
				case err != nil:
				case refused != nil:
					t.Errorf("%s: %s\nis not described: %v", name, c.sql, refused)
				case !slices.EqualFunc(d.Columns, s.Columns(), sameButScale):
					t.Errorf("%s: %s\nis described as %+v and planned as %+v", name, c.sql, d.Columns, s.Columns())
				}
			}
		}
	}
}

// sameButScale compares columns whose values parameters may give more or fewer places.
func sameButScale(a, b Column) bool {
	return a.Name == b.Name && a.Noisy == b.Noisy && a.Why == b.Why && a.Type.Kind == b.Type.Kind
}

// A public table that lists more values than a statement may have as constants makes a choice one of counts: a description is of what it lists when
// it is made, and a statement that was prepared says what it is answered with.
func TestDescribedWhilePublicTablesChange(t *testing.T) {
	t.Parallel()
	db, public := listed(t)
	many := make([][]sqltype.Value, 10_001)
	for i := range many {
		many[i] = []sqltype.Value{fmt.Sprintf("%06d", i), nil}
	}
	const sql = listedMode
	var columns [2][]Column
	var prepared [2]*Statement
	for i, rows := range [][][]sqltype.Value{nil, many} {
		public.rows = rows
		d, err := db.Describe(t.Context(), sql, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if prepared[i], err = db.Prepare(t.Context(), sql, nil); err != nil {
			t.Fatal(err)
		}
		if columns[i] = d.Columns; !slices.Equal(columns[i], prepared[i].Columns()) {
			t.Errorf("described as %+v, prepared as %+v", columns[i], prepared[i].Columns())
		}
	}
	if slices.Equal(columns[0], columns[1]) {
		t.Errorf("the test is weak: %+v either way", columns[0])
	}
	for i, s := range prepared {
		a, err := s.Answer(t.Context(), Payer{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Columns, columns[i]) {
			t.Errorf("described as %+v, answered as %+v", columns[i], a.Columns)
		}
	}
}

// An answer that the ledger keeps says the same when it is read, whatever its values are.
func TestStoredAnswersSayTheSame(t *testing.T) {
	decimal := func(unscaled int64, scale uint8) sqltype.Value {
		return sqltype.Decimal{Unscaled: big.NewInt(unscaled), Scale: scale}
	}
	kinds := map[sqltype.Type][]sqltype.Value{
		sqltype.Of(sqltype.Boolean): {true, false}, sqltype.Of(sqltype.Bigint): {int64(math.MinInt64), int64(math.MaxInt64)},
		sqltype.Of(sqltype.Real): {float64(float32(1e38)), float64(float32(1e-40))}, sqltype.Of(sqltype.Double): {math.MaxFloat64, 5e-324, -0.1},
		sqltype.DecimalOf(18, 3): {decimal(-1, 3), decimal(0, 3), decimal(math.MaxInt64/10, 3)}, sqltype.Of(sqltype.Text): {"", "a\x00\"\\\n\u2028", "null"},
		sqltype.Of(sqltype.DateKind):      {must(sqltype.ParseValue(sqltype.Of(sqltype.DateKind), "0001-01-01")), must(sqltype.ParseValue(sqltype.Of(sqltype.DateKind), "9999-12-31"))},
		sqltype.Of(sqltype.TimeKind):      {sqltype.Time(0), sqltype.Time(1), sqltype.Time(86_400_000_000)},
		sqltype.Of(sqltype.TimestampKind): {sqltype.Timestamp(-1), must(sqltype.ParseValue(sqltype.Of(sqltype.TimestampKind), "9999-12-31 23:59:59.999999"))},
		sqltype.Of(sqltype.IntervalKind):  {sqltype.Interval{Months: -14, Days: 3, Micros: -1}, sqltype.Interval{}},
	}
	for kind, values := range kinds {
		for _, v := range append(values, nil) {
			a := &Answer{Columns: []Column{{Name: "x", Type: kind, Noisy: true}}, Rows: [][]sqltype.Value{{v}}, Intervals: [][]*Interval{{{Lower: v, Upper: v}}}}
			text, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			var read Answer
			if err := json.Unmarshal(text, &read); err != nil {
				t.Errorf("%v: %s: %v", kind, text, err)
				continue
			}
			for _, got := range []sqltype.Value{read.Rows[0][0], read.Intervals[0][0].Lower, read.Intervals[0][0].Upper} {
				if (got == nil) != (v == nil) || v != nil && sqltype.Format(got) != sqltype.Format(v) {
					t.Errorf("%v: %v is read as %v", kind, v, got)
				}
			}
		}
	}
}
