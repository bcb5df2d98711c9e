package stability

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Doubt is a part of a statement that the declarations alone show to be always
// NULL, never true or without effect. Asking for it costs as much as for any
// other, so that it is said: by words that depend on the statement and the catalog.
type Doubt struct {
	Span  diagnostic.Span
	Words string
	// Constant, if it is not nil, is doubted if it is none of Listed, of which public tables list some. Listing then says so, and Words are empty.
	Constant *plan.Literal
	Listed   []*catalog.PublicDomain
}

// Listing is a doubt of a constant that is none of these values.
func (d Doubt) Listing(values []sqltype.Value) (Doubt, bool) {
	if slices.ContainsFunc(values, func(v sqltype.Value) bool { return v != nil && same(v, d.Constant.Value) }) {
		return Doubt{}, false
	}
	return Doubt{Span: d.Span, Words: unlisted(d.Constant, values)}, true
}

// doubts looks through a bound statement.
func doubts(n plan.Node, f *facts) []Doubt {
	d := &doubter{facts: f, seen: map[plan.Node]bool{}}
	d.node(n)
	slices.SortStableFunc(d.found, func(a, b Doubt) int { return a.Span.Start - b.Span.Start })
	return slices.CompactFunc(d.found, func(a, b Doubt) bool { return a.Span == b.Span && a.Words == b.Words && a.Constant == b.Constant })
}

// mostDoubts bounds those of one statement, which can have thousands; and mostRows the rows that it writes out, of which some may be doubted.
const mostDoubts, mostRows = 20, 100

type doubter struct {
	facts *facts
	input plan.Node // whose columns the expressions name
	seen  map[plan.Node]bool
	found []Doubt
}

// say does so of what is written: some functions are made of conditions that have no place.
func (d *doubter) say(at diagnostic.Span, format string, args ...any) {
	if len(d.found) < mostDoubts && at.Start < at.End {
		d.found = append(d.found, Doubt{Span: at, Words: fmt.Sprintf(format, args...)})
	}
}

func (d *doubter) node(n plan.Node) {
	if d.seen[n] {
		return
	}
	d.seen[n] = true
	for _, in := range n.Inputs() {
		d.node(in)
	}
	switch n := n.(type) {
	case *plan.Filter:
		d.condition(n.Condition, "WHERE, HAVING or ON")
		d.exprs(n.Input, n.Condition)
	case *plan.Project:
		d.exprs(n.Input, n.Exprs...)
	case *plan.Join:
		d.condition(n.On, "the join's condition")
		d.exprs(n, n.On)
	case *plan.Aggregate:
		d.exprs(n.Input, n.Keys...)
		for _, a := range n.Aggregations {
			d.condition(a.Filter, "FILTER")
			d.exprs(n.Input, a.Arg, a.Filter)
		}
	case *plan.Window:
		for _, f := range n.Functions {
			d.condition(f.Filter, "FILTER")
			d.exprs(n.Input, f.Exprs()...)
		}
	case *plan.Limit:
		if n.Count == 0 {
			d.say(n.Span, "LIMIT 0 leaves no row")
		}
	case *plan.Sort:
		for _, k := range n.Keys {
			d.exprs(n.Input, k.Expr)
		}
	}
}

// condition looks for conditions that no row meets whatever it holds.
func (d *doubter) condition(e plan.Expr, what string) {
	if e != nil && neverTrue(e) {
		d.say(e.Place(), "%s is never true", what)
	}
}

// neverTrue reports whether a condition is FALSE or NULL by its constants.
func neverTrue(e plan.Expr) bool {
	switch e := e.(type) {
	case *plan.Literal:
		return e.Value == nil || e.Value == false
	case *plan.Call:
		switch e.Function {
		case plan.And:
			return slices.ContainsFunc(e.Args, neverTrue)
		case plan.Or:
			return !slices.ContainsFunc(e.Args, func(a plan.Expr) bool { return !neverTrue(a) })
		case plan.Not:
			l, ok := e.Args[0].(*plan.Literal)
			return ok && l.Value != false
		case plan.Equal, plan.NotEqual, plan.Less, plan.LessOrEqual, plan.Greater, plan.GreaterOrEqual:
			a, ok := e.Args[0].(*plan.Literal)
			b, also := e.Args[1].(*plan.Literal)
			return ok && also && a.Value != nil && b.Value != nil && !holds(e.Function, sqltype.Compare(a.Value, b.Value))
		}
	}
	return false
}

// holds is a comparison's result by the order of its sides.
func holds(f plan.Function, order int) bool {
	switch f {
	case plan.Equal:
		return order == 0
	case plan.NotEqual:
		return order != 0
	case plan.Less:
		return order < 0
	case plan.LessOrEqual:
		return order <= 0
	case plan.Greater:
		return order > 0
	}
	return order >= 0
}

