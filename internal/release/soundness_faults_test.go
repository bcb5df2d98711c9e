//go:build cgo

package release_test

import (
	"errors"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb/least"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// A fault is a mistake that an implementation could make, planted in the
// pipeline of TestSoundness.
type fault struct {
	name string
	pipeline
	// first is the example to begin with: one that shows the fault, where many
	// do not. Any other finds it too, some hundreds of examples later.
	first int
}

const unlimited = 1 << 40

var faults = []fault{
	{"bounds are applied to the tables, before the join", pipeline{
		plan: func(_ *stability.Release, b *plan.Bounded) { b.MaxGroups, b.MaxRows = unlimited, unlimited },
		sql:  boundTables,
	}, 12},
	{"L0 is not enforced", pipeline{plan: func(_ *stability.Release, b *plan.Bounded) { b.MaxGroups = unlimited }}, 10},
	{"R is not enforced", pipeline{plan: func(_ *stability.Release, b *plan.Bounded) { b.MaxRows = max(b.MaxRows, b.MaxRows*unlimited) }}, 5},
	{"the bounds are taken for granted", pipeline{plan: func(_ *stability.Release, b *plan.Bounded) { b.Whole = true }}, 5},
	{"values are not clamped", pipeline{plan: eachFixed(func(c *plan.Call) plan.Expr { return wide(c) })}, 33},
	{"the clamp comes before the cast or the operation", pipeline{plan: eachFixed(clampFirst)}, 67},
	{"NaN comes through LEAST and GREATEST", pipeline{
		canonical: func(typ, value string) string {
			if typ == "double" || typ == "real" {
				return value + " + 0"
			}
			return canon(typ, value)
		},
		sql: replace(`CASE WHEN (c\d+) > (\(?-?[0-9][0-9.e+-]*\)?) THEN`, "CASE WHEN isnan($1) THEN $1 WHEN $1 > $2 THEN"),
	}, 35},
	{"−0 and 0 are different bits of one key", pipeline{applies: hasFloatKey, canonical: func(typ, value string) string {
		return strings.Replace(canon(typ, value), " + CAST(0 AS "+engineType(typ)+")", "", 1)
	}}, 303},
	{"partial sums are not clamped", pipeline{plan: func(_ *stability.Release, b *plan.Bounded) {
		for i, c := range b.Contributions {
			if c.Kind == plan.Clamped {
				b.Contributions[i].Lower, b.Contributions[i].Upper = big.NewInt(-unlimited), big.NewInt(unlimited)
			}
		}
	}}, 179},
	{"the groups are cut by another key than they are released by", pipeline{
		sql: replace(`(?:dense_rank|row_number)\(\) OVER \(PARTITION BY u ORDER BY hk[k0-9, ]*\) AS d`, "dense_rank() OVER (PARTITION BY u ORDER BY k0 IS NULL) AS d"),
	}, 10},
	{"more of a unit's packed groups are kept than it may be in", pipeline{sql: replace(`, \d+\) AS least FROM`, ", 100) AS least FROM")}, 447},
	{"a place more than a unit has is kept of its groups", pipeline{least: func(l *engine.Least) {
		more := least.Shape{Groups: l.Groups + 1, Values: l.Values}
		l.SQL = strings.Replace(l.SQL, least.Shape{Groups: l.Groups, Values: l.Values}.Name(), more.Name(), 1)
		l.Groups++
	}}, 447},
	{"the rows that the aggregate counts are not bounded", pipeline{least: replaceLeast(`least\(h & 255, \d+\)`, "h & 255")}, 92},
	{"rows are added up whose group has too many", pipeline{least: replaceLeast(`CASE WHEN h & 255 <= \d+ THEN (s\d) END`, "$1")}, 92},
	{"rows that are read again are all added up", pipeline{least: replaceLeast(`WHERE r <= \d+`, "")}, 92},
	{"there seem to be no more groups than a unit may be in", pipeline{plan: func(_ *stability.Release, b *plan.Bounded) { b.EveryGroup = true }}, 10},
	{"the counted rows of a unit in a group are not bounded", pipeline{sql: replace(`least\(count\(\*\), \d+\)`, "count(*)")}, 12},
	{"a key that is none of those listed is a group", pipeline{sql: replace(`k\d+ (IS NOT NULL|> 0) AND `, "")}, 6},
	{"a sum's sensitivity is hi − lo", pipeline{claim: func(r *stability.Release) {
		for i, c := range r.Components {
			if c.Kind == stability.Sum && c.Center.Sign() == 0 {
				reach := new(big.Int).Sub(c.UpperUnits, c.LowerUnits)
				r.Components[i].PerGroup = reach.Mul(reach, big.NewInt(r.MaxRows))
			}
		}
	}}, 4},
	{"a unit that is replaced moves a sum by no more than one that is removed", pipeline{claim: func(r *stability.Release) {
		for i, c := range r.Components {
			if c.Kind == stability.Sum && c.Center.Sign() == 0 {
				r.Components[i].Width = c.PerGroup
			}
		}
	}}, 96},
	{"so does it a centred sum", pipeline{claim: func(r *stability.Release) {
		for i, c := range r.Components {
			if c.Kind == stability.Sum && c.Center.Sign() != 0 {
				r.Components[i].Width = c.PerGroup
			}
		}
	}}, 124},
	{"a centred sum is not centred", pipeline{plan: eachValue(func(e plan.Expr) plan.Expr {
		if c, ok := e.(*plan.Call); ok && c.Function == plan.Subtract && isCall(c.Args[0], plan.Fixed) {
			return c.Args[0]
		}
		return nil
	})}, 30},
	{"values are made distinct before the bound", pipeline{plan: distinctFirst}, 50},
	{"the distinct values of a unit are not bounded", pipeline{sql: replace(` FILTER \(WHERE s\d+ <= \d+\)`, "")}, 21},
	{"groups are selected by rows, not units", pipeline{plan: func(r *stability.Release, b *plan.Bounded) {
		if last := len(b.Contributions) - 1; r.Private && !b.Whole {
			b.MaxRows = max(b.MaxRows, 2)
			b.Contributions[last] = plan.Contribution{Kind: plan.Added, Value: &plan.Literal{Value: int64(1), T: sqltype.Of(sqltype.Bigint)}}
		}
	}}, 5},
	{"inner sums run in floating point", pipeline{
		sql: replace(`\(CASE WHEN max\(abs\((a\d+)\)\) <= \S+ THEN .*? / \S+ END\)`, "sum($1)"),
	}, 740},
	{"rank instead of row_number", pipeline{
		sql: replace(`row_number\(\) OVER \(PARTITION BY u ORDER`, "rank() OVER (PARTITION BY u ORDER"),
	}, 5},
	{"rows are chosen by their physical number", pipeline{
		sql: replace(`hash\(hash\(CAST\(\$salt AS BIGINT\)[^()]*\)\) AS hr`, "row_number() OVER () AS hr"),
	}, 9},
	{"row units are numbered as they lie", pipeline{
		sql: func(_ *stability.Release, text string) string { return numberedAsTheyLie(text) },
	}, 168},
	{"private tables are joined without their unit", pipeline{plan: eachNode(func(n plan.Node) plan.Node {
		if j, ok := n.(*plan.Join); ok && readsPrivate(j.Left) && readsPrivate(j.Right) {
			return &plan.Join{Kind: j.Kind, Left: j.Left, Right: j.Right, On: &plan.Literal{Value: true, T: sqltype.Of(sqltype.Boolean)}}
		}
		return n
	})}, 49},
	{"a reference is followed without comparing the units", pipeline{plan: eachNode(func(n plan.Node) plan.Node {
		if j, ok := n.(*plan.Join); ok && readsPrivate(j.Left) && readsPrivate(j.Right) {
			if and, ok := j.On.(*plan.Call); ok && and.Function == plan.And && strings.Contains(plan.FormatExpr(and.Args[0]), "ref$") {
				return &plan.Join{Kind: j.Kind, Left: j.Left, Right: j.Right, On: and.Args[0]}
			}
		}
		return n
	})}, 685},
	{"rows whose unit is NULL are one unit", pipeline{plan: eachNode(func(n plan.Node) plan.Node {
		if f, ok := n.(*plan.Filter); ok && strings.HasPrefix(plan.FormatExpr(f.Condition), "not(is null(unit$") {
			return f.Input
		}
		return n
	})}, 12},
	{"a join's R is the largest, not the product", pipeline{claim: func(r *stability.Release) {
		if contains(r.Input, func(n plan.Node) bool {
			j, ok := n.(*plan.Join)
			return ok && j.Kind < plan.Semi && readsPrivate(j.Left) && readsPrivate(j.Right)
		}) {
			largestRows(r)
		}
	}}, 61},
	{"a UNION ALL's R is the largest, not the sum", pipeline{claim: func(r *stability.Release) {
		if contains(r.Input, func(n plan.Node) bool { u, ok := n.(*plan.Union); return ok && readsPrivate(u) }) {
			largestRows(r)
		}
	}}, 34},
	{"the first rows by value are aggregated, as by LIMIT", pipeline{plan: func(_ *stability.Release, b *plan.Bounded) {
		sort := &plan.Sort{Input: b.Input}
		for i, c := range b.Input.Columns() {
			if c.Type.Kind == sqltype.IntervalKind {
				return
			}
			sort.Keys = append(sort.Keys, plan.SortKey{Expr: &plan.Ref{Index: i, T: c.Type}})
		}
		b.Input = &plan.Limit{Input: sort, Count: 3}
	}}, 10},
	{"LIMIT keeps public rows as they lie", pipeline{plan: eachNode(func(n plan.Node) plan.Node {
		l, ok := n.(*plan.Limit)
		if !ok {
			return n
		}
		input := transform(l.Input, func(n plan.Node) plan.Node {
			if s, ok := n.(*plan.Sort); ok {
				return s.Input
			}
			return n
		})
		return &plan.Limit{Input: input, Count: l.Count, Offset: l.Offset}
	})}, 23},
	{"an outer join keeps public rows, each a unit", pipeline{plan: eachNode(keepPublic)}, 2},
	{"keys outside their domain are kept", pipeline{plan: func(r *stability.Release, b *plan.Bounded) {
		b.Listed = nil
		for range r.Keys {
			switch n := b.Input.(type) {
			case *plan.Filter:
				if !r.Private {
					b.Input = n.Input
				}
			case *plan.Join:
				if !r.Private {
					b.Input = n.Left
				}
			}
		}
	}}, 6},
	{"a cast may fail", pipeline{sql: func(_ *stability.Release, text string) string {
		return strings.NewReplacer("TRY_CAST(", "CAST(", "TRY(", "(").Replace(text)
	}}, 6},
}

// TestSoundnessFindsFaults plants each fault and wants TestSoundness to fail
// within a number of examples. The examples are those of fixed seeds.
func TestSoundnessFindsFaults(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("skip: -short; the faults take a minute")
	}
	const most = 1000
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			m := newMachines(t) // of its own: a faulty plan can be the end of DuckDB's instance
			f.planted = true
			var c coverage
			for i := f.first; i < f.first+most; i++ {
				err := m.check(examples.Example(i), f.pipeline, &c)
				if v, ok := errors.AsType[*violation](err); ok {
					what, _, _ := strings.Cut(v.what, "\n")
					t.Logf("found by example %d, after %d queries: %s", i, c.queries, what)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			t.Errorf("not found in %d examples, %d queries", most, c.queries)
		})
	}
}

