//go:build cgo

package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"

	"pgregory.net/rapid"
)

// random holds random expressions against PostgreSQL, as expressions does those
// of the list.
func (p *pair) random(t *testing.T) {
	drawn, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		drawn++
		g := grammar{t}
		kind := rapid.SampledFrom([]string{"int", "bigint", "decimal", "double", "approx", "bool", "text", "date", "timestamp", "digits"}).Draw(t, "kind")
		expr := g.expr(kind, 3)
		t.Log(expr)
		if _, err := compile(p.catalog, "SELECT "+expr+" FROM t"); err != nil {
			refused++ // more digits than a decimal holds
			return
		}
		p.checkExpr(t, expr, atEdge)
	})
	if refused > 10+drawn/20 {
		t.Errorf("%d of %d expressions were refused", refused, drawn)
	}
}

// atEdge reports whether a row has dates at the ends of the calendar, where an
// operand can leave it although the result doesn't.
func atEdge(row int) bool {
	for i, c := range nasty {
		if v, _ := nastyValue(i, row); strings.HasPrefix(c.typ, "date") || c.typ == "timestamp" {
			if strings.HasPrefix(v, "9999") || strings.HasPrefix(v, "0001") {
				return true
			}
		}
	}
	return false
}

// A grammar writes expressions of a kind over the nasty table. Results of the
// kind approx may differ in the last digits between the two, so that nothing
// but products is made of them; those of the kind digits, the texts of doubles,
// in a few known ways, so that nothing is made of them.
type grammar struct{ *rapid.T }

func (g grammar) pick(of ...string) string { return rapid.SampledFrom(of).Draw(g.T, "pick") }

