package discreet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/sqltype"
)

// Bounds that the catalog calls "auto" are found by statements as any others: how many units lie in each cell
// of a public grid (search.go). The owner asks them, once, and the ledger keeps their answers.
//
// What is found is a function of those answers, the catalog and nothing else, so that using it reveals
// nothing that was not paid for (post-processing, Dwork and Roth 2014, Proposition 2.1), however often it
// is used. A certificate holds for any bounds, since they are enforced (see stability.Found): answers by
// bounds that were found compose adaptively with the answers that found them, in the domain's filter.

// finder is the analyst under whose name the ledger keeps what was found. Nobody asks by it.
const finder = "discreet bounds"

func (db *Database) asker(o *QueryOptions) error {
	if o != nil && o.Analyst == finder {
		return refusal(diagnostic.New("D113", diagnostic.Span{}, "nobody can ask as %q", finder).
			Because("the ledger keeps the owner's search for bounds under this name").Try("ask under another name"))
	}
	return nil
}

// A Bound is one that the catalog calls "auto": the lower or upper end of a column's values, or how many
// groups a unit is in, or rows it has in a group, where a table is grouped by some of its columns.
type Bound struct {
	Table  string   `json:"table"`
	Of     string   `json:"of"`               // "lower", "upper", "groups" or "rows"
	Column string   `json:"column,omitempty"` // of lower and upper
	By     []string `json:"by,omitempty"`     // of groups and rows
	// Declared is the end of the range that is searched. It holds until something is found, and where there
	// are too few units to find anything.
	Declared string `json:"declared"`
	Found    string `json:"found,omitempty"`
	// Record is the ledger's, of the last search; 0: there was none. Later says that a version of the data
	// was declared since.
	Record int64 `json:"record,omitempty"`
	Later  bool  `json:"later_version,omitempty"`
	Cost   *Cost `json:"cost,omitempty"` // of the search
	// Statement is what the search asks.
	Statement string `json:"statement"`
}

// finds are what a Database has found.
type finds struct {
	now atomic.Pointer[stability.Found]
}

func (f *finds) within() *stability.Found {
	if f == nil {
		return nil
	}
	return f.now.Load()
}

// ColumnBounds are the two bounds of a column that is declared with bounds = "auto".
func (db *Database) ColumnBounds(table, column string) ([]Bound, error) {
	t, err := db.searched(table)
	if err != nil {
		return nil, err
	}
	c, ok := t.Column(column)
	if !ok || !c.Auto {
		return nil, diagnostic.New("D113", diagnostic.Span{}, "%s.%s has no bounds to be found", table, column).
			Because(`the catalog does not declare them as bounds = "auto"`).Try(`declare the column with lower, upper and bounds = "auto"`)
	}
	return db.stated(Bound{Table: table, Of: ofLower, Column: column}, Bound{Table: table, Of: ofUpper, Column: column})
}

// Contribution are the bounds of what a unit contributes to an aggregation of a table by some of its columns.
func (db *Database) Contribution(table string, by []string) ([]Bound, error) {
	t, err := db.searched(table)
	if err != nil {
		return nil, err
	}
	if !t.Auto {
		return nil, diagnostic.New("D113", diagnostic.Span{}, "table %q has no contribution to be found", table).
			Because(`the catalog does not declare it with contribution = "auto"`).Try("name a column whose bounds are to be found, or declare it")
	}
	by = slices.Clone(by)
	slices.Sort(by)
	by = slices.Compact(by)
	for _, name := range by {
		if _, ok := t.Column(name); !ok {
			return nil, diagnostic.New("D011", diagnostic.Span{}, "table %q has no column %q", table, name).Try("discreet tables %s lists its columns", table)
		}
	}
	if len(by) == 0 {
		return db.stated(Bound{Table: table, Of: ofRows})
	}
	return db.stated(Bound{Table: table, Of: ofGroups, By: by}, Bound{Table: table, Of: ofRows, By: by})
}

