package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// What data a source is, is not in its name: it is the table of that number (its oid) in the
// database, and what it inherits rows from: its partitions, and tables that inherit from it.
// A name leads to one table at a time. So each transaction that reads first holds the tables
// that it will read, and then looks whether they are what was looked at when their reading was
// decided; if not (a partition was attached, a column's type changed), it looks again.

// A table is what a source was when it was looked at.
type table struct {
	declared *catalog.Table
	mark     string // changes with whatever was looked at
	relation string // that is locked: schema and table, quoted
	oid      string
	tree     []string // the oids of the tables whose rows it has, its own first
	columns  []column
	read     string                 // the text that reads it, as a named relation
	problem  *diagnostic.Diagnostic // why it cannot be read
}

// A column is one of the source.
type column struct {
	name, native string
	shown        string   // its type as the database names it
	readable     bool     // the role may read it
	computed     bool     // when it is read
	key          bool     // it alone is a key
	to           []string // schema, table and column that it refers to
	place        float64  // among the columns
}

// sources are what a catalog's tables were when they were looked at.
type sources struct {
	tables map[string]*table
	shared error // two of them share rows
}

// description is a common table expression "said" with one row (i, line) for each thing that
// is to be known of the i-th source: a JSON array. Keys are counted, since PostgreSQL 18 makes a
// hash of EXISTS over all constraints of the database, however dear reading these is said to be.
func description(tables []*catalog.Table) string {
	wanted := make([]string, len(tables))
	for i, t := range tables {
		wanted[i] = fmt.Sprintf("(%d, %s::name, %s::name)", i, literal(t.Source.Schema), literal(t.Source.Table))
	}
	return `WITH RECURSIVE wanted(i, s, t) AS (VALUES ` + strings.Join(wanted, ", ") + `),
rel AS (SELECT w.i, c.oid, c.relkind FROM wanted AS w JOIN pg_namespace AS n ON n.nspname = w.s
	JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = w.t AND c.relkind IN ('r', 'p', 'v', 'm', 'f')),
tree(i, oid) AS (SELECT i, oid FROM rel UNION SELECT t.i, h.inhrelid FROM tree AS t JOIN pg_inherits AS h ON h.inhparent = t.oid),
said(i, line) AS (
SELECT i, jsonb_build_array('table', oid::text, relkind, row_security_active(oid), has_table_privilege(oid, 'SELECT'))::text FROM rel
UNION ALL
SELECT t.i, jsonb_build_array('part', t.oid::text, c.relkind)::text FROM tree AS t JOIN pg_class AS c ON c.oid = t.oid
UNION ALL
SELECT r.i, jsonb_build_array('column', a.attname, CASE WHEN y.typtype = 'e' THEN 'enum' WHEN y.typnamespace = 'pg_catalog'::regnamespace THEN y.typname::text ELSE '' END,
	format_type(a.atttypid, a.atttypmod), has_column_privilege(r.oid, a.attnum, 'SELECT'), a.attgenerated <> '' AND a.attgenerated <> 's',
	(SELECT count(*) > 0 FROM pg_constraint AS k WHERE k.conrelid = r.oid AND k.contype IN ('p', 'u') AND k.conkey = ARRAY[a.attnum]),
	(SELECT array_to_json(ARRAY[fn.nspname::text, fc.relname::text, fa.attname::text]) FROM pg_constraint AS k JOIN pg_class AS fc ON fc.oid = k.confrelid JOIN pg_namespace AS fn ON fn.oid = fc.relnamespace
		JOIN pg_attribute AS fa ON fa.attrelid = fc.oid AND k.confkey = ARRAY[fa.attnum] WHERE k.conrelid = r.oid AND k.contype = 'f' AND k.conkey = ARRAY[a.attnum] ORDER BY k.oid LIMIT 1), a.attnum)::text
FROM rel AS r JOIN pg_attribute AS a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
CROSS JOIN LATERAL (WITH RECURSIVE b(oid, typtype, of) AS (SELECT oid, typtype, typbasetype FROM pg_type WHERE oid = a.atttypid
	UNION ALL SELECT z.oid, z.typtype, z.typbasetype FROM b JOIN pg_type AS z ON z.oid = b.of WHERE b.typtype = 'd') SELECT oid FROM b WHERE typtype <> 'd') AS b
JOIN pg_type AS y ON y.oid = b.oid)
`
}