// Ways to plant.

func replace(pattern, by string) func(*stability.Release, string) string {
	re := regexp.MustCompile(pattern)
	return func(_ *stability.Release, text string) string { return re.ReplaceAllString(text, by) }
}

func replaceTotals(pattern, by string) func(*engine.Totals) {
	re := regexp.MustCompile(pattern)
	return func(t *engine.Totals) { t.SQL = re.ReplaceAllString(t.SQL, by) }
}

func replaceLeast(pattern, by string) func(*engine.Least) {
	re := regexp.MustCompile(pattern)
	return func(l *engine.Least) { l.SQL = re.ReplaceAllString(l.SQL, by) }
}

// numberedAsTheyLie replaces the keys of rows by their physical numbers.
func numberedAsTheyLie(text string) string {
	const digest = ", ':', sha256("
	for {
		at := strings.Index(text, digest)
		if at < 0 {
			return text
		}
		start := strings.LastIndex(text[:at], "concat(")
		end, depth, quoted := start+len("concat("), 1, false
		for ; depth > 0; end++ {
			switch c := text[end]; {
			case c == '\'':
				quoted = !quoted
			case quoted:
			case c == '(':
				depth++
			case c == ')':
				depth--
			}
		}
		text = text[:start] + "CAST(row_number() OVER () AS VARCHAR)" + text[end:]
	}
}

