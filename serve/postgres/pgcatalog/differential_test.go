package pgcatalog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/postgrestest"
	"github.com/discreet-dp/discreet/sqltype"
)

const clinic = `
[domains.patient]
neighbours = "add-remove"
measure = "zcdp"
epsilon = 3.0
delta = 1e-7
selection_delta = 5e-8

[tables.visits]
source = "visits.parquet"
domain = "patient"
unit = "patient_id"
max_groups_per_unit = 12
max_rows_per_group = 12
[tables.visits.columns]
patient_id = { type = "bigint" }
visit_id = { type = "bigint" }
department = { type = "text", domain = { from = "departments.name" } }
age = { type = "integer", lower = 0, upper = 110 }
sex = { type = "text", domain = ["F", "M"] }
seen_at = { type = "timestamp", lower = "2025-01-01", upper = "2026-01-01" }
cost = { type = "double", lower = 0, upper = 3000 }
paid = { type = "decimal(10,2)" }
urgent = { type = "boolean" }

[tables.samples]
source = "samples.parquet"
domain = "patient"
unit = { column = "visit_id", references = "visits.visit_id" }
max_groups_per_unit = 3
max_rows_per_group = 3
[tables.samples.columns]
visit_id = { type = "bigint" }
"Result Code" = { type = "smallint" }
taken = { type = "date" }

[tables.departments]
source = "departments.csv"
public = true
[tables.departments.columns]
name = { type = "text" }
floor = { type = "integer" }

[views.recent]
sql = "SELECT department, cost FROM visits"
`

func session(t testing.TB) Session {
	t.Helper()
	c, err := catalog.Parse("discreet.toml", clinic)
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return Session{Catalog: c, Account: "test", Database: "discreet", Now: day, Started: day, Process: 7,
		Views: map[string][]Field{"recent": {{Name: "department", Type: sqltype.Of(sqltype.Text)}, {Name: "cost", Type: sqltype.Of(sqltype.Double)}}},
		Service: []Relation{{Name: "budget", Comment: "what is left", Fields: []Field{
			{Name: "domain", Type: sqltype.Of(sqltype.Text)}, {Name: "remaining", Type: sqltype.DecimalOf(38, 18)}}}}}
}

// schema makes in PostgreSQL what the session's catalog declares.
const schema = `
create schema discreet;
create table discreet.budget (domain text, remaining numeric(38,18));
create table visits (patient_id bigint, visit_id bigint primary key, department text, age integer, sex text, seen_at timestamp, cost double precision,
	paid numeric(10,2), urgent boolean);
create table samples (visit_id bigint references visits, "Result Code" smallint, taken date);
create table departments (name text, floor integer);
create view recent as select department, cost from visits;`

// likeOurs takes from a server what system leaves out, so that the rest must be the same: other
// databases, PostgreSQL's own roles, its privileges and comments, what differs by installation,
// and the power of its first account.
const likeOurs = `
drop extension plpgsql;
delete from pg_description where objoid < 16384;
delete from pg_shdescription;
delete from pg_init_privs;
delete from pg_depend;
delete from pg_shdepend;
delete from pg_database where datname <> 'discreet';
update pg_database set datacl = null, datistemplate = false, datfrozenxid = '1', datminmxid = '1';
delete from pg_auth_members;
delete from pg_authid where oid <> 10;
update pg_namespace set nspacl = null, nspowner = 10;
update pg_class set relacl = null, relpages = 0, relallvisible = 0 where oid < 16384;
update pg_class set reltuples = -1 where oid < 16384;
update pg_class set relfrozenxid = '0', relminmxid = '0';
update pg_class set reltoastrelid = 0 where oid >= 16384;
delete from pg_class where relnamespace = 99 and oid >= 16384;
update pg_attribute set attacl = null;
update pg_proc set proacl = null;
update pg_proc set prosrc = '' where prolang = 12;
update pg_type set typacl = null, typdefault = null, typdefaultbin = null;
update pg_language set lanacl = null;
update pg_tablespace set spcacl = null;

update pg_index set indpred = null, indexprs = null;
delete from pg_collation where not (oid < 1000 or collname = 'C.UTF-8' or collname = 'ucs_basic');
update pg_collation set collversion = null;
delete from pg_ts_config where cfgname not in ('simple', 'english');
delete from pg_ts_dict where dictname not in ('simple', 'english_stem');
delete from pg_trigger;
update pg_class set relhastriggers = false;`

