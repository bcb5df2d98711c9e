package sqlparse

import (
	"slices"
	"sort"
	"strings"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A source is a statement's text and its tokens without the comments. It
// bounds the text before the parser runs, and finds where things end: the
// parser tells only where they start.
type source struct {
	text  string
	plain string // the text with its comments blanked, for the parser
	list  []token
	match []int // of a parenthesis or bracket: the index of its partner, else -1

	priced   *Privacy // WITH DIFFERENTIAL_PRIVACY, which the tokens are without; or nil
	pricedAt int      // where its SELECT starts
}

type token struct {
	kind       pg.Token // zero at the end of the text
	keyword    pg.KeywordKind
	start, end int
}

func (t token) span() diagnostic.Span { return diagnostic.Span{Start: t.start, End: t.end} }

// startsQuery reports whether t begins a query that is not in parentheses.
func (t token) startsQuery() bool {
	return t.kind == pg.Token_SELECT || t.kind == pg.Token_VALUES || t.kind == pg.Token_TABLE || t.kind == pg.Token_WITH
}

func scan(text string) (*source, *diagnostic.Diagnostic) {
	s := &source{text: text, plain: text}
	result, err := pg.Scan(text)
	if err != nil {
		return nil, s.syntaxError(err)
	}
	plain := []byte(text)
	var open []int
	for k, t := range result.Tokens {
		if isComment(t) {
			// The parser does not see that NOT /**/ IN is NOT IN. Between texts a
			// comment stays: blanked, it could make two of them one.
			if k == 0 || k+1 == len(result.Tokens) || !isText(result.Tokens[k-1]) || !isText(result.Tokens[k+1]) {
				copy(plain[t.Start:t.End], strings.Repeat(" ", int(t.End-t.Start)))
			}
			continue
		}
		i := len(s.list)
		s.list = append(s.list, token{t.Token, t.KeywordKind, int(t.Start), int(t.End)})
		s.match = append(s.match, -1)
		switch t.Token {
		case '(', '[':
			open = append(open, i)
		case ')', ']':
			if n := len(open); n > 0 {
				s.match[i], s.match[open[n-1]] = open[n-1], i
				open = open[:n-1]
			}
		}
	}
	s.plain = string(plain)
	return s, nil
}

func isComment(t *pg.ScanToken) bool {
	return t.Token == pg.Token_SQL_COMMENT || t.Token == pg.Token_C_COMMENT
}

// isText reports whether a text may continue or be continued at t; a comment
// may be followed by one.
func isText(t *pg.ScanToken) bool {
	return isComment(t) || t.Token == pg.Token_SCONST || t.Token == pg.Token_USCONST || t.Token == pg.Token_BCONST || t.Token == pg.Token_XCONST
}

// at returns token i, or one of kind zero at the end of the text.
func (s *source) at(i int) token {
	if i < 0 || i >= len(s.list) {
		return token{start: len(s.text), end: len(s.text)}
	}
	return s.list[i]
}

// end returns the offset after the last token.
func (s *source) end() int {
	if len(s.list) == 0 {
		return 0
	}
	return s.list[len(s.list)-1].end
}

// index returns the first token that begins at the offset or after it.
func (s *source) index(offset int) int {
	return sort.Search(len(s.list), func(i int) bool { return s.list[i].start >= offset })
}

// word returns the lower-case text of token i.
func (s *source) word(i int) string {
	t := s.at(i)
	return strings.ToLower(s.text[t.start:t.end])
}

// has reports whether the tokens from i on have these kinds.
func (s *source) has(i int, kinds ...pg.Token) bool {
	for j, k := range kinds {
		if s.at(i+j).kind != k {
			return false
		}
	}
	return true
}

// find returns the span of the first such sequence at or after token i, or
// token i's where there is none.
func (s *source) find(i int, kinds ...pg.Token) diagnostic.Span {
	for j := i; j+len(kinds) <= len(s.list); j++ {
		if s.has(j, kinds...) {
			return s.between(j, j+len(kinds)-1)
		}
	}
	return s.at(i).span()
}

// between returns the span of the tokens i to j.
func (s *source) between(i, j int) diagnostic.Span {
	return s.at(i).span().Join(s.at(j).span())
}

// closing returns the partner of the opening parenthesis i, or i itself.
func (s *source) closing(i int) int {
	if i < len(s.match) && s.match[i] > i {
		return s.match[i]
	}
	return i
}

// after returns the index of the token that follows the name or string at i,
// which may end in UESCAPE '!'.
func (s *source) after(i int) int {
	if s.at(i+1).kind == pg.Token_UESCAPE {
		return i + 3
	}
	return i + 1
}

// balance widens a span by the parentheses that it cuts in half. The tree has
// none: the span of (a + b) * c, joined from its operands, begins at a.
func (s *source) balance(p diagnostic.Span) diagnostic.Span {
	i, depth, missing := s.index(p.Start), 0, 0
	for j := i; s.at(j).kind != 0 && s.at(j).start < p.End; j++ {
		switch s.at(j).kind {
		case '(':
			depth++
		case ')':
			depth--
			missing = max(missing, -depth)
		}
	}
	for k := missing; k > 0 && s.at(i-1).kind == '('; k-- {
		i--
		p.Start = s.at(i).start
	}
	j := s.index(p.End)
	for k := depth + missing; k > 0 && s.at(j).kind == ')'; k-- {
		p.End = s.at(j).end
		j++
	}
	return p
}

func (s *source) isGroupByAll(i int) bool {
	return i >= 0 && s.has(i, pg.Token_GROUP_P, pg.Token_BY, pg.Token_ALL)
}

// check refuses, on the tokens alone, what must not reach the parser.
func (s *source) check() *diagnostic.Diagnostic {
	for _, check := range []func() *diagnostic.Diagnostic{s.names, s.statement, s.depth, s.work} {
		if d := check(); d != nil {
			return d
		}
	}
	return nil
}

// names refuses names that PostgreSQL would cut: two long names that differ at
// the end would become one.
func (s *source) names() *diagnostic.Diagnostic {
	for _, t := range s.list {
		n := t.end - t.start
		if s.text[t.start] == '"' {
			n -= 2
		}
		if (t.kind == pg.Token_IDENT || t.kind == pg.Token_UIDENT) && n > maxName {
			return diagnostic.New("D009", t.span(), "the name has %d bytes, more than %d", n, maxName).
				Because("PostgreSQL cuts longer names, so two of them could become one").Try("shorten it")
		}
	}
	return nil
}

// statement refuses what is not one query.
func (s *source) statement() *diagnostic.Diagnostic {
	for len(s.list) > 0 && s.at(len(s.list)-1).kind == ';' {
		s.list = s.list[:len(s.list)-1]
	}
	if len(s.list) == 0 {
		return diagnostic.New("D003", diagnostic.Span{}, "there is no statement").Try("a query begins with SELECT, VALUES or WITH")
	}
	if i := slices.IndexFunc(s.list, func(t token) bool { return t.kind == ';' }); i >= 0 {
		if i == 0 {
			return diagnostic.New("D003", s.at(0).span(), "the statement is empty").Try("write a query, as in SELECT count(*) FROM the table")
		}
		return diagnostic.New("D003", s.at(i+1).span(), "there is a second statement").
			Because("each statement is analysed, charged and answered by itself").
			Try("ask one question at a time")
	}
	if word := s.word(0); slices.Contains(otherStatements, word) {
		return notAQuery(s.at(0).span(), word)
	}
	return nil
}

// depth bounds nesting. CASE nests too; an END counts only within its own
// parentheses, since a column may be called so.
func (s *source) depth() *diagnostic.Diagnostic {
	cases := []int{0} // open CASEs for each open parenthesis
	total, run := 0, 0
	for i, t := range s.list {
		switch t.kind {
		case '(', '[':
			cases = append(cases, 0)
			total++
		case ')', ']':
			if n := len(cases) - 1; n > 0 {
				total -= 1 + cases[n]
				cases = cases[:n]
			}
		case pg.Token_CASE:
			cases[len(cases)-1]++
			total++
		case pg.Token_END_P:
			if n := len(cases) - 1; cases[n] > 0 && s.at(i-1).kind != '.' {
				cases[n]--
				total--
			}
		}
		switch t.kind {
		case pg.Token_NOT, '+', '-', pg.Token_Op:
			run++
		default:
			run = 0
		}
		if total+run > maxDepth {
			return tooDeep(t.span())
		}
	}
	return nil
}

// work bounds the parser's repetitions. It reads SUBSTRING(...), OVERLAY(...)
// and JSON_OBJECT(...) twice, and a run of parentheses before SELECT once for
// each of them, so that their nesting multiplies: 2^n for n SUBSTRINGs.
func (s *source) work() *diagnostic.Diagnostic {
	factors := []int{1} // repetitions within each open parenthesis
	total, run := 0, 0  // run: position in a run of parentheses before SELECT
	for i, t := range s.list {
		factor := factors[len(factors)-1]
		if total += factor; total > maxWork {
			return diagnostic.New("D005", t.span(), "the statement is too complex to read").
				Because("reading it takes more than %d steps", maxWork).
				Try("move inner queries to WITH, and write substr(x, 2, 3) for substring")
		}
		switch {
		case t.kind == '(' || t.kind == '[':
			if t.kind == '(' && s.at(i+1).kind == '(' && s.leadsToQuery(i) {
				if run == 0 {
					factor *= 2
				} else {
					factor = factor / (run + 1) * (run + 2)
				}
				run++
			} else {
				run = 0
				switch s.at(i - 1).kind {
				case pg.Token_SUBSTRING, pg.Token_OVERLAY, pg.Token_JSON_OBJECT:
					factor *= 2
				}
			}
			factors = append(factors, min(factor, maxWork))
		case t.kind == ')' || t.kind == ']':
			run = 0
			if len(factors) > 1 {
				factors = factors[:len(factors)-1]
			}
		default:
			run = 0
		}
	}
	return nil
}

// leadsToQuery reports whether a query begins after the parentheses from i on.
func (s *source) leadsToQuery(i int) bool {
	for s.at(i).kind == '(' {
		i++
	}
	return s.at(i).startsQuery()
}

func tooDeep(span diagnostic.Span) *diagnostic.Diagnostic {
	return diagnostic.New("D005", span, "the statement is nested more than %d deep", maxDepth).
		Try("move inner queries to WITH; IN (...) instead of a chain of comparisons")
}