// stated adds to bounds how they are searched.
func (db *Database) stated(all ...Bound) ([]Bound, error) {
	var stated []Bound
	for _, b := range all {
		s, err := b.search(db.config.Catalog)
		if errors.Is(err, errOneValue) {
			continue // what is declared is all that it can be
		}
		if err != nil {
			return nil, diagnostic.New("D113", diagnostic.Span{}, "there is nothing to find: %v", err).Try("declare a wider range, or no \"auto\"")
		}
		b.Declared, b.Statement = s.declared(), s.text
		stated = append(stated, b)
	}
	if len(stated) == 0 {
		return nil, diagnostic.New("D113", diagnostic.Span{}, "there is nothing to find: %v", errOneValue).Try("declare a wider range, or no \"auto\"")
	}
	return stated, nil
}

func (db *Database) searched(table string) (*catalog.Table, error) {
	t, ok := db.config.Catalog.Table(table)
	if !ok {
		return nil, diagnostic.New("D010", diagnostic.Span{}, "unknown table %s", table).Because("the catalog does not declare it").Try("discreet tables lists them")
	}
	return t, nil
}

// Bounds are all that the catalog calls "auto", with what was found: of each table the contribution without
// groups, and by the keys that were searched.
func (db *Database) Bounds(ctx context.Context) ([]Bound, error) {
	all := []Bound{}
	for _, t := range db.config.Catalog.Tables {
		known, _, _, err := db.searches(ctx, t)
		if err != nil {
			return nil, err
		}
		if !t.HasAuto() {
			continue
		}
		var declared []Bound
		for _, c := range t.Columns {
			if c.Auto {
				declared = append(declared, Bound{Table: t.Name, Of: ofLower, Column: c.Name}, Bound{Table: t.Name, Of: ofUpper, Column: c.Name})
			}
		}
		if t.Auto {
			declared = append(declared, Bound{Table: t.Name, Of: ofRows})
		}
		for _, b := range declared {
			at := slices.IndexFunc(known, b.Same)
			if at >= 0 {
				all, known = append(all, known[at]), slices.Delete(known, at, at+1)
				continue
			}
			s, err := b.search(db.config.Catalog)
			switch {
			case errors.Is(err, errOneValue):
				continue
			case err != nil:
				return nil, err
			}
			b.Declared, b.Statement = s.declared(), s.text
			all = append(all, b)
		}
		all = append(all, known...)
	}
	return all, nil
}

// Same reports whether both are the same bound, whatever was found of it.
func (b Bound) Same(other Bound) bool {
	return b.Table == other.Table && b.Of == other.Of && b.Column == other.Column && slices.Equal(b.By, other.By)
}

// Price says what a search for a bound is charged. It charges nothing.
func (db *Database) Price(ctx context.Context, b Bound, spend Spend) (Cost, error) {
	s, err := b.search(db.config.Catalog)
	if err != nil {
		return Cost{}, err
	}
	e, err := db.Explain(ctx, s.text, &QueryOptions{Spend: spend})
	if err != nil {
		return Cost{}, err
	}
	return e.Cost, nil
}