// powerless takes the power of the server's first account, which is the last thing that it may do.
const powerless = `update pg_authid set rolsuper = false, rolcreaterole = false, rolcreatedb = false, rolreplication = false, rolbypassrls = false, rolpassword = null`

// oracle starts a server that holds what the session declares, and connects to it.
func oracle(t testing.TB, s Session) *pgx.Conn {
	t.Helper()
	ctx := context.Background()
	address := postgrestest.Start(t)
	first, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Exec(ctx, "create database discreet"); err != nil {
		t.Fatal(err)
	}
	first.Close(ctx)
	conn, err := pgx.Connect(ctx, strings.Replace(address, "dbname=postgres", "dbname=discreet", 1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(ctx) })
	run := func(sql string) {
		if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	run(schema)
	run(likeOurs)
	// The comments are ours: what they say is no question to PostgreSQL.
	comments, err := New().Query(ctx, s, `select n.nspname || '.' || quote_ident(c.relname), d.objsubid, d.description, n.nspname, d.classoid
		from pg_description d left join pg_class c on c.oid = d.objoid left join pg_namespace n on n.oid = coalesce(c.relnamespace, d.objoid)`, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range comments.Rows {
		object := fmt.Sprintf("'%s'::regnamespace", *row[3])
		if row[0] != nil {
			object = fmt.Sprintf("'%s'::regclass", *row[0])
		}
		run(fmt.Sprintf("insert into pg_description values (%s, %s, %s, '%s')", object, *row[4], *row[1], strings.ReplaceAll(*row[2], "'", "''")))
	}
	run(powerless)
	return conn
}

// A recorded statement is one that a client sent.
type recorded struct {
	file, source, sql string
	parameters        []*string
	differs           string // why the rows are not PostgreSQL's
}

// recordings reads testdata/*.sql: comments with the source, the parameters and what differs,
// a statement, a line with a semicolon.
func recordings(t testing.TB) (all []recorded) {
	t.Helper()
	files, _ := filepath.Glob("testdata/*.sql")
	if len(files) == 0 {
		t.Fatal("no recordings")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(text), "\n;\n") {
			r := recorded{file: filepath.Base(file)}
			lines := strings.Split(part, "\n")
			for len(lines) > 0 && strings.HasPrefix(lines[0], "-- ") {
				line := lines[0][3:]
				lines = lines[1:]
				switch {
				case line == "$ NULL":
					r.parameters = append(r.parameters, nil)
				case strings.HasPrefix(line, "$ '"):
					v := strings.ReplaceAll(line[3:], `\n`, "\n")
					r.parameters = append(r.parameters, &v)
				case strings.HasPrefix(line, "differs: "):
					r.differs = line[9:]
				default:
					r.source = line
				}
			}
			if r.sql = strings.TrimSpace(strings.Join(lines, "\n")); r.sql != "" {
				all = append(all, r)
			}
		}
	}
	return all
}

// differing are the statements of which the rows are not PostgreSQL's, and why.
var differing = []struct{ part, why string }{
	{"version()", "who it is"},
	{"set_config('jit'", "the server of the test has options"},
	{"'jit'", "the server of the test has options"},
	{"pg_get_viewdef", "a view is shown as its owner wrote it"},
	{"pg_tablespace_size", "sizes are not told"},
	{"pg_database_size", "sizes are not told"},
	{"pg_table_size", "sizes are not told"},
	{"ts_token_type", "the parser of full text search is not there"},
	{"pg_get_functiondef", "functions have no text"},
	{"boot_val", "the server of the test has options"},
	{"* FROM pg_catalog.pg_settings", "settings have no descriptions"},
	{"c.oid,c.*,d.description", "ages of rows"},
	{"pg_relation_size", "sizes are not told"},
	{"has_any_column_privilege", "the account may read, and do nothing else"},
	{"n_live_tup", "there are no statistics"},
	{"proargdefaults", "the defaults of functions have no text"},
	{"pg_get_function_arguments", "the defaults of functions have no text"},
	{"pg_catalog.current_setting(s.name)", "the server of the test has options"},
	{"pg_available_extensions", "there are none"},
	{"pg_rules", "PostgreSQL's own rules have no text"},
	{"pg_cursors", "the portal of the question itself"},
	{"string_agg(pg_catalog.format_type(oc.opcintype, NULL), ', ')", "an order that PostgreSQL leaves open"},
}

// unordered are statements that take some of many rows, in an order that PostgreSQL leaves open.
var unordered = regexp.MustCompile(`(?is)LIMIT 1000$`)

// A side is one of the two that are compared: it answers, and knows the numbers of objects.
type side struct {
	answer  func(sql string, parameters []*string) (columns []string, rows [][]string, err error)
	numbers map[string]string // of objects by name
	names   map[string]string // the reverse
}

const objects = `select 'relation ' || n.nspname || '.' || c.relname, c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid >= 16384
	union all select 'type ' || n.nspname || '.' || t.typname, t.oid from pg_type t join pg_namespace n on n.oid = t.typnamespace where t.oid >= 16384
	union all select 'constraint ' || conname, oid from pg_constraint where oid >= 16384
	union all select 'namespace ' || nspname, oid from pg_namespace where oid >= 16384
	union all select 'rule ' || ev_class::regclass::text, oid from pg_rewrite where oid >= 16384
	union all select 'database', oid from pg_database`

func (s *side) learn(t testing.TB) {
	t.Helper()
	_, rows, err := s.answer(objects, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.numbers, s.names = map[string]string{}, map[string]string{}
	for _, row := range rows {
		s.numbers[row[0]] = row[1]
		s.names[row[1]] = "{" + row[0] + "}"
	}
}

var (
	ordered     = regexp.MustCompile(`(?is)order\s+by[^()]*$`)
	placeholder = regexp.MustCompile(`\{([a-z_."A-Z ]+)\}`)
	digits      = regexp.MustCompile(`\d+`)
)

// fill puts numbers for the names of relations.
func (s *side) fill(t testing.TB, text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(m string) string {
		name := m[1 : len(m)-1]
		for _, kind := range []string{"relation public.", "relation ", "type public.", "constraint ", "namespace "} {
			if n := s.numbers[kind+name]; n != "" {
				return n
			}
		}
		t.Errorf("there is no %s", m)
		return m
	})
}

// run answers a statement with the numbers of declared objects replaced by their names.
func (s *side) run(t testing.TB, r recorded) ([]string, [][]string, error) {
	var parameters []*string
	for _, p := range r.parameters {
		if p != nil {
			v := s.fill(t, *p)
			p = &v
		}
		parameters = append(parameters, p)
	}
	columns, rows, err := s.answer(s.fill(t, r.sql), parameters)
	for _, row := range rows {
		for i := range row {
			row[i] = digits.ReplaceAllStringFunc(row[i], func(n string) string {
				if name := s.names[n]; name != "" && len(n) > 1 {
					return name
				}
				return n
			})
		}
	}
	return columns, rows, err
}

func ours(s Session) *side {
	server := New()
	answer := func(sql string, parameters []*string) (columns []string, rows [][]string, err error) {
		var list []Parameter
		for _, p := range parameters {
			list = append(list, Parameter{Value: p})
		}
		result, err := server.Query(context.Background(), s, sql, list)
		if err != nil {
			return nil, nil, err
		}
		for _, c := range result.Columns {
			columns = append(columns, fmt.Sprintf("%s %d(%d)", c.Name, c.Type, c.Modifier))
		}
		for _, row := range result.Rows {
			var values []string
			for _, v := range row {
				if v == nil {
					values = append(values, null)
				} else {
					values = append(values, *v)
				}
			}
			rows = append(rows, values)
		}
		return columns, rows, nil
	}
	return &side{answer: answer}
}

func postgres(conn *pgx.Conn) *side {
	answer := func(sql string, parameters []*string) (columns []string, rows [][]string, err error) {
		var values [][]byte
		for _, p := range parameters {
			if p == nil {
				values = append(values, nil)
			} else {
				values = append(values, []byte(*p))
			}
		}
		ctx := context.Background()
		// What a statement sets is taken back.
		if _, err := conn.Exec(ctx, "begin"); err != nil {
			return nil, nil, err
		}
		defer func() { _, _ = conn.Exec(ctx, "rollback") }()
		result := conn.PgConn().ExecParams(ctx, sql, values, nil, nil, nil)
		for _, f := range result.FieldDescriptions() {
			columns = append(columns, fmt.Sprintf("%s %d(%d)", f.Name, f.DataTypeOID, f.TypeModifier))
		}
		for result.NextRow() {
			var row []string
			for _, v := range result.Values() {
				if v == nil {
					row = append(row, null)
				} else {
					row = append(row, string(v))
				}
			}
			rows = append(rows, row)
		}
		_, err = result.Close()
		return columns, rows, err
	}
	return &side{answer: answer}
}

// difference says how two answers to a statement are unlike, or "".
func difference(t testing.TB, us, pg *side, r recorded) string {
	columns, rows, err := us.run(t, r)
	theirColumns, theirRows, theirErr := pg.run(t, r)
	var e *Error
	var p *pgconn.PgError
	switch {
	case err == nil && theirErr == nil:
	case errors.As(err, &e) && errors.As(theirErr, &p) && e.SQLState == p.Code:
		return ""
	default:
		return fmt.Sprintf("error: %v; PostgreSQL: %v", err, theirErr)
	}
	for i := range columns { // types that are declared
		for n, name := range us.names {
			columns[i] = strings.ReplaceAll(columns[i], " "+n+"(", " "+name+"(")
		}
	}
	if !slices.Equal(columns, theirColumns) {
		return fmt.Sprintf("columns\n  %v; PostgreSQL:\n  %v", columns, theirColumns)
	}
	if len(rows) == len(theirRows) && len(rows) == 1000 && unordered.MatchString(r.sql) {
		return ""
	}
	lines := func(rows [][]string) (out []string) {
		for _, row := range rows {
			out = append(out, strings.ReplaceAll(strings.Join(row, "\t"), null, "NULL"))
		}
		// The numbers of declared objects are others, and so is the order by them.
		if m := ordered.FindString(r.sql); m == "" || strings.Contains(m, "oid") || strings.Contains(m, "relid") {
			slices.Sort(out)
		}
		return out
	}
	a, b := lines(rows), lines(theirRows)
	if slices.Equal(a, b) {
		return ""
	}
	var lack, more []string
	for _, l := range b {
		if !slices.Contains(a, l) {
			lack = append(lack, l)
		}
	}
	for _, l := range a {
		if !slices.Contains(b, l) {
			more = append(more, l)
		}
	}
	clip := func(list []string) string { return strings.Join(list[:min(len(list), 4)], "\n    ") }
	return fmt.Sprintf("%d rows; PostgreSQL: %d\n  lacking:\n    %s\n  too many:\n    %s", len(a), len(b), clip(lack), clip(more))
}

// TestRecordedStatements holds the answers to what clients sent to those of a PostgreSQL
// server with empty tables of the same shape.
func TestRecordedStatements(t *testing.T) {
	s := session(t)
	us, pg := ours(s), postgres(oracle(t, s))
	us.learn(t)
	pg.learn(t)
	type count struct{ all, same, listed int }
	counts := map[string]*count{}
	total := count{}
	server := New()
	used := map[string]bool{}
	for i, r := range recordings(t) {
		c := counts[r.file]
		if c == nil {
			c = &count{}
			counts[r.file] = c
		}
		c.all++
		total.all++
		if !server.Answers(us.fill(t, r.sql)) {
			t.Errorf("%s %d (%s): it is not taken for a catalog query\n%s", r.file, i, r.source, r.sql)
			continue
		}
		d := difference(t, us, pg, r)
		for _, l := range differing {
			if d != "" && !strings.Contains(d, "columns\n") && !strings.HasPrefix(d, "error: ") && strings.Contains(r.sql, l.part) {
				r.differs, used[l.part] = l.why, true
			}
		}
		switch {
		case d != "" && r.differs == "":
			t.Errorf("%s %d (%s): %s\n%.3000s", r.file, i, r.source, d, r.sql)
		case r.differs != "":
			c.listed++
			total.listed++
		default:
			c.same++
			total.same++
		}
	}
	for _, l := range differing {
		if !used[l.part] {
			t.Errorf("what has %q does not differ", l.part)
		}
	}
	for file, c := range counts {
		t.Logf("%s: %d statements, %d as PostgreSQL answers, %d with listed differences", file, c.all, c.same, c.listed)
	}
	t.Logf("all: %d statements, %d as PostgreSQL answers (%.1f %%), %d with listed differences", total.all, total.same,
		100*float64(total.same)/float64(total.all), total.listed)
	if float64(total.same) < 0.95*float64(total.all) {
		t.Errorf("fewer than 95 %% are answered as PostgreSQL answers")
	}
}
