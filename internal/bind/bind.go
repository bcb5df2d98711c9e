// Package bind resolves the names and types of a parsed statement: tree and
// catalog become a plan.
//
// It guarantees PostgreSQL's scoping and typing, or a refusal: every column of
// the plan is declared in the catalog, every function is on the allow-list,
// every implicit conversion is spelled out as a cast, and what PostgreSQL would
// reject is rejected. A name that the catalog does not declare is unknown,
// whatever exists in the files. It knows no privacy, reads no data, and does
// not say whether a plan may run.
//
// Deliberate differences from PostgreSQL, beside what is refused:
//
//   - decimals hold at most 38 digits: where an operation needs more, the
//     value is NULL; a constant that needs more is a double;
//   - division of decimals, and power, sqrt, exp, ln and log10 of decimals are
//     computed in double precision; so are avg, variance and standard deviation;
//   - date_trunc of a date is a timestamp: there are no time zones.
package bind

import (
	"slices"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// maxNodes bounds a plan. A WITH query is copied at each use, so that a short
// text can stand for a huge plan.
const maxNodes = 1000

// Bind returns the plan of a statement. The error is a *diagnostic.Diagnostic
// without its text: the caller names it with In.
func Bind(q *sqlparse.Query, cat *catalog.Catalog) (n plan.Node, err error) {
	defer recovered(&err)
	b := &binder{catalog: cat}
	return b.query(q, nil), nil
}

// maxCopies bounds the expressions that BETWEEN and CASE x WHEN repeat: nested,
// they would grow a plan exponentially.
const maxCopies = 10_000

// A binder binds one statement.
type binder struct {
	catalog    *catalog.Catalog
	parameters *Parameters            // nil where none may stand
	visible    func(name string) bool // whether a table or view exists for the asker; nil: all do
	priced     bool                   // whether a statement may say what it costs
	nodes      int
	copies     int

	views       []*catalog.View // that are being bound, each in the text of the one before
	parsedViews map[*catalog.View]*sqlparse.Query
}

// A refusal carries a diagnostic up to Bind: every step may refuse, and none
// goes on after it.
type refusal struct{ *diagnostic.Diagnostic }

func refuse(d *diagnostic.Diagnostic) { panic(refusal{d}) }

// recovered makes a refusal an error.
func recovered(err *error) {
	if r := recover(); r != nil {
		f, ok := r.(refusal)
		if !ok {
			panic(r)
		}
		*err = f.Diagnostic
	}
}

// count notes a node and refuses a plan that grows without end.
func (b *binder) count(at diagnostic.Span) {
	if b.nodes++; b.nodes > maxNodes {
		refuse(diagnostic.New("D028", at, "the statement is too large: more than %d relations", maxNodes).
			Because("a WITH query is copied at each of its uses").
			Try("use each WITH query fewer times"))
	}
}

// exists reports whether a statement may name a table or view of the catalog. A view's
// own text is the owner's, and names all.
func (b *binder) exists(name string) bool {
	return b.visible == nil || len(b.views) > 0 || b.visible(name)
}

func typeOf(k sqltype.Kind) sqltype.Type { return sqltype.Of(k) }

// repeat notes that e will stand n times more in the plan.
func (b *binder) repeat(e plan.Expr, n int) {
	plan.Walk(e, func(plan.Expr) bool {
		if b.copies += n; b.copies > maxCopies {
			refuse(diagnostic.New("D028", e.Place(), "the statement is too large: BETWEEN or CASE repeats this expression too often").
				Try("compute it in a subquery and name its column"))
		}
		return true
	})
}

// nearest returns "did you mean x?", or "".
func nearest(name string, candidates []string) string {
	slices.Sort(candidates)
	if n := diagnostic.Nearest(name, candidates); n != "" {
		return "did you mean " + quoted(n) + "?"
	}
	return ""
}