// marks is a statement that gives one row, i and mark, for each source that is there.
func marks(tables []*catalog.Table) string {
	return description(tables) + `SELECT i, md5(string_agg(line, ' ' ORDER BY line COLLATE "C")) FROM said GROUP BY i`
}

// looked are the statements that give the marks of tables.
func looked(tables []*catalog.Table, row func(values [][]byte) error, done *bool) []asked {
	return []asked{{sql: byIndex, often: true}, {sql: marks(tables), often: true, row: row, done: done}, {sql: byHash, often: true}}
}

// look looks at all sources of a catalog.
func look(ctx context.Context, t *transaction, c *catalog.Catalog) (*sources, error) {
	seen := &sources{tables: map[string]*table{}}
	if len(c.Tables) == 0 {
		return seen, nil
	}
	order := make([]*table, len(c.Tables))
	for i, d := range c.Tables {
		order[i] = &table{declared: d, relation: quote(d.Source.Schema) + "." + quote(d.Source.Table)}
		seen.tables[d.Name] = order[i]
	}
	text := []string{byIndex, description(c.Tables) + "SELECT i, line FROM said ORDER BY i, line", marks(c.Tables), byHash}
	results, err := t.conn.Exec(ctx, strings.Join(text, "; ")).ReadAll()
	if err != nil || len(results) != len(text) {
		return nil, unconnected(ctx, errors.Join(err, errors.New("the tables were not looked at")))
	}
	facts := make([][][]any, len(order))
	for _, row := range results[1].Rows {
		i, _ := strconv.Atoi(string(row[0]))
		var fact []any
		if err := json.Unmarshal(row[1], &fact); err != nil {
			return nil, fmt.Errorf("look at tables: %w", err)
		}
		facts[i] = append(facts[i], fact)
	}
	for i, d := range order {
		d.understand(facts[i])
	}
	for _, row := range results[2].Rows {
		i, _ := strconv.Atoi(string(row[0]))
		order[i].mark = string(row[1])
	}
	seen.shared = shared(order)
	return seen, nil
}

// understand decides how a source is read, or why it is not.
func (d *table) understand(facts [][]any) {
	refuse := func(why, hint string) { // the first reason is said
		if d.problem == nil {
			d.problem = diagnostic.New("D101", diagnostic.Span{}, "table %q cannot be read", d.declared.Name).
				Because("%s: %s", d.declared.Source.Text, why).Try("%s", hint)
		}
	}
	text := func(v any) string { s, _ := v.(string); return s }
	is := func(v any) bool { b, _ := v.(bool); return b }
	number := func(v any) float64 { f, _ := v.(float64); return f }
	texts := func(v any) (all []string) {
		list, _ := v.([]any)
		for _, x := range list {
			all = append(all, text(x))
		}
		return all
	}
	var secured, granted, foreign bool
	kind := ""
	for _, f := range facts {
		switch f[0] {
		case "table":
			d.oid, kind, secured, granted = text(f[1]), text(f[2]), is(f[3]), is(f[4])
			d.tree = slices.Insert(d.tree, 0, d.oid)
		case "part":
			if oid := text(f[1]); oid != d.oid {
				d.tree = append(d.tree, oid)
			}
			foreign = foreign || text(f[2]) != "r" && text(f[2]) != "p"
		case "column":
			d.columns = append(d.columns, column{name: text(f[1]), native: text(f[2]), shown: text(f[3]), readable: is(f[4]), computed: is(f[5]), key: is(f[6]), to: texts(f[7]), place: number(f[8])})
		}
	}
	slices.SortFunc(d.columns, func(a, b column) int { return cmp.Compare(a.place, b.place) })
	switch {
	case d.oid == "":
		refuse("the database has no such table", "names are spelled as the database has them: PostgreSQL makes small letters of what is not quoted")
	case kind == "v" || kind == "m":
		refuse("it is a view, whose rows can be those of any table", "name the table itself; a view over it can be declared under [views], and derived columns with `is`")
	case kind == "f":
		refuse("it is a foreign table, whose rows can be those of any table", "name the database that holds the rows, and the table itself")
	case foreign:
		refuse("one of its parts is a foreign table, whose rows can be those of any table", "detach that part, or name the database that holds its rows")
	case !granted:
		refuse("the role may not read it", "GRANT USAGE ON SCHEMA "+quote(d.declared.Source.Schema)+" TO the role, and GRANT SELECT ON "+d.relation)
	case secured:
		refuse("row security decides which of its rows the role sees, by rules of which nothing is known here", "let the role see all rows (a policy USING (true) is still one; ALTER TABLE ... DISABLE ROW LEVEL SECURITY, or a role with BYPASSRLS)")
	}
	if d.problem != nil {
		return
	}
	read, why, hint := d.reading()
	if d.read = read; why != "" {
		refuse(why, hint)
	}
}