func (g grammar) expr(kind string, depth int) string {
	leaves := map[string][]string{
		"int":       {"i", "j", "s", "0", "1", "-3", "7", "100000"},
		"bigint":    {"b", "c", "i::bigint", "3000000000"},
		"decimal":   {"d", "e", "p", "1.5", "0.01", "-2.50", "i::numeric(12,1)"},
		"double":    {"f", "g", "r::double precision", "i::double precision", "0.5::double precision", "1e10::double precision"},
		"bool":      {"q", "u", "true", "i IS NULL"},
		"text":      {"x", "y", "'a'", "''", "' b '", "'é'"},
		"date":      {"day", "day2", "DATE '2024-02-29'"},
		"timestamp": {"at", "at2", "TIMESTAMP '2025-01-31 12:30:45.5'"},
		"interval":  {"INTERVAL '1 month'", "INTERVAL '36 hours'", "INTERVAL '-3 days 00:00:01.5'"},
	}
	switch kind {
	case "approx":
		return g.approx(depth)
	case "digits":
		return fmt.Sprintf("(%s)::text", g.expr("double", depth-1))
	}
	if depth == 0 || rapid.IntRange(0, 5).Draw(g.T, "leaf") == 0 {
		return g.pick(leaves[kind]...)
	}
	of := func(kind string) string { return g.expr(kind, depth-1) }
	number := func() string { return of(g.pick("int", "bigint", "decimal", "double")) }
	same := func() string {
		k := g.pick("int", "decimal", "double", "text", "date", "timestamp", "bool")
		return fmt.Sprintf("%s %s %s", of(k), g.pick("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"), of(k))
	}
	var forms []func() string
	switch kind {
	case "int":
		forms = []func() string{
			func() string { return fmt.Sprintf("(%s %s %s)", of("int"), g.pick("+", "-", "*", "/", "%"), of("int")) },
			func() string { return fmt.Sprintf("abs(%s)", of("int")) },
			func() string { return fmt.Sprintf("length(%s)", of("text")) },
			func() string { return fmt.Sprintf("strpos(%s, %s)", of("text"), of("text")) },
			func() string { return fmt.Sprintf("(%s - %s)", of("date"), of("date")) },
			func() string { return fmt.Sprintf("(%s)::integer", number()) },
			func() string { return fmt.Sprintf("(-%s)", of("int")) },
			func() string { return fmt.Sprintf("width_bucket(%s, -1, 5, 4)", of("decimal")) },
			func() string { return fmt.Sprintf("width_bucket(%s, ARRAY[-1, 0.5, 100])", of("decimal")) },
			func() string { return fmt.Sprintf("ascii(%s)", of("text")) },
			func() string {
				return fmt.Sprintf("extract(%s FROM %s)::integer", g.pick("year", "month", "dow", "doy", "week"), of("date"))
			},
		}
	case "bigint":
		forms = []func() string{
			func() string {
				return fmt.Sprintf("(%s %s %s)", of("bigint"), g.pick("+", "-", "*", "/", "%"), of(g.pick("int", "bigint")))
			},
			func() string { return fmt.Sprintf("(%s)::bigint", number()) },
			func() string { return fmt.Sprintf("abs(%s)", of("bigint")) },
		}
	case "decimal":
		forms = []func() string{
			func() string {
				return fmt.Sprintf("(%s %s %s)", of("decimal"), g.pick("+", "-", "*", "%"), of(g.pick("int", "decimal")))
			},
			func() string {
				return fmt.Sprintf("round(%s, %d)", of("decimal"), rapid.IntRange(-3, 4).Draw(g.T, "digits"))
			},
			func() string {
				return fmt.Sprintf("trunc(%s, %d)", of("decimal"), rapid.IntRange(-3, 4).Draw(g.T, "digits"))
			},
			func() string {
				return fmt.Sprintf("%s(%s)", g.pick("floor", "ceil", "abs", "sign", "round"), of("decimal"))
			},
			func() string {
				return fmt.Sprintf("(%s)::numeric(%d,2)", number(), rapid.IntRange(3, 20).Draw(g.T, "precision"))
			},
			func() string {
				return fmt.Sprintf("extract(%s FROM %s)", g.pick("epoch", "second", "hour", "year"), of("timestamp"))
			},
		}
	case "double":
		forms = []func() string{
			func() string {
				return fmt.Sprintf("(%s %s %s)", of("double"), g.pick("+", "-", "*", "/"), of(g.pick("double", "int")))
			},
			func() string {
				return fmt.Sprintf("%s(%s)", g.pick("round", "floor", "ceil", "trunc", "abs", "sign", "sqrt"), of("double"))
			},
			func() string { return fmt.Sprintf("(-%s)", of("double")) },
			func() string { return fmt.Sprintf("(%s)::double precision", of(g.pick("int", "bigint"))) },
		}
	case "bool":
		forms = []func() string{
			func() string { return "(" + same() + ")" },
			func() string { return "(" + same() + ")" },
			func() string { return fmt.Sprintf("(%s %s %s)", of("bool"), g.pick("AND", "OR"), of("bool")) },
			func() string { return fmt.Sprintf("(NOT %s)", of("bool")) },
			func() string {
				return fmt.Sprintf("(%s IS %s)", of("bool"), g.pick("TRUE", "NOT TRUE", "FALSE", "UNKNOWN", "NOT NULL"))
			},
			func() string { return fmt.Sprintf("(%s IN (%s, %s, NULL))", of("int"), of("int"), of("int")) },
			func() string {
				return fmt.Sprintf("(%s %s(ARRAY[%s, %s]))", of("int"), g.pick("= ANY ", "<> ALL "), of("int"), of("int"))
			},
			func() string { return fmt.Sprintf("(%s BETWEEN %s AND %s)", of("decimal"), of("int"), of("decimal")) },
			func() string { return fmt.Sprintf("(%s LIKE %s)", of("text"), g.pick("'a%'", "'%b_'", `'%\_%'`, "''")) },
			func() string {
				return fmt.Sprintf("(%s ~ %s)", of("text"), g.pick("'^a'", "'[0-9]+'", `'\.'`, "'(a|b){2}'", "'.$'"))
			},
			func() string { return fmt.Sprintf("(%s - %s > %s)", of("timestamp"), of("timestamp"), of("interval")) },
		}
	case "text":
		forms = []func() string{
			func() string { return fmt.Sprintf("(%s || %s)", of("text"), of("text")) },
			func() string {
				return fmt.Sprintf("(%s)::text", of(g.pick("int", "bool", "date", "timestamp")))
			},
			func() string {
				return fmt.Sprintf("%s(%s, %s %% 7)", g.pick("left", "right", "substring"), of("text"), of("int"))
			},
			func() string { return fmt.Sprintf("substring(%s, %s, %s)", of("text"), of("int"), of("int")) },
			func() string { return fmt.Sprintf("split_part(%s, %s, %s)", of("text"), of("text"), of("int")) },
			func() string { return fmt.Sprintf("%s(%s, 'a ')", g.pick("btrim", "ltrim", "rtrim"), of("text")) },
			func() string { return fmt.Sprintf("replace(%s, 'a', 'bc')", of("text")) },
			func() string {
				return fmt.Sprintf("substring(%s FROM %s)", of("text"), g.pick("'[0-9]+'", "'^.'", "'a(.)'"))
			},
			func() string {
				return fmt.Sprintf("regexp_replace(%s, %s)", of("text"), g.pick("'[a-z]+', '<\\&>'", "'[^a-z]', '', 'g'", "'(.)(.)', '\\2\\1', 'g'", "'a|b', '$1\\\\'"))
			},
			func() string { return fmt.Sprintf("reverse(%s)", of("text")) },
		}
	case "date":
		forms = []func() string{
			func() string { return fmt.Sprintf("(%s %s %s %% 10000)", of("date"), g.pick("+", "-"), of("int")) },
			func() string { return fmt.Sprintf("(%s)::date", of("timestamp")) },
		}
	case "timestamp":
		forms = []func() string{
			func() string {
				return fmt.Sprintf("(%s %s %s)", of(g.pick("timestamp", "date")), g.pick("+", "-"), of("interval"))
			},
			func() string {
				return fmt.Sprintf("date_trunc('%s', %s)", g.pick("hour", "day", "week", "month", "quarter", "year"), of("timestamp"))
			},
		}
	case "interval":
		forms = []func() string{func() string { return fmt.Sprintf("(%s - %s)", of("timestamp"), of("timestamp")) }}
	}
	if kind != "interval" {
		forms = append(forms,
			func() string { return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", of("bool"), of(kind), of(kind)) },
			func() string {
				return fmt.Sprintf("%s(%s, %s)", g.pick("coalesce", "nullif", "greatest", "least"), of(kind), of(kind))
			})
	}
	return forms[rapid.IntRange(0, len(forms)-1).Draw(g.T, "form")]()
}

func (g grammar) approx(depth int) string {
	a := g.expr(g.pick("double", "decimal", "int"), depth-1)
	switch rapid.IntRange(0, 3).Draw(g.T, "approx") {
	case 0:
		return fmt.Sprintf("%s(%s)", g.pick("exp", "ln", "sqrt"), a)
	case 1:
		return fmt.Sprintf("(%s ^ %s)", a, g.pick("2", "0.5", "-1", "i"))
	case 2:
		return fmt.Sprintf("(%s / %s)", g.expr("decimal", depth-1), g.expr(g.pick("decimal", "int"), depth-1))
	}
	return fmt.Sprintf("(%s * ln(%s))", g.expr("double", depth-1), a)
}

// patterns: a regular expression that we accept, PostgreSQL accepts, and both
// match the same texts. Each check draws until one is accepted, so that as many
// are tried as rapid is told to.
func (p *pair) patterns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := grammar{t}
		expr := g.accepted(p.catalog)
		t.Log(expr)
		p.checkExpr(t, expr, func(int) bool { return false })
	})
}