// Find searches for a bound, at the cost of a statement. What was found before is returned, and charged
// nothing, unless it is to be found again. A search for it that is paid for and has
// no answer yet is not paid for again either. Statements of this Database are bounded by what is found from then on; other processes read
// it when they next open the ledger.
func (db *Database) Find(ctx context.Context, b Bound, spend Spend, again bool) (Bound, error) {
	if db.config.Ledger == nil {
		return b, errors.New("find bounds: the database has no ledger")
	}
	s, err := b.search(db.config.Catalog)
	if err != nil {
		return b, err
	}
	b = s.bound
	for range mostTaken {
		known, unanswered, next, err := db.searches(ctx, s.table)
		if err != nil {
			return b, err
		}
		if at := slices.IndexFunc(known, b.Same); at >= 0 && !again {
			return known[at], nil
		}
		if slices.Contains(unanswered, s.text) && !again {
			return b, errSearching()
		}
		o := &QueryOptions{Spend: spend, Analyst: finder, IdempotencyKey: searchKey(s.table, next), RefuseUnfinished: true}
		statement, err := db.plan(ctx, s.text, o)
		if err != nil {
			return b, err
		}
		_, err = statement.Answer(ctx, Payer{})
		switch {
		case errors.Is(err, ledger.ErrIdempotencyKey):
			continue // another process has searched for something else since the ledger was read
		case errors.Is(err, ledger.ErrUnfinished):
			return b, errSearching()
		case err != nil:
			return b, err
		}
		if err := db.look(ctx); err != nil {
			return b, err
		}
		if known, _, _, err = db.searches(ctx, s.table); err != nil {
			return b, err
		}
		at := slices.IndexFunc(known, b.Same)
		if at < 0 {
			return b, errors.New("find bounds: the answer is not in the ledger")
		}
		return known[at], nil
	}
	return b, fmt.Errorf("find bounds: %d searches of other processes came first", mostTaken)
}

// errSearching refuses to pay for a search twice without the owner's word.
func errSearching() error {
	return refusal(diagnostic.New("D113", diagnostic.Span{}, "a search for this bound is charged and has no answer yet").
		Because("another process is at it, or was interrupted; nothing was charged now").
		Try("look again in a while; where it was interrupted, --again pays for a new one"))
}

// mostTaken is how many searches of other processes one search lets go first.
const mostTaken = 100

// searchKey is the idempotency key of the n-th search of a table.
func searchKey(t *catalog.Table, n int) string {
	return fmt.Sprintf("bounds of %s in %s, %d", t.Name, t.Domain.ID, n)
}