// boundTables keeps one row of each unit of a table.
func boundTables(r *stability.Release, text string) string {
	for _, t := range scanned(r.Input) {
		if t.Public || t.Unit.Kind != catalog.UnitColumn {
			continue
		}
		var order []string
		for _, c := range t.Columns {
			order = append(order, c.Name)
		}
		one := "FROM (SELECT * FROM " + t.Name + " QUALIFY row_number() OVER (PARTITION BY u ORDER BY " + strings.Join(order, ", ") + ") = 1) AS once"
		text = strings.ReplaceAll(text, `FROM "`+t.Name+`"`, one)
	}
	return text
}

func scanned(n plan.Node) (out []*catalog.Table) {
	if s, ok := n.(*plan.Scan); ok && !slices.Contains(out, s.Table) {
		out = append(out, s.Table)
	}
	for _, in := range n.Inputs() {
		for _, t := range scanned(in) {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

func hasFloatKey(r *stability.Release) bool {
	return slices.ContainsFunc(r.Keys, func(k stability.Key) bool { return k.Expr.Type().IsFloat() })
}

func contains(n plan.Node, is func(plan.Node) bool) bool {
	return is(n) || slices.ContainsFunc(n.Inputs(), func(in plan.Node) bool { return contains(in, is) })
}

func readsPrivate(n plan.Node) bool {
	return contains(n, func(n plan.Node) bool { s, ok := n.(*plan.Scan); return ok && !s.Table.Public })
}

func isCall(e plan.Expr, f plan.Function) bool {
	c, ok := e.(*plan.Call)
	return ok && c.Function == f
}

// keepPublic makes a join of private with public rows keep the public ones that
// find no partner, as units of their own.
func keepPublic(n plan.Node) plan.Node {
	j, ok := n.(*plan.Join)
	if !ok || !readsPrivate(j.Left) || readsPrivate(j.Right) || j.Kind != plan.Inner && j.Kind != plan.Left {
		return n
	}
	full := &plan.Join{Kind: plan.Full, Left: j.Left, Right: j.Right, On: j.On}
	out := &plan.Project{Input: full}
	unit := len(j.Left.Columns()) - 1
	for i, c := range full.Columns() {
		out.Exprs, out.Names = append(out.Exprs, &plan.Ref{Index: i, Name: c.Name, T: c.Type}), append(out.Names, c.Name)
	}
	// A key of its own for each row, in place of the unit that is NULL.
	text := sqltype.Of(sqltype.Text)
	var key plan.Expr = &plan.Call{Function: plan.RowKey, T: text,
		Args: append([]plan.Expr{&plan.Literal{Value: int64(999), T: sqltype.Of(sqltype.Bigint)}}, out.Exprs...)}
	known := out.Exprs[unit]
	if known.Type().Kind != sqltype.Text {
		known = &plan.Cast{Arg: known, T: text}
	}
	out.Exprs = slices.Clone(out.Exprs)
	out.Exprs[unit] = &plan.Call{Function: plan.Coalesce, Args: []plan.Expr{known, key}, T: key.Type()}
	return out
}

// largestRows claims that R is the largest of the tables'.
func largestRows(r *stability.Release) {
	largest := int64(1)
	for _, t := range scanned(r.Input) {
		largest = max(largest, t.MaxRows)
	}
	if r.MaxRows == 0 || largest >= r.MaxRows {
		return
	}
	for i, c := range r.Components {
		if c.Kind != stability.Units && c.Kind != stability.PartialSum {
			each := new(big.Int).Quo(c.PerGroup, big.NewInt(r.MaxRows))
			r.Components[i].PerGroup = each.Mul(each, big.NewInt(largest))
		}
	}
}

// eachNode rebuilds the rows' plan, inputs first.
func eachNode(f func(plan.Node) plan.Node) func(*stability.Release, *plan.Bounded) {
	return func(_ *stability.Release, b *plan.Bounded) { b.Input = transform(b.Input, f) }
}

func transform(n plan.Node, f func(plan.Node) plan.Node) plan.Node {
	switch o := n.(type) {
	case *plan.Filter:
		c := *o
		c.Input = transform(o.Input, f)
		n = &c
	case *plan.Project:
		c := *o
		c.Input = transform(o.Input, f)
		n = &c
	case *plan.Aggregate:
		c := *o
		c.Input = transform(o.Input, f)
		n = &c
	case *plan.Window:
		c := *o
		c.Input = transform(o.Input, f)
		n = &c
	case *plan.Sort:
		c := *o
		c.Input = transform(o.Input, f)
		n = &c
	case *plan.Limit:
		c := *o
		c.Input = transform(o.Input, f)
		n = &c
	case *plan.Join:
		c := *o
		c.Left, c.Right = transform(o.Left, f), transform(o.Right, f)
		n = &c
	case *plan.Union:
		c := *o
		c.Branches = nil
		for _, b := range o.Branches {
			c.Branches = append(c.Branches, transform(b, f))
		}
		n = &c
	}
	return f(n)
}

// eachValue rebuilds the contributions' values: where f returns an expression,
// it takes the place of the one that it was given.
func eachValue(f func(plan.Expr) plan.Expr) func(*stability.Release, *plan.Bounded) {
	var rebuild func(e plan.Expr) plan.Expr
	rebuild = func(e plan.Expr) plan.Expr {
		if e == nil {
			return nil
		}
		if out := f(e); out != nil {
			return out
		}
		switch e := e.(type) {
		case *plan.Call:
			c := *e
			c.Args = nil
			for _, a := range e.Args {
				c.Args = append(c.Args, rebuild(a))
			}
			return &c
		case *plan.Case:
			c := *e
			c.Whens = nil
			for _, w := range e.Whens {
				c.Whens = append(c.Whens, plan.When{Condition: w.Condition, Result: rebuild(w.Result)})
			}
			c.Else = rebuild(e.Else)
			return &c
		}
		return e
	}
	return func(_ *stability.Release, b *plan.Bounded) {
		for i, c := range b.Contributions {
			if c.Value != nil {
				b.Contributions[i].Value = rebuild(c.Value)
			}
		}
	}
}

func eachFixed(f func(*plan.Call) plan.Expr) func(*stability.Release, *plan.Bounded) {
	return eachValue(func(e plan.Expr) plan.Expr {
		if isCall(e, plan.Fixed) {
			return f(e.(*plan.Call))
		}
		return nil
	})
}

// wide is a plan.Fixed with bounds a thousand times as wide.
func wide(c *plan.Call) *plan.Call {
	bound := func(e plan.Expr, sign int64) plan.Expr {
		l := *e.(*plan.Literal)
		switch v := l.Value.(type) {
		case int64:
			l.Value = sign * 30_000
			if l.T.Kind != sqltype.Smallint {
				l.Value = sign * 1_000_000
			}
		case float64:
			l.Value = float64(sign) * max(1, v*float64(sign)) * 2
		case sqltype.Decimal:
			l.Value = sqltype.Decimal{Unscaled: big.NewInt(sign * 9_999_999), Scale: v.Scale}
		}
		return &l
	}
	return &plan.Call{Function: plan.Fixed, T: c.T, Args: []plan.Expr{c.Args[0], bound(c.Args[1], -1), bound(c.Args[2], 1), c.Args[3]}}
}

// clampFirst clamps the operands of the outermost operation, not its result.
func clampFirst(c *plan.Call) plan.Expr {
	lower, upper := c.Args[1], c.Args[2]
	clamp := func(e plan.Expr) plan.Expr {
		if e.Type() != lower.Type() {
			return e
		}
		test := func(f plan.Function, bound plan.Expr) plan.When {
			return plan.When{Condition: &plan.Call{Function: f, Args: []plan.Expr{e, bound}, T: sqltype.Of(sqltype.Boolean)}, Result: bound}
		}
		return &plan.Case{Whens: []plan.When{test(plan.Greater, upper), test(plan.Less, lower)}, Else: e, T: e.Type()}
	}
	out := wide(c)
	switch e := c.Args[0].(type) {
	case *plan.Call:
		inner := *e
		inner.Args = nil
		for _, a := range e.Args {
			inner.Args = append(inner.Args, clamp(a))
		}
		out.Args[0] = &inner
		return out
	}
	return c
}

// distinctFirst gives each value of a COUNT(DISTINCT) to one unit that has it,
// before the bounds are applied.
func distinctFirst(r *stability.Release, b *plan.Bounded) {
	i := slices.IndexFunc(b.Contributions, func(c plan.Contribution) bool { return c.Kind == plan.DistinctValues })
	if i < 0 || b.Whole {
		return
	}
	unit := b.Input.Columns()[b.Unit]
	first := &plan.Aggregate{Input: b.Input, Keys: append(slices.Clone(b.Keys), b.Contributions[i].Value),
		Names:        append(slices.Clone(b.Names), "value"),
		Aggregations: []plan.Aggregation{{Function: plan.Min, Arg: &plan.Ref{Index: b.Unit, T: unit.Type}, Name: "unit", Type: unit.Type}}}
	b.Input, b.Unit = first, len(b.Keys)+1
	for k, key := range b.Keys {
		b.Keys[k] = &plan.Ref{Index: k, Name: b.Names[k], T: key.Type()}
	}
	for j := range b.Contributions[:len(summed(r).Components)] { // trees are none
		none := &plan.Literal{T: sqltype.Of(sqltype.Bigint)}
		b.Contributions[j] = plan.Contribution{Kind: plan.Added, Value: none}
	}
	b.Contributions[i] = plan.Contribution{Kind: plan.DistinctValues, Value: &plan.Ref{Index: len(b.Keys), T: first.Keys[len(b.Keys)].Type()}}
}