// reading is the text of the relation that statements see, or why there is none.
func (d *table) reading() (text, why, hint string) {
	if len(d.declared.Columns) == 0 { // of init, which asks what there is
		return "", "", ""
	}
	r, err := derive.Read(d.declared)
	if err != nil {
		return "", "its derived columns mean nothing", "discreet check"
	}
	var fields, whole []string
	for i, f := range r.Fields {
		at := slices.IndexFunc(d.columns, func(c column) bool { return c.name == f.Name })
		if at < 0 {
			hint := "discreet check"
			if near := slices.IndexFunc(d.columns, func(c column) bool { return catalog.Fold(c.name) == catalog.Fold(f.Name) }); near >= 0 {
				hint = fmt.Sprintf("it has %q: names are spelled as the database has them", d.columns[near].name)
			}
			return "", fmt.Sprintf("it has no column %q", f.Name), hint
		}
		c := d.columns[at]
		switch {
		case !c.readable:
			return "", fmt.Sprintf("the role may not read its column %q", c.name), "GRANT SELECT ON " + d.relation
		case c.computed:
			return "", fmt.Sprintf("its column %q is computed when it is read, which can fail", c.name), "compute it in a derived column of the catalog"
		}
		value, ok := derive.PostgresField(quote(c.name), c.native, f.Type)
		if !ok {
			return "", fmt.Sprintf("its column %q is of type %s, which cannot be read as %s", c.name, c.shown, f.Type), "declare another type, or leave the column out"
		}
		if fields = append(fields, fmt.Sprintf("%s AS c%d", value, i)); f.Column != nil {
			whole = append(whole, fmt.Sprintf("(%s IS NULL OR %s IS NOT NULL)", quote(c.name), value))
		}
	}
	inner := "SELECT " + strings.Join(fields, ", ") + " FROM " + d.relation
	if d.declared.Malformed == catalog.SkipRecord && len(whole) > 0 {
		inner += " WHERE " + strings.Join(whole, " AND ")
	}
	values, err := r.PostgresColumns()
	if err != nil {
		var said *diagnostic.Diagnostic
		if errors.As(err, &said) {
			return "", said.Message, said.Hint
		}
		return "", "its derived columns cannot be computed", "discreet check"
	}
	for i, c := range d.declared.Columns {
		values[i] += " AS " + quote(c.Name)
	}
	return quote(d.declared.Name) + " AS NOT MATERIALIZED (SELECT " + strings.Join(values, ", ") + " FROM (" + inner + ") AS t)", "", ""
}

// shared refuses two sources that have rows in common and are not one table: what holds for
// one of them (its unit, its domain, that it is public) would not hold for those rows.
func shared(tables []*table) error {
	of := map[string]*table{}
	for _, t := range tables {
		for _, oid := range t.tree {
			other := of[oid]
			if other == nil {
				of[oid] = t
				continue
			}
			if other.oid == t.oid {
				continue // one table, which catalog.Load has held to one unit
			}
			return diagnostic.New("D087", diagnostic.Span{}, "%q and %q share rows", other.declared.Source.Text, t.declared.Source.Text).
				Because("one is a part of the other, or both have a part in common, and tables %q and %q are taken for two populations of rows", other.declared.Name, t.declared.Name).
				Try("declare one of them, and tell its parts apart by a column")
		}
	}
	return nil
}

