package datanode

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/sqltype"
)

// catalogTable is a table of a database's catalog.
type catalogTable struct {
	db     *discreet.Database
	domain string
	table  string
}

// CatalogTable is a private table of a catalog. The mechanisms Laplace and Gaussian over
// Count, CountWhere on texts, Sum, Mean and Histogram of texts ask it, by statements. The
// catalog declares the bounds, so the queries have none. Answers are charged to the domain's
// ledger; there is no other budget.
func CatalogTable(db *discreet.Database, domain, table string) (Data, error) {
	if db == nil || domain == "" || table == "" {
		return Data{}, errors.New("table of a catalog: the database, the domain or the table is missing")
	}
	return hold(held{table: &catalogTable{db, domain, table}}), nil
}

// answer asks the database.
func (t *catalogTable) answer(ctx context.Context, analyst string, m Mechanism) (Answer, error) {
	o := discreet.QueryOptions{Analyst: analyst}
	var q Query
	switch m := m.(type) {
	case Laplace:
		q, o.Spend.Epsilon = m.Query, m.Epsilon
	case Gaussian:
		q, o.Spend.Rho = m.Query, m.Rho
	default:
		return Answer{}, fmt.Errorf("%w: a table of a catalog has Laplace and Gaussian noise", ErrQuery)
	}
	sql, err := t.statement(q)
	if err != nil {
		return Answer{}, err
	}
	given, err := t.db.Query(ctx, sql, &o)
	var refusal *discreet.Refusal
	if errors.As(err, &refusal) && refusal.Asked != nil && refusal.Left != nil {
		return Answer{}, &budget.ExceededError{Budget: t.domain, Measure: refusal.Asked.Measure, Asked: refusal.Asked.Amounts, Left: refusal.Left.Amounts, Cause: err}
	}
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Statement: join(m.String(), t.table), Events: given.Cost.Events}
	for _, row := range given.Rows {
		if len(row) > 1 {
			a.Labels = append(a.Labels, fmt.Sprint(row[0]))
		}
		x, err := number(row[len(row)-1])
		if err != nil {
			return Answer{}, err
		}
		a.Values = append(a.Values, x)
	}
	return a, nil
}

// statement writes a query as SQL. It contains only the owner's names of the table and of
// columns, quoted, and texts as literals.
func (t *catalogTable) statement(q Query) (string, error) {
	from := " FROM " + quote(t.table)
	switch q := q.(type) {
	case Count:
		return "SELECT count(*)" + from, nil
	case CountWhere:
		if q.Lower == 0 && q.Upper == 0 {
			return "SELECT count(*)" + from + " WHERE " + quote(q.Column) + " = '" + strings.ReplaceAll(q.Text, "'", "''") + "'", nil
		}
	case Sum:
		if q.Lower == 0 && q.Upper == 0 {
			return "SELECT sum(" + quote(q.Column) + ")" + from, nil
		}
	case Mean:
		if q.Lower == 0 && q.Upper == 0 {
			return "SELECT avg(" + quote(q.Column) + ")" + from, nil
		}
	case Histogram:
		if len(q.Categories)+len(q.Edges) == 0 {
			return "SELECT " + quote(q.Column) + ", count(*)" + from + " GROUP BY 1", nil
		}
	default:
		return "", fmt.Errorf("%w: %v is not asked of a table of a catalog", ErrQuery, q)
	}
	return "", fmt.Errorf("%w: the catalog has the bounds, so %v must have none", ErrQuery, q)
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// number reads a value of an answer.
func number(v sqltype.Value) (float64, error) {
	switch v := v.(type) {
	case int64:
		return float64(v), nil
	case float64:
		return v, nil
	case nil: // NULL, as the mean of no values
		return math.NaN(), nil
	case sqltype.Decimal:
		f, _ := v.Rat().Float64()
		return f, nil
	}
	return 0, fmt.Errorf("%w: the answer is no number", ErrQuery)
}
