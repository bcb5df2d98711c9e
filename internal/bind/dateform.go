package bind

import (
	"regexp"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// A dateField is a part of a date in a format of to_date and to_timestamp: so many digits.
type dateField struct {
	name   string
	digits int
	absent string // what it is where a format lacks it
}

// dateFields are those of the ISO form, in its order.
var dateFields = []dateField{{"YYYY", 4, ""}, {"MM", 2, "01"}, {"DD", 2, "01"}, {"HH24", 2, "00"}, {"MI", 2, "00"}, {"SS", 2, "00"}, {"US", 6, ""}}

// dateForm reads texts of a constant form, as to_date and to_timestamp do: each field has all of its digits, and stands at
// one place. What has another form is NULL, where PostgreSQL reads some and raises for others. The pieces are put
// into ISO form, and that is converted as CAST does, so that no text makes a statement fail.
func dateForm(kind sqltype.Kind) func(*context, *sqlparse.Call, []plan.Expr) plan.Expr {
	return func(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
		text := typeOf(sqltype.Text)
		name := e.Name.Name
		x := coerce(args[0], text, name)
		form := c.word(name, "the form", args[1], "YYYY-MM-DD")
		bad := func() {
			refuse(diagnostic.New("D020", args[1].Place(), "the form %q cannot be read", form).
				Because("it is made of YYYY, MM, DD, HH24, MI, SS and US, each once, and of signs between them").
				Try("write %s(x, 'DD.MM.YYYY'), say, or cut the text with substring and split_part and CAST it", name))
		}
		var pattern strings.Builder
		at := map[string]int{}
		place := 1
		for rest := form; rest != ""; {
			found := false
			for _, f := range dateFields {
				if after, ok := strings.CutPrefix(strings.ToUpper(rest), f.name); ok && !found {
					if at[f.name] > 0 {
						bad()
					}
					at[f.name], found = place, true
					rest, place = rest[len(rest)-len(after):], place+f.digits
					pattern.WriteString(strings.Repeat("[0-9]", f.digits))
				}
			}
			if !found {
				if !strings.ContainsRune("-/.,:; ", rune(rest[0])) {
					bad()
				}
				pattern.WriteString(regexp.QuoteMeta(rest[:1]))
				rest, place = rest[1:], place+1
			}
		}
		if at["YYYY"] == 0 {
			bad()
		}
		c.repeat(x, len(at))
		literal := func(s string) plan.Expr { return &plan.Literal{Value: s, T: text, Span: e.Span} }
		var iso plan.Expr
		for i, f := range dateFields {
			if kind == sqltype.DateKind && i > 2 || f.name == "US" && at[f.name] == 0 {
				break
			}
			piece := literal(f.absent)
			if at[f.name] > 0 {
				piece = call(plan.Substring, text, e, x, integer(int64(at[f.name]), e.Span), integer(int64(f.digits), e.Span))
			}
			if iso != nil {
				iso = call(plan.Concat, text, e, call(plan.Concat, text, e, iso, literal([]string{"-", "-", " ", ":", ":", "."}[i-1])), piece)
			} else {
				iso = piece
			}
		}
		matches := c.matches("~", x, literal("^"+pattern.String()+"$"), e.Span)
		t := typeOf(kind)
		return &plan.Case{Whens: []plan.When{{Condition: matches, Result: &plan.Cast{Arg: iso, T: t, Span: e.Span}}}, T: t, Span: e.Span}
	}
}