// relations are the oids of the tables that the catalog declares, with their parts.
func (s *sources) relations() []string {
	seen := map[string]bool{"0": true} // never empty
	for _, t := range s.tables {
		for _, oid := range t.tree {
			seen[oid] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// begin begins a transaction that holds tables of the catalog as they are, in which they are known,
// and runs in it what then makes of them. If it is whole, that is all of it, and it has ended. What
// fails in what then made is a *runError.
//
// All is said in one round trip: what is run reads the tables as they were when they were looked at
// last. If they turn out to be others, it is as if it had not been: nobody takes its rows, and
// they are looked at, and then is called again.
func (e *Engine) begin(ctx context.Context, names []string, whole bool, then func(tables []*table) []asked) (_ *transaction, err error) {
	if then == nil {
		then = func([]*table) []asked { return nil }
	}
	var said *pgconn.PgError
	if len(names) == 0 {
		t, err := e.pool.begin(ctx, nil, whole, then(nil)...)
		var unmade *pgconn.ConnectError
		if errors.As(err, &said) && !errors.As(err, &unmade) {
			err = &runError{err}
		}
		return t, err
	}
	known := make([]*table, len(names))
	declared := make([]*catalog.Table, len(names))
	relations := make([]string, len(names))
	e.mu.Lock()
	for i, name := range names {
		known[i] = e.tables[name]
	}
	e.mu.Unlock()
	readable := true
	for i, name := range names {
		if known[i] == nil {
			return nil, fmt.Errorf("table %q is not declared", name)
		}
		declared[i], relations[i] = known[i].declared, known[i].relation
		readable = readable && known[i].problem == nil
	}
	same, marked := 0, false
	statements := looked(declared, func(values [][]byte) error {
		if i, err := strconv.Atoi(string(values[0])); err == nil && known[i].problem == nil && known[i].mark == string(values[1]) {
			same++
		}
		return nil
	}, &marked)
	if readable {
		for _, s := range then(known) {
			if row := s.row; row != nil {
				s.row = func(values [][]byte) error {
					if same < len(names) {
						return nil
					}
					return row(values)
				}
			}
			statements = append(statements, s)
		}
	}
	t, err := e.pool.begin(ctx, relations, whole && readable, statements...)
	switch {
	case same == len(names) && err == nil:
		t.tables = known
		return t, nil
	case same == len(names) && marked:
		return nil, &runError{err}
	case marked && (err == nil || errors.As(err, &said)): // they have changed, so that what was run says nothing
		if t != nil {
			t.end()
		}
		return e.beginAnew(ctx, names, relations, then)
	case errors.As(err, &said) && !marked && (strings.HasPrefix(said.Code, "42") || said.Code == "3F000"):
		// One of them is not there, or may not be read: a look says which.
		return nil, errors.Join(e.lookAgain(ctx, names), err)
	}
	return nil, err
}

// beginAnew is begin where tables have changed since they were looked at: they are held, and looked at
// again.
func (e *Engine) beginAnew(ctx context.Context, names, relations []string, then func(tables []*table) []asked) (_ *transaction, err error) {
	t, err := e.pool.begin(ctx, relations, false)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			t.end()
		}
	}()
	seen, err := look(ctx, t, e.catalog)
	if err == nil {
		err = e.learn(seen, names)
	}
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		t.tables = append(t.tables, seen.tables[name])
	}
	if statements := then(t.tables); len(statements) > 0 {
		if _, err = t.run(ctx, statements...); err != nil {
			return nil, &runError{err}
		}
	}
	return t, nil
}

// A runError is of what was run in a transaction that was begun as it should be.
type runError struct{ error }

func (e *runError) Unwrap() error { return e.error }

// reading are the texts that read tables, and marksOf their marks.
func reading(tables []*table) (texts []string) {
	for _, t := range tables {
		texts = append(texts, t.read)
	}
	return texts
}

func marksOf(tables []*table) (marks string) {
	for _, t := range tables {
		marks += " " + t.mark
	}
	return marks
}

// learn keeps what was seen, and says what stands in the way of reading tables.
func (e *Engine) learn(seen *sources, names []string) error {
	if seen.shared != nil {
		return seen.shared
	}
	e.mu.Lock()
	e.tables = seen.tables
	e.mu.Unlock()
	for _, name := range names {
		if p := seen.tables[name].problem; p != nil {
			return p
		}
	}
	return nil
}

// lookAgain looks at the sources without holding them, for what is wrong with some of them.
func (e *Engine) lookAgain(ctx context.Context, names []string) error {
	t, err := e.pool.begin(ctx, nil, false)
	if err != nil {
		return err
	}
	defer t.end()
	seen, err := look(ctx, t, e.catalog)
	if err != nil {
		return err
	}
	return e.learn(seen, names)
}

// readings are the texts that read tables, of those that the transaction holds.
func (t *transaction) readings(names []string) (texts []string, err error) {
	for _, name := range names {
		at := slices.IndexFunc(t.tables, func(known *table) bool { return known.declared.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("table %q is not in the snapshot", name)
		}
		texts = append(texts, t.tables[at].read)
	}
	return texts, nil
}
