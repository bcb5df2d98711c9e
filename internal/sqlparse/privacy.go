package sqlparse

import (
	"slices"
	"strconv"
	"strings"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A Privacy is GoogleSQL's clause of a SELECT, WITH DIFFERENTIAL_PRIVACY OPTIONS (...). It
// is no PostgreSQL: it is taken out of the text before the parser reads it.
type Privacy struct {
	// Epsilon and Delta are what the statement costs, as they are written; "" if it does not
	// say.
	Epsilon, Delta string
	// Groups is in how many groups a unit may count; 0 if it does not say.
	Groups int64
	// Rows is with how many rows in all, likewise. Only one of both is given.
	Rows int64
	// Unit is the column that holds the privacy unit; its name is "" if it does not say.
	Unit Ident
	// Public asks for groups that the data do not choose.
	Public bool
	Span   diagnostic.Span
}

// privacy takes the clauses out of the tokens and blanks them in what the parser reads.
func (s *source) privacy() *diagnostic.Diagnostic {
	plain := []byte(s.plain)
	for i := 0; i < len(s.list); i++ {
		if !s.has(i, pg.Token_SELECT, pg.Token_WITH) || s.word(i+2) != "differential_privacy" {
			continue
		}
		p := &Privacy{Span: s.between(i+1, i+2)}
		last := i + 2
		if s.word(i+3) == "options" && s.at(i+4).kind == '(' {
			last = s.closing(i + 4)
			if last == i+4 {
				return diagnostic.New("D002", s.at(i+4).span(), "this parenthesis is not closed").Try("close the list of options")
			}
			p.Span = s.between(i+1, last)
			if d := s.options(p, i+5, last); d != nil {
				return d
			}
		}
		if s.priced != nil {
			return diagnostic.New("D057", p.Span, "a second WITH DIFFERENTIAL_PRIVACY").
				Because("it says what the whole statement costs").Try("keep one of them, or ask in two statements")
		}
		s.priced, s.pricedAt = p, s.at(i).start
		copy(plain[p.Span.Start:p.Span.End], strings.Repeat(" ", p.Span.End-p.Span.Start))
		cut := last - i
		s.list = slices.Delete(s.list, i+1, last+1)
		s.match = slices.Delete(s.match, i+1, last+1)
		for k, m := range s.match {
			if m > last {
				s.match[k] = m - cut
			}
		}
	}
	s.plain = string(plain)
	return nil
}

// options reads name = value, ... up to token end.
func (s *source) options(p *Privacy, i, end int) *diagnostic.Diagnostic {
	seen := map[string]bool{}
	for i < end {
		name, at := s.word(i), s.at(i).span()
		if s.at(i+1).kind != '=' || i+2 >= end {
			return diagnostic.New("D002", at, "an option has the form name = value").Try("write epsilon = 1")
		}
		if seen[name] {
			return diagnostic.New("D057", at, "%s stands twice", name).Try("keep one of them")
		}
		seen[name] = true
		v := i + 2
		negative := s.at(v).kind == '-'
		if negative {
			v++
		}
		value := s.text[s.at(v).start:s.at(v).end]
		if negative {
			value = "-" + value
		}
		if next := s.at(v + 1); v+1 < end && next.kind != ',' {
			return diagnostic.New("D057", s.at(v).span().Join(next.span()), "the value of %s is no constant", clip(name)).Try("write the number itself")
		}
		if d := s.option(p, name, value, at, s.at(i+2).span().Join(s.at(v).span()), v); d != nil {
			return d
		}
		i = v + 2
	}
	return nil
}

// option reads one.
func (s *source) option(p *Privacy, name, value string, at, of diagnostic.Span, v int) *diagnostic.Diagnostic {
	number := s.at(v).kind == pg.Token_ICONST || s.at(v).kind == pg.Token_FCONST
	wrong := func(want, hint string) *diagnostic.Diagnostic {
		return diagnostic.New("D057", of, "%s is no %s", clip(value), want).Try("%s", hint)
	}
	cannot := func(why, hint string) *diagnostic.Diagnostic {
		return diagnostic.New("D057", at.Join(of), "%s is not supported", name).Because("%s", why).Try("%s", hint)
	}
	switch name {
	case "epsilon", "delta":
		if !number || strings.HasPrefix(value, "-") || strings.Trim(value, "0.eE+-") == "" && name == "epsilon" {
			return wrong("amount of "+name, "write a number above zero, such as "+name+" = "+map[string]string{"epsilon": "1", "delta": "1e-8"}[name])
		}
		if name == "epsilon" {
			p.Epsilon = value
		} else {
			p.Delta = value
		}
	case "max_groups_contributed", "max_rows_contributed":
		n, err := strconv.ParseInt(value, 10, 32)
		what, bounds, to := "groups", "in how many groups a unit counts", &p.Groups
		if name == "max_rows_contributed" {
			what, bounds, to = "rows", "with how many rows a unit counts", &p.Rows
		}
		if !number || err != nil || n < 1 {
			return wrong("number of "+what, "write a whole number from 1 on: it bounds "+bounds+", and without a bound no noise would be enough")
		}
		if *to = n; p.Groups > 0 && p.Rows > 0 {
			return cannot("either groups or rows bound what a unit contributes", "leave one of max_groups_contributed and max_rows_contributed out")
		}
	case "privacy_unit_column":
		if name := s.ident(v); name != "" {
			p.Unit = Ident{Name: name, Span: of}
			return nil
		}
		return wrong("column", "name the column that the catalog declares as the unit, or leave it out")
	case "group_selection_strategy":
		if strings.EqualFold(strings.Trim(value, "'"), "public_groups") {
			p.Public = true
			return nil
		}
		return cannot("whether groups are chosen by the data follows from their keys", "leave it out, or write PUBLIC_GROUPS to have the statement refused where they are")
	case "min_privacy_units_per_group":
		return cannot("groups are chosen by the delta alone", "write HAVING count(DISTINCT unit) >= 10 with the unit's column, which looks at a noisy count")
	default:
		return diagnostic.New("D057", at, "there is no option %s", clip(name)).
			Because("an option that is passed over could be one on which privacy depends").
			Try("there are epsilon, delta, max_groups_contributed, max_rows_contributed, privacy_unit_column and group_selection_strategy")
	}
	return nil
}

// ident is the name at token i as PostgreSQL folds it, "" if there is none.
func (s *source) ident(i int) string {
	t := s.at(i)
	text := s.text[t.start:t.end]
	switch {
	case t.kind == pg.Token_IDENT && strings.HasPrefix(text, `"`):
		return strings.ReplaceAll(strings.Trim(text, `"`), `""`, `"`)
	case t.kind == pg.Token_IDENT || t.keyword != pg.KeywordKind_NO_KEYWORD && t.keyword != pg.KeywordKind_RESERVED_KEYWORD:
		return strings.ToLower(text)
	}
	return ""
}