// matches: what a pattern matches is the same text, where we accept it, and so is what stands in its place.
func (p *pair) matches(t *testing.T) {
	const text = "(x || coalesce(y, '') || 'abcab')"
	rapid.Check(t, func(t *rapid.T) {
		g := grammar{t}
		form := g.pick("substring(X FROM 'P')", "substring(X FROM '(P)')", "substring(X FROM '^.(P)')", `regexp_replace(X, 'P', '<\&>')`, `regexp_replace(X, '(P)c', '[\1|\1]')`, "regexp_replace(X, 'P', '', 'g')",
			`regexp_replace(X, 'P', '$1\\', 'g')`, `regexp_replace(X, 'a(P)', '\1-', 'g')`, "regexp_count(X, 'P')", "regexp_substr(X, 'P')")
		if p.version < 15_00_00 && (strings.HasPrefix(form, "regexp_count") || strings.HasPrefix(form, "regexp_substr")) {
			form = "substring(X FROM 'P')"
		}
		expr := g.acceptedIn(p.catalog, strings.Replace(form, "X", text, 1), "P")
		t.Log(expr)
		p.checkExpr(t, expr, func(int) bool { return false })
	})
}

// accepted draws a pattern that the language has.
func (g grammar) accepted(c *catalog.Catalog) string {
	return g.acceptedIn(c, "x "+g.pick("~", "~*", "!~")+" 'P'", "P")
}

// acceptedIn draws a pattern that the language has where a form has a word. About half of those drawn are,
// and of those whose matches are told more than a tenth: 400 in a row are refused with probability below 1e-9.
func (g grammar) acceptedIn(c *catalog.Catalog, form, word string) string {
	for range 400 {
		var b strings.Builder
		for range rapid.IntRange(1, 8).Draw(g.T, "atoms") {
			b.WriteString(g.pick("a", "b", "c", "ab", "é", "語", ".", "^", "$", "(", ")", "|", "[a-c]", "[^b]", "[", "]", "-", "*", "+", "?",
				"{2}", "{1,3}", "{0,1}", "{", "}", ",", `\d`, `\.`, `\\`, `\[`, `\n`, `\t`, "(a|b)", "(?:c|)", "x*", "1", "2", "[0-9é-ï]", `[\]a\-]`, `[\d,]`, "[a-]", "%", "_"))
		}
		expr := strings.Replace(form, word, b.String(), 1)
		if _, err := compile(c, "SELECT "+expr+" FROM t"); err == nil {
			return expr
		}
	}
	g.Fatal("400 patterns in a row were refused")
	return ""
}