func (d *doubter) exprs(n plan.Node, all ...plan.Expr) {
	d.input = n
	for _, e := range all {
		plan.Walk(e, func(e plan.Expr) bool { d.expr(e); return true })
	}
}

func (d *doubter) expr(e plan.Expr) {
	switch e := e.(type) {
	case *plan.Cast:
		if l, ok := e.Arg.(*plan.Literal); ok && lost(l, e.T) {
			d.say(e.Span, "the constant is beyond %s: always NULL", e.T)
		}
	case *plan.Case:
		for i, w := range e.Whens {
			if neverTrue(w.Condition) {
				d.say(w.Condition.Place(), "this branch of CASE is never taken")
			}
			if l, ok := w.Condition.(*plan.Literal); ok && l.Value == true && (i+1 < len(e.Whens) || e.Else != nil) {
				d.say(w.Condition.Place(), "this branch of CASE is always taken: those behind it never are")
			}
		}
	case *plan.Call:
		d.call(e)
	}
}

func (d *doubter) call(e *plan.Call) {
	switch e.Function {
	case plan.Divide, plan.Modulo:
		if d.isZero(e.Args[1]) {
			d.say(e.Span, "division by 0: always NULL")
		} else if e.Function == plan.Divide && e.T.IsInteger() && d.aggregated(e.Args[0]) && d.aggregated(e.Args[1]) {
			d.say(e.Span, "both sides are whole numbers, so that the quotient loses its fraction: convert one, as in sum(x)::numeric / count(*)")
		}
	case plan.Add, plan.Subtract, plan.Multiply:
		if slices.ContainsFunc(e.Args, isNull) {
			d.say(e.Span, "an operation with NULL: always NULL")
		}
	case plan.Equal, plan.NotEqual, plan.Less, plan.LessOrEqual, plan.Greater, plan.GreaterOrEqual:
		d.compare(e, e.Function, e.Args[0], e.Args[1])
	case plan.In:
		for _, v := range e.Args[1:] {
			if l, ok := v.(*plan.Literal); ok && l.Value != nil {
				d.outside(l.Place(), plan.Equal, e.Args[0], l)
			}
		}
	case plan.And:
		d.between(e)
	case plan.Like, plan.ILike, plan.Matches, plan.IMatches:
		d.pattern(e)
	}
}

// aggregated reports whether an expression looks at an aggregate of the rows that it is over.
func (d *doubter) aggregated(e plan.Expr) bool {
	n := d.input
	for {
		switch above := n.(type) {
		case *plan.Filter:
			n = above.Input
			continue
		case *plan.Window:
			n = above.Input
			continue
		}
		break
	}
	grouped, ok := n.(*plan.Aggregate)
	found := false
	plan.Walk(e, func(e plan.Expr) bool {
		if ref, is := e.(*plan.Ref); is && ok {
			found = found || ref.Index >= len(grouped.Keys)
		}
		return !found
	})
	return found
}

func (d *doubter) isZero(e plan.Expr) bool {
	if !isConstant(e) { // of quotients in quotients, each would be looked through once for each around it
		return false
	}
	r := d.facts.rangeOf(d.input, e)
	return r.bounded() && r.lower.Sign() == 0 && r.upper.Sign() == 0
}

func isConstant(e plan.Expr) bool {
	constant := true
	plan.Walk(e, func(e plan.Expr) bool {
		_, ref := e.(*plan.Ref)
		constant = constant && !ref
		return constant
	})
	return constant
}

func (d *doubter) compare(e *plan.Call, f plan.Function, l, r plan.Expr) {
	if isNull(l) || isNull(r) {
		d.say(e.Span, "a comparison with NULL is never true: IS NULL asks for it")
		return
	}
	if c, ok := r.(*plan.Literal); ok && !isConstant(l) {
		d.outside(e.Span, f, l, c)
	}
	if c, ok := l.(*plan.Literal); ok && !isConstant(r) {
		if g, ok := mirrored[f]; ok {
			f = g
		}
		d.outside(e.Span, f, r, c)
	}
	if f != plan.Equal {
		return
	}
	for _, side := range [][2]plan.Expr{{l, r}, {r, l}} { // a join with rows that are written out
		if ref, ok := uncast(side[0]).(*plan.Ref); ok && !isConstant(side[1]) {
			for _, c := range constants(d.input, ref.Index) {
				d.outside(c.Place(), f, side[1], c)
			}
		}
	}
}

