package render

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Dialect is the SQL of an engine, by the name that engine.Engine.Dialect returns.
type Dialect string

// The dialects.
const (
	DuckDB   Dialect = "duckdb"
	Postgres Dialect = "postgres"
	Trino    Dialect = "trino"
)

func (d Dialect) renderer() (*renderer, error) {
	switch d {
	case DuckDB:
		return &renderer{dialect: duckDB{}}, nil
	case Postgres:
		return &renderer{dialect: postgres{}}, nil
	case Trino:
		return &renderer{dialect: trino{}}, nil
	}
	return nil, fmt.Errorf("no SQL is rendered for the engine %q", string(d))
}

// A dialect spells what engines spell differently. The structure of a statement, and which
// expression stands where, is the same for all. Every expression that it prints is total
// if its arguments are, and has a canonical value.
type dialect interface {
	name() string // for people
	typeName(t sqltype.Type) string
	literal(v sqltype.Value, t sqltype.Type) (string, error)

	bind(x, name, body string) string // the body, in which the name stands for x
	finite(s scope, x string, t sqltype.Type) string
	convert(s scope, x string, from, to sqltype.Type) string
	narrow(s scope, x string, t sqltype.Type) string // to an integer or a decimal that may not hold x
	fit(s scope, x string, t sqltype.Type) string    // a sum to a decimal that may not hold it

	// These print calls; the second result is false for what the dialect lacks.
	arithmetic(s scope, e *plan.Call) (string, bool)
	textual(s scope, e *plan.Call, args []string) (string, bool)
	temporal(s scope, e *plan.Call, args []string) (string, bool)

	comparable(s scope, x string, t sqltype.Type) string // what values of a type are compared by
	concat(s scope, parts []string) string
	fixed(s scope, e *plan.Call) string // plan.Fixed
	squared(x string, shift int64) string
	rowKey(table string, fields []string) string
	extremum(f plan.Function, args []string) string
	quantifier(k plan.JoinKind) string // what a join of that kind is in WHERE, "" where it is one in FROM

	exactSum(x, over string, t sqltype.Type) string // of integers or decimals
	fixedSum(s scope, x, over string) string        // of doubles
	summand(x string) string                        // what is summed, in a type that has room for the sum
	squares() bool                                  // whether variances can be printed
	percentiles() bool                              // whether percentiles of a unit's rows can be
	sum(x string) string                            // as the integers that a release returns
	slice(unit string) string                       // the condition of the slice, or "" where none is needed
	listed(s scope, value, texts string) string     // NULL where it is none of the texts
	unlisted(key string) string                     // what was listed, as a text
	number(key string) string                       // which one of the listed a key is, or ""
	hash(names []string) string                     // of salt and columns
	salt() string                                   // as a text
	counted(text string) string                     // a text or NULL, with its length
	digest(texts []string) string                   // the first 8 bytes of the SHA-256 of what they join to
}

// nowhere is the place of what stands in no one place of a statement.
var nowhere = diagnostic.Span{}

// literal prints a constant.
func (r *renderer) literal(v sqltype.Value, t sqltype.Type) string {
	out, err := r.dialect.literal(v, t)
	if err != nil {
		return r.fail("%w", err)
	}
	return out
}

// lacks refuses what an engine cannot compute totally, or at all.
func (r *renderer) lacks(at diagnostic.Span, what string) string {
	if r.err == nil {
		r.err = diagnostic.New("D106", at, "%s cannot be computed in %s", what, r.dialect.name()).
			Because("no value of a row may make a statement fail, and it has no form there of which that is known").
			Try("leave it out, or compute it from the answer")
	}
	return "NULL"
}
