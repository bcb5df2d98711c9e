package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/books"
	"github.com/discreet-dp/discreet/internal/declaration"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/serve/postgres/pgcatalog"
	"github.com/discreet-dp/discreet/sqltype"
)

// tables are those of the schema discreet: what the server tells an account of its budget, its
// history, what it may ask about, and its last answer. Rows are read when they are asked for.
func (s *session) tables() []pgcatalog.Relation {
	text, whole, truth := sqltype.Of(sqltype.Text), sqltype.Of(sqltype.Bigint), sqltype.Of(sqltype.Boolean)
	number := sqltype.Type{Kind: sqltype.DecimalKind} // of any precision: amounts are exact
	field := func(name string, t sqltype.Type, comment string) pgcatalog.Field {
		return pgcatalog.Field{Name: name, Type: t, Comment: comment}
	}
	return []pgcatalog.Relation{
		{Name: "budget", Comment: "what each domain's budget has left", Rows: s.budget, Fields: []pgcatalog.Field{
			field("domain", text, "a population of privacy units"), field("measure", text, "how its losses are added up"),
			field("amount", text, "epsilon, delta or rho"), field("budget", number, "the whole"), field("spent", number, ""),
			field("remaining", number, ""), field("unanswered", whole, "charges without an answer"), field("suspended", truth, "until the owner acknowledges a failure"),
		}},
		{Name: "history", Comment: "the newest 1,000 of what was asked: an analyst's own statements, an owner's all", Rows: s.history, Fields: []pgcatalog.Field{
			field("record", whole, "of the ledger"), field("time", sqltype.Of(sqltype.TimestampKind), "in UTC"), field("kind", text, "reserve is a charge"),
			field("analyst", text, ""), field("domain", text, ""), field("statement", text, ""), field("epsilon", number, "what was charged"),
			field("delta", number, ""), field("rho", number, ""), field("answered", truth, ""), field("note", text, ""),
		}},
		{Name: "tables", Comment: "what may be asked about, a row for each column", Rows: s.declared, Fields: []pgcatalog.Field{
			field("table_name", text, ""), field("column_name", text, ""), field("type", text, ""), field("public", truth, "not private: it costs nothing"),
			field("domain", text, "whose budget pays"), field("unit", text, "the privacy unit"), field("max_groups_per_unit", whole, ""), field("max_rows_per_group", whole, ""),
			field("lower", text, "values below count as it"), field("upper", text, "values above count as it"), field("values", text, "the public domain"),
		}},
		{Name: "last_answer", Comment: "this session's last answer", Rows: s.lastAnswer, Fields: []pgcatalog.Field{
			field("statement", text, ""), field("reused", truth, "it was a stored one, and cost nothing now"), field("epsilon", number, "what it cost, when it was first given"),
			field("delta", number, ""), field("rho", number, ""), field("remaining", text, "of the budget, after it"), field("confidence", sqltype.Of(sqltype.Double), "of its intervals"),
			field("kept_by", text, "what chose rows by noisy values"), field("notes", text, "what a reader must know"), field("mechanisms", text, "the noise, as JSON"),
		}},
	}
}

// row makes a row of texts; the empty text is NULL.
func row(values ...string) []*string {
	out := make([]*string, len(values))
	for i := range values {
		if values[i] != "" {
			out[i] = &values[i]
		}
	}
	return out
}

// charge gives the three amounts of a charge that have a column, "" for none.
func charge(a filter.Amounts) (epsilon, delta, rho string) {
	if a.Epsilon.Sign() > 0 {
		epsilon = numeric.Decimal(a.Epsilon.Rat(), numeric.CeilDigits)
	}
	if a.Delta.Sign() > 0 {
		delta = numeric.Decimal(a.Delta.Rat(), numeric.CeilDigits)
	}
	if a.Rho.Sign() > 0 {
		rho = numeric.Decimal(a.Rho.Rat(), numeric.CeilDigits)
	}
	return epsilon, delta, rho
}

func (s *session) budget(ctx context.Context) (rows [][]*string, err error) {
	balances, err := s.server.options.Gateway.Budget(ctx, s.asker)
	if err != nil {
		return nil, err
	}
	for _, b := range balances {
		spent, left := b.Spent.In(b.Measure), b.Remaining.In(b.Measure)
		for i, p := range b.Limit.In(b.Measure) {
			rows = append(rows, row(b.ID, string(b.Measure), p.Name, numeric.Decimal(p.Amount.Rat(), numeric.FloorDigits),
				numeric.Decimal(spent[i].Amount.Rat(), numeric.CeilDigits), numeric.Decimal(left[i].Amount.Rat(), numeric.FloorDigits),
				strconv.FormatInt(b.Uncommitted, 10), strconv.FormatBool(b.Suspended)))
		}
	}
	return rows, nil
}

func (s *session) history(ctx context.Context) (rows [][]*string, err error) {
	all, err := s.server.options.Gateway.History(ctx, s.asker, ledger.Selection{})
	if err != nil {
		return nil, err
	}
	slices.Reverse(all) // the oldest first, as they were asked
	for _, e := range books.NewEntries(all, nil) {
		var epsilon, delta, rho string
		if e.Charge != nil {
			epsilon, delta, rho = charge(e.Charge.Amounts)
		}
		rows = append(rows, row(strconv.FormatInt(e.Record, 10), e.Time.UTC().Format("2006-01-02 15:04:05.999999"), e.Kind, e.Analyst, e.Domain,
			e.Statement, epsilon, delta, rho, strconv.FormatBool(e.Answered), e.Note))
	}
	return rows, nil
}

// shownValues is how many values of a public domain are listed.
const shownValues = 20

func (s *session) declared(context.Context) (rows [][]*string, err error) {
	c := s.server.options.Gateway.Catalog(s.asker)
	if c == nil {
		return nil, nil
	}
	all, err := declaration.Tables(c, "", shownValues)
	if err != nil {
		return nil, err
	}
	bound := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	for _, t := range all {
		for _, c := range t.Columns {
			rows = append(rows, row(t.Table, c.Name, c.Type, strconv.FormatBool(t.Public), t.Domain, t.Unit, bound(t.MaxGroups), bound(t.MaxRows), c.Lower, c.Upper, c.Domain))
		}
	}
	return rows, nil
}

func (s *session) lastAnswer(context.Context) ([][]*string, error) {
	a := s.last
	if a == nil {
		return nil, nil
	}
	mechanisms, err := json.Marshal(a.Mechanisms)
	if err != nil {
		return nil, err
	}
	epsilon, delta, rho := charge(a.Cost.Amounts)
	remaining := ""
	if a.Remaining.Measure != "" {
		remaining = a.Remaining.String()
	}
	return [][]*string{row(cmp.Or(a.Statement, "-"), strconv.FormatBool(a.Reused), epsilon, delta, rho, remaining,
		strconv.FormatFloat(a.Confidence, 'g', -1, 64), strings.Join(a.Kept, ", "), strings.Join(a.Notes, "\n"), string(mechanisms))}, nil
}