// outside says that a constant lies outside of what an expression is declared to
// be: in its list of values, or between its bounds.
func (d *doubter) outside(at diagnostic.Span, f plan.Function, e plan.Expr, c *plan.Literal) {
	if len(d.found) == mostDoubts {
		return
	}
	of := uncast(e)
	if f == plan.Equal || f == plan.NotEqual {
		if values, ok := d.listed(of); ok && !slices.ContainsFunc(values, func(v sqltype.Value) bool { return same(v, c.Value) }) {
			d.say(at, "%s", unlisted(c, values))
			return
		}
		if tabled := d.tabled(of); tabled != nil {
			d.found = append(d.found, Doubt{Span: at, Constant: c, Listed: tabled})
			return
		}
	}
	x, ok := sqltype.Rat(c.Value)
	r := d.facts.rangeOf(d.input, e)
	if !ok || !r.bounded() || !fromDeclaration(d, of) {
		return
	}
	low, high := x.Cmp(r.lower), x.Cmp(r.upper)
	never := false // within the bounds
	switch f {
	case plan.Equal:
		never = low < 0 || high > 0
	case plan.Less:
		never = low <= 0
	case plan.LessOrEqual:
		never = low < 0
	case plan.Greater:
		never = high >= 0
	case plan.GreaterOrEqual:
		never = high > 0
	}
	if never {
		d.say(at, "no value between the declared bounds, %s and %s, satisfies this", short(r.lower), short(r.upper))
	}
}

// fromDeclaration reports whether an expression's range comes from a column's
// bounds, which a constant's does not.
func fromDeclaration(d *doubter, e plan.Expr) bool {
	found := false
	plan.Walk(e, func(e plan.Expr) bool {
		if ref, ok := e.(*plan.Ref); ok {
			found = found || d.facts.columnRange(d.input, ref.Index).bounded()
		}
		return !found
	})
	return found
}

func short(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	return strings.TrimRight(r.FloatString(6), "0")
}

// uncast takes conversions between numbers away.
func uncast(e plan.Expr) plan.Expr {
	for {
		c, ok := e.(*plan.Cast)
		if !ok || !c.T.IsNumeric() || !c.Arg.Type().IsNumeric() {
			return e
		}
		e = c.Arg
	}
}

// listed are the values that an expression is declared to have, if all are listed.
func (d *doubter) listed(e plan.Expr) (values []sqltype.Value, ok bool) {
	if e.Type().Kind == sqltype.Boolean {
		return nil, false
	}
	for _, part := range d.facts.domainOf(d.input, e) {
		switch {
		case part.FromTable != nil:
			return nil, false
		case part.Step != nil:
			if n, ok := part.Size(); !ok || n > 10_000 {
				return nil, false
			}
			values = slices.AppendSeq(values, (&catalog.PublicDomain{Lower: part.Lower, Upper: part.Upper, Step: part.Step}).All(e.Type()))
		default:
			values = append(values, part.Values...)
		}
	}
	return values, len(values) > 0
}

// tabled are the values that an expression is declared to have, or that a column of a public table has, where public tables list
// some of them; or nil.
func (d *doubter) tabled(e plan.Expr) []*catalog.PublicDomain {
	if ref := unwiden(e); ref != nil {
		if t, c := origin(d.input, ref.Index); t != nil && t.Public {
			return []*catalog.PublicDomain{{FromTable: t, FromColumn: c}}
		}
	}
	parts := d.facts.domainOf(d.input, e)
	if !slices.ContainsFunc(parts, func(p *catalog.PublicDomain) bool { return p.FromTable != nil }) {
		return nil
	}
	return parts
}

// constants are those that a column of rows that the statement writes out is.
func constants(n plan.Node, i int) (all []*plan.Literal) {
	switch n := n.(type) {
	case *plan.Values:
		for _, row := range n.Rows[:min(mostRows, len(n.Rows))] {
			e := row[i]
			if cast, ok := e.(*plan.Cast); ok {
				e = cast.Arg
			}
			if l, ok := e.(*plan.Literal); ok && l.Value != nil {
				all = append(all, l)
			}
		}
	case *plan.Project:
		if ref, ok := n.Exprs[i].(*plan.Ref); ok {
			return constants(n.Input, ref.Index)
		}
	case *plan.Filter:
		return constants(n.Input, i)
	case *plan.Join:
		if left := len(n.Left.Columns()); i >= left {
			return constants(n.Right, i-left)
		}
		return constants(n.Left, i)
	}
	return all
}

// unlisted says that a constant is no listed value, and which of these is like it.
func unlisted(c *plan.Literal, values []sqltype.Value) string {
	words := constantWords(c) + " is not among the declared values"
	if v := nearestTo(c.Value, values); v != nil {
		words += ": the nearest is " + constantWords(&plan.Literal{Value: v, T: c.T})
	}
	return words
}

// The nearest value is looked for among so many, and texts are compared letter by letter up to so many.
const mostNear, mostLetters = 1_000, 50

