package bind

import (
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// A shape is how to_char, or GoogleSQL's format_date, writes a date or timestamp by a constant form. It is made of pieces of the
// ISO text of the value and of constants, all of which are total.
type shape struct {
	name   string          // of the function
	codes  []shapeCode     // the longest first where one begins another
	signs  string          // that stand for themselves
	quoted bool            // so does a text in double quotes
	others []string        // codes that are not supported, and begin with one that is
	upper  []string        // pairs of a code in small letters and in large ones
	iso    map[string]int  // forms that begin the ISO text, and how many characters they have
	form   diagnostic.Span // where the form is written
}

// A shapeCode is a code of a form: digits of the ISO text, or a number's name.
type shapeCode struct {
	code        string
	from, count int    // in YYYY-MM-DD HH24:MI:SS.US
	field       string // of extract; "" for digits
	names       []string
}

var (
	monthNames = strings.Fields("January February March April May June July August September October November December")
	dayNames   = strings.Fields("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
	quarters   = []string{"1", "2", "3", "4"}
)

func brief(names []string) (out []string) {
	for _, n := range names {
		out = append(out, n[:3])
	}
	return out
}

// isoUnits are the units to which a timestamp is cut whose text is used up to a character: what is made of it then has no
// more values than the unit has, so that bounds make it a key with a public domain.
var isoUnits = map[int]string{4: "year", 7: "month", 10: "day", 13: "hour", 16: "minute", 19: "second"}

var isoDays = []string{"1", "2", "3", "4", "5", "6", "7"}

func shapeOf(name string) shape {
	if name == "to_char" {
		s := shape{name: name, signs: "-/.,:; _|()0123456789", quoted: true, others: []string{"DDD", "SSSS", "IDDD"},
			iso: map[string]int{"YYYY": 4, "YYYY-MM": 7, "YYYY-MM-DD": 10, "YYYY-MM-DD HH24": 13, "YYYY-MM-DD HH24:MI": 16, "YYYY-MM-DD HH24:MI:SS": 19},
			codes: []shapeCode{{"YYYY", 1, 4, "", nil}, {"YY", 3, 2, "", nil}, {"MM", 6, 2, "", nil}, {"DD", 9, 2, "", nil}, {"HH24", 12, 2, "", nil}, {"MI", 15, 2, "", nil}, {"SS", 18, 2, "", nil},
				{"ID", 0, 0, "isodow", isoDays}, {"Q", 0, 0, "quarter", quarters}}}
		for _, c := range s.codes { // PostgreSQL reads both
			upper := c.code
			c.code = strings.ToLower(upper)
			s.codes = append(s.codes, c)
			s.upper = append(s.upper, c.code, upper)
		}
		for _, o := range s.others {
			s.others = append(s.others, strings.ToLower(o))
		}
		s.codes = append(s.codes, shapeCode{"FMMonth", 0, 0, "month", monthNames}, shapeCode{"Mon", 0, 0, "month", brief(monthNames)},
			shapeCode{"FMDay", 0, 0, "isodow", dayNames}, shapeCode{"Dy", 0, 0, "isodow", brief(dayNames)})
		return s
	}
	return shape{name: name, signs: "-/.,:; ",
		iso: map[string]int{"%Y": 4, "%Y-%m": 7, "%Y-%m-%d": 10, "%F": 10, "%Y-%m-%d %H": 13, "%Y-%m-%d %H:%M": 16, "%F %H:%M": 16, "%Y-%m-%d %H:%M:%S": 19, "%F %T": 19},
		codes: []shapeCode{{"%Y", 1, 4, "", nil}, {"%m", 6, 2, "", nil}, {"%d", 9, 2, "", nil}, {"%H", 12, 2, "", nil}, {"%M", 15, 2, "", nil}, {"%S", 18, 2, "", nil},
			{"%F", 1, 10, "", nil}, {"%T", 12, 8, "", nil},
			{"%B", 0, 0, "month", monthNames}, {"%b", 0, 0, "month", brief(monthNames)}, {"%A", 0, 0, "isodow", dayNames}, {"%a", 0, 0, "isodow", brief(dayNames)},
			{"%u", 0, 0, "isodow", isoDays}, {"%Q", 0, 0, "quarter", quarters}}}
}

// shaped writes a date or a timestamp by a constant form: to_char(x, form), format_date(form, x).
func shaped(first bool) func(*context, *sqlparse.Call, []plan.Expr) plan.Expr {
	return func(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
		x, form := args[0], args[1]
		if first {
			x, form = form, x
		}
		s := shapeOf(e.Name.Name)
		s.form = form.Place()
		if !isPoint(x.Type().Kind) {
			refuse(diagnostic.New("D015", x.Place(), "%s writes dates and timestamps here, and this is %s", s.name, article(x.Type())).
				Because("a number has no form that every engine writes alike").Try("for a number write CAST(x AS text), or round(x, 2); for a date in quotes write DATE before it"))
		}
		x = cast(x, typeOf(sqltype.TimestampKind))
		return s.text(c, e, x, c.word(s.name, "the form", form, map[bool]string{true: "YYYY", false: "%Y"}[s.name == "to_char"]))
	}
}

func (s shape) text(c *context, e *sqlparse.Call, x plan.Expr, form string) plan.Expr {
	text := typeOf(sqltype.Text)
	literal := func(s string) plan.Expr { return &plan.Literal{Value: s, T: text, Span: e.Span} }
	digits := func(x plan.Expr, from, count int) plan.Expr {
		return call(plan.Substring, text, e, &plan.Cast{Arg: x, T: text, Span: e.Span}, integer(int64(from), e.Span), integer(int64(count), e.Span))
	}
	pieces := s.pieces(form)
	var written strings.Builder
	codes, unit := 0, "second"
	for _, p := range pieces {
		written.WriteString(p.text + p.code.code)
		if p.text == "" {
			codes, unit = codes+1, p.code.unit()
		}
	}
	if n := s.iso[strings.NewReplacer(s.upper...).Replace(written.String())]; n > 0 {
		return digits(call(plan.DateTrunc, x.Type(), e, literal(isoUnits[n]), x), 1, n)
	}
	if codes > 1 { // of several parts there are more combinations than dates have: 31.02, say
		unit = "second"
	}
	cut := call(plan.DateTrunc, x.Type(), e, literal(unit), x)
	var out plan.Expr
	add := func(piece plan.Expr) {
		if out == nil {
			out = piece
			return
		}
		out = call(plan.Concat, text, e, out, piece)
	}
	for _, p := range pieces {
		if p.text != "" {
			add(literal(p.text))
			continue
		}
		if p.code.field == "" {
			add(digits(cut, p.code.from, p.code.count))
			continue
		}
		number := cast(extract(c, e, []plan.Expr{literal(p.code.field), x}), typeOf(sqltype.Integer))
		named := &plan.Case{T: text, Span: e.Span}
		for i, name := range p.code.names {
			is := call(plan.Equal, typeOf(sqltype.Boolean), e, number, integer(int64(i+1), e.Span))
			named.Whens = append(named.Whens, plan.When{Condition: is, Result: literal(name)})
		}
		c.repeat(x, len(p.code.names))
		add(named)
	}
	c.repeat(x, len(pieces))
	return out
}

// A shapePiece is a code, or a text that stands for itself.
type shapePiece struct {
	code shapeCode
	text string
}

func (s shape) pieces(form string) (out []shapePiece) {
	coded := false
	for rest := form; rest != ""; {
		code, ok := s.code(rest)
		n := len(rest) - len(strings.TrimLeft(rest, s.signs))
		quoted := ""
		if s.quoted && rest[0] == '"' {
			quoted, _, _ = strings.Cut(rest[1:], `"`)
			if n = len(quoted) + 2; quoted == "" || n > len(rest) || strings.Contains(quoted, `\`) {
				s.refuse(form)
			}
		}
		switch {
		case ok:
			out, rest, coded = append(out, shapePiece{code, ""}), rest[len(code.code):], true
		case quoted != "":
			out, rest = append(out, shapePiece{text: quoted}), rest[n:]
		case n > 0:
			out, rest = append(out, shapePiece{text: rest[:n]}), rest[n:]
		default:
			s.refuse(form)
		}
	}
	if !coded {
		s.refuse(form)
	}
	return out
}

// unit is the unit to which a value can be cut without a change of the code's text.
func (c shapeCode) unit() string {
	switch c.field {
	case "":
		if c.count > 4 { // %F and %T
			return "second"
		}
		return isoUnits[map[int]int{1: 4, 3: 4, 6: 7, 9: 10, 12: 13, 15: 16, 18: 19}[c.from]]
	case "isodow":
		return "day"
	}
	return c.field
}

func (s shape) code(rest string) (shapeCode, bool) {
	for _, o := range s.others {
		if strings.HasPrefix(rest, o) {
			return shapeCode{}, false
		}
	}
	for _, code := range s.codes {
		if strings.HasPrefix(rest, code.code) {
			return code, true
		}
	}
	return shapeCode{}, false
}

func (s shape) refuse(form string) {
	var names []string
	for _, code := range s.codes {
		if s.upper == nil || !slices.Contains(s.upper, code.code) || strings.ToUpper(code.code) == code.code {
			names = append(names, code.code)
		}
	}
	refuse(diagnostic.New("D020", s.form, "the form %q cannot be written", clip(form)).
		Because("it is made of %s, and of signs"+map[bool]string{true: ", digits and text in double quotes"}[s.quoted]+" between them", strings.Join(names, ", ")).
		Try("for other parts of a date write extract(doy FROM x), say"))
}

// readTimestamp is to_timestamp of a text and its form, or of seconds.
func readTimestamp(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	if len(args) == 1 {
		return fromSeconds(c, e, args[0])
	}
	return dateForm(sqltype.TimestampKind)(c, e, args)
}

// fromSeconds is the timestamp that lies so many whole seconds after 1970, in UTC, as to_timestamp and timestamp_seconds have it. The time
// of day is written as a text and read, so that no number makes a statement fail: what has no timestamp is NULL.
func fromSeconds(c *context, e *sqlparse.Call, x plan.Expr) plan.Expr {
	if !x.Type().IsInteger() {
		refuse(diagnostic.New("D015", x.Place(), "%s takes whole seconds, and this is %s", e.Name.Name, article(x.Type())).
			Because("of a fraction each engine makes other microseconds").Try("write %s(CAST(floor(x) AS bigint)); a text is read by %s(x, 'YYYY-MM-DD HH24:MI:SS')", e.Name.Name, "to_timestamp"))
	}
	c.repeat(x, 5)
	whole, long, text := typeOf(sqltype.Integer), typeOf(sqltype.Bigint), typeOf(sqltype.Text)
	number := func(n int64) plan.Expr { return &plan.Literal{Value: n, T: long, Span: e.Span} }
	do := func(f plan.Function, a, b plan.Expr) plan.Expr { return call(f, long, e, a, b) }
	x = cast(x, long)
	const day = 24 * 60 * 60
	// The second of the day, from 0: % has the sign of its left side, as in PostgreSQL.
	second := do(plan.Modulo, do(plan.Add, do(plan.Modulo, x, number(day)), number(day)), number(day))
	days := &plan.Cast{Arg: do(plan.Divide, do(plan.Subtract, x, second), number(day)), T: whole, Span: e.Span}
	date := call(plan.AddDays, typeOf(sqltype.DateKind), e, &plan.Literal{Value: sqltype.Date(0), T: typeOf(sqltype.DateKind), Span: e.Span}, days)
	two := func(n plan.Expr) plan.Expr { // digits, from 100 on
		return call(plan.Substring, text, e, &plan.Cast{Arg: do(plan.Add, n, number(100)), T: text, Span: e.Span}, integer(2, e.Span), integer(2, e.Span))
	}
	join := func(a plan.Expr, sign string, b plan.Expr) plan.Expr {
		return call(plan.Concat, text, e, call(plan.Concat, text, e, a, &plan.Literal{Value: sign, T: text, Span: e.Span}), b)
	}
	iso := join(&plan.Cast{Arg: date, T: text, Span: e.Span}, " ", two(do(plan.Divide, second, number(60*60))))
	iso = join(iso, ":", two(do(plan.Modulo, do(plan.Divide, second, number(60)), number(60))))
	iso = join(iso, ":", two(do(plan.Modulo, second, number(60))))
	return &plan.Cast{Arg: iso, T: typeOf(sqltype.TimestampKind), Span: e.Span}
}