// searches are what the ledger keeps for a table, the newest of each bound, and the number of the next. An
// answer to another search than the catalog's of today, as where the range or the source has changed, counts for nothing.
// Unanswered are the statements of those that are charged and have no answer, yet or for good.
func (db *Database) searches(ctx context.Context, t *catalog.Table) (known []Bound, unanswered []string, next int, err error) {
	if db.config.Ledger == nil || !t.HasAuto() {
		return nil, nil, 0, nil
	}
	version, err := db.config.Ledger.Version(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	for ; ; next++ {
		use, err := db.config.Ledger.Answered(ctx, finder, searchKey(t, next))
		if err != nil {
			return nil, nil, 0, err
		}
		record := use.Record
		switch {
		case record == 0:
			return known, unanswered, next, nil
		case use.Answer == nil:
			unanswered = append(unanswered, use.Statement)
			continue
		case isWithheld(use.Answer):
			continue
		}
		var a Answer
		if err := json.Unmarshal(use.Answer, &a); err != nil {
			return nil, nil, 0, fmt.Errorf("read the search of record %d: %w", record, err)
		}
		b, ok := readBound(a.Statement)
		if !ok {
			continue
		}
		s, err := b.search(db.config.Catalog)
		if err != nil || s.text != a.Statement || s.table != t {
			continue
		}
		known = slices.DeleteFunc(known, b.Same)
		b.Declared, b.Statement, b.Record, b.Later = s.declared(), s.text, record, version.Record > record
		if b.Found, err = s.read(&a); err != nil {
			return nil, nil, 0, fmt.Errorf("read the search of record %d: %w", record, err)
		}
		b.Cost = &a.Cost
		known = append(known, b)
	}
}

// look reads from the ledger what was found.
func (db *Database) look(ctx context.Context) error {
	if db.config.Declared {
		return nil
	}
	var f stability.Found
	for _, t := range db.config.Catalog.Tables {
		known, _, _, err := db.searches(ctx, t)
		if err != nil {
			return fmt.Errorf("read what bounds were found: %w", err)
		}
		for _, b := range known {
			if b.Found == "" {
				continue
			}
			if err := b.apply(t, &f); err != nil {
				return err
			}
		}
	}
	for c, b := range f.Bounds { // where the two searches contradict each other the declared ones hold
		if b.Lower == nil || b.Upper == nil || sqltype.Compare(b.Lower, b.Upper) > 0 {
			delete(f.Bounds, c)
		}
	}
	if len(f.Bounds)+len(f.Contributions) == 0 {
		db.found.now.Store(nil)
		return nil
	}
	db.found.now.Store(&f)
	return nil
}

// apply adds what was found of a table's bound.
func (b Bound) apply(t *catalog.Table, f *stability.Found) error {
	if b.Column == "" {
		at := slices.IndexFunc(f.Contributions, func(c stability.Contribution) bool { return c.Table == t && slices.Equal(c.Keys, b.By) })
		if at < 0 {
			at, f.Contributions = len(f.Contributions), append(f.Contributions, stability.Contribution{Table: t, Keys: b.By, Groups: t.MaxGroups, Rows: t.MaxRows})
		}
		v, err := sqltype.ParseValue(sqltype.Of(sqltype.Bigint), b.Found)
		if err != nil {
			return err
		}
		if b.Of == ofGroups {
			f.Contributions[at].Groups = v.(int64)
		} else {
			f.Contributions[at].Rows = v.(int64)
		}
		return nil
	}
	c, ok := t.Column(b.Column)
	if !ok {
		return fmt.Errorf("no column %q", b.Column)
	}
	v, err := sqltype.ParseValue(c.Type, b.Found)
	if err != nil {
		return err
	}
	if f.Bounds == nil {
		f.Bounds = map[*catalog.Column]stability.Bounds{}
	}
	ends, ok := f.Bounds[c]
	if !ok {
		ends = stability.Bounds{Lower: c.Lower, Upper: c.Upper}
	}
	if b.Of == ofLower {
		ends.Lower = v
	} else {
		ends.Upper = v
	}
	f.Bounds[c] = ends
	return nil
}

// autoWords say of a release which of its bounds were found, and which can be.
func (s *statement) autoWords(r *stability.Release) (words []string) {
	const how = "tighter ones can be found at the owner's charge, by discreet bounds"
	for _, c := range autoColumns(r) {
		declared := fmt.Sprintf("%s to %s", sqltype.Format(c.Lower), sqltype.Format(c.Upper))
		if b, ok := s.found.Of(c); ok {
			words = append(words, fmt.Sprintf("%s: its bounds %s to %s were found privately, within the declared %s", c.Name, sqltype.Format(b.Lower), sqltype.Format(b.Upper), declared))
		} else {
			words = append(words, fmt.Sprintf("%s: its bounds are the declared range, %s; %s", c.Name, declared, how))
		}
	}
	if t := r.Auto; t != nil && !r.OneRow {
		if r.Found {
			words = append(words, fmt.Sprintf("what a unit contributes to %s by these keys was found privately, within the declared %s of %s", t.Name, diagnostic.Count(t.MaxGroups, "group"), diagnostic.Count(t.MaxRows, "row")))
		} else {
			words = append(words, fmt.Sprintf("what a unit contributes to %s is the declared most, %s of %s; %s", t.Name, diagnostic.Count(t.MaxGroups, "group"), diagnostic.Count(t.MaxRows, "row"), how))
		}
	}
	return words
}

// foundNotes say of a release's values which are cut off at bounds that were found.
func (s *statement) foundNotes(r *stability.Release) (notes []string) {
	for _, c := range autoColumns(r) {
		if _, ok := s.found.Of(c); ok {
			notes = append(notes, fmt.Sprintf("%s: its bounds were found privately; of about one unit in a hundred, some values lie beyond", c.Name))
		}
	}
	return notes
}

// autoColumns are the columns with bounds to be found whose values a release adds up, by name.
func autoColumns(r *stability.Release) []*catalog.Column {
	var args []plan.Expr
	for _, c := range r.Components {
		if c.LowerUnits != nil {
			args = append(args, c.Arg)
		}
	}
	var all []*catalog.Column
	for c := range plan.Shown(r.Input, args...) {
		if c.Auto {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *catalog.Column) int { return strings.Compare(a.Name, b.Name) })
	return all
}