// nearestTo is the listed value that is most like one: of numbers that at the least distance, of texts that at the least number of letters
// that are put in, left out or replaced, whatever their case, if these are fewer than half; or nil.
func nearestTo(v sqltype.Value, values []sqltype.Value) (nearest sqltype.Value) {
	if text, ok := v.(string); ok {
		for _, other := range values { // of however many
			if s, ok := other.(string); ok && strings.EqualFold(s, text) {
				return s
			}
		}
		from := []rune(strings.ToLower(text))
		if len(values) > mostNear || len(from) > mostLetters {
			return nil
		}
		least := (len(from) + 1) / 2
		for _, other := range values {
			s, ok := other.(string)
			to := []rune(strings.ToLower(s))
			if !ok || len(to) > mostLetters {
				continue
			}
			if n := letters(from, to); n < least {
				nearest, least = s, n
			}
		}
		return nearest
	}
	x, ok := sqltype.Rat(v)
	if !ok {
		return nil
	}
	var least *big.Rat
	for _, other := range values {
		y, ok := sqltype.Rat(other)
		if !ok {
			continue
		}
		if y = new(big.Rat).Sub(y, x); least == nil || y.Abs(y).Cmp(least) < 0 {
			nearest, least = other, y.Abs(y)
		}
	}
	return nearest
}

// letters is how many letters must be put in, left out or replaced to make one text of another.
func letters(from, to []rune) int {
	row := make([]int, len(to)+1) // by prefix of to
	for j := range row {
		row[j] = j
	}
	for i, a := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, b := range to {
			replaced := diagonal
			if a != b {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}

func same(a, b sqltype.Value) bool {
	x, ok := sqltype.Rat(a)
	y, also := sqltype.Rat(b)
	if ok && also {
		return x.Cmp(y) == 0
	}
	return ok == also && fmt.Sprintf("%T", a) == fmt.Sprintf("%T", b) && sqltype.Compare(a, b) == 0
}

func constantWords(c *plan.Literal) string {
	s := sqltype.Format(c.Value)
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "..."
	}
	if c.T.Kind == sqltype.Text {
		return "'" + s + "'"
	}
	return s
}

// between says that x >= a AND x <= b has no x.
func (d *doubter) between(e *plan.Call) {
	if len(e.Args) != 2 {
		return
	}
	low, ok := e.Args[0].(*plan.Call)
	high, also := e.Args[1].(*plan.Call)
	if !ok || !also || low.Function != plan.GreaterOrEqual || high.Function != plan.LessOrEqual {
		return
	}
	a, ok := low.Args[1].(*plan.Literal)
	b, also := high.Args[1].(*plan.Literal)
	if !ok || !also || a.Value == nil || b.Value == nil || a.T != b.T || a.T.Kind == sqltype.IntervalKind || sqltype.Compare(a.Value, b.Value) <= 0 {
		return
	}
	x, ok := uncast(low.Args[0]).(*plan.Ref)
	y, also := uncast(high.Args[0]).(*plan.Ref)
	if ok && also && x.Index == y.Index {
		d.say(e.Span, "no value lies between %s and %s", constantWords(a), constantWords(b))
	}
}

// pattern says that no listed value matches a pattern.
func (d *doubter) pattern(e *plan.Call) {
	l, ok := e.Args[1].(*plan.Literal)
	if !ok {
		return
	}
	if l.Value == nil {
		d.say(e.Span, "a pattern that is NULL matches nothing")
		return
	}
	values, ok := d.listed(e.Args[0])
	if !ok {
		return
	}
	text := l.Value.(string)
	if e.Function == plan.Like || e.Function == plan.ILike {
		text = likeToRegexp(text)
	}
	flags := "(?s)"
	if e.Function == plan.ILike || e.Function == plan.IMatches {
		flags = "(?si)"
	}
	p, err := regexp.Compile(flags + text)
	if err != nil {
		return
	}
	if !slices.ContainsFunc(values, func(v sqltype.Value) bool { s, ok := v.(string); return !ok || p.MatchString(s) }) {
		d.say(e.Span, "none of the declared values matches")
	}
}

func likeToRegexp(pattern string) string {
	var b strings.Builder
	b.WriteString("^")
	escaped := false
	for _, r := range pattern {
		switch {
		case !escaped && r == '\\':
			escaped = true
			continue
		case !escaped && r == '%':
			b.WriteString(".*")
		case !escaped && r == '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
		escaped = false
	}
	b.WriteString("$")
	return b.String()
}

// lost reports whether a number is beyond an exact type.
func lost(l *plan.Literal, t sqltype.Type) bool {
	x, ok := sqltype.Rat(l.Value)
	if !ok || !t.IsInteger() && t.Kind != sqltype.DecimalKind {
		return false
	}
	_, err := sqltype.ParseValue(t, x.FloatString(int(t.Scale)))
	return err != nil
}
