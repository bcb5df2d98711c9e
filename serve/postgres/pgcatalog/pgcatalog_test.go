package pgcatalog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/catalog"
)

// server is shared by tests: it is never written.
var server = New()

func ask(t testing.TB, s Session, sql string) (*Result, error) {
	t.Helper()
	return server.Query(context.Background(), s, sql, nil)
}

// lines writes a result for comparison.
func lines(r *Result) (out []string) {
	for _, row := range r.Rows {
		var values []string
		for _, v := range row {
			if v == nil {
				values = append(values, "NULL")
			} else {
				values = append(values, *v)
			}
		}
		out = append(out, strings.Join(values, "|"))
	}
	return out
}

func TestAnswers(t *testing.T) {
	server := New()
	for sql, want := range map[string]bool{
		"select version()":                                               true,
		"select 1":                                                       true,
		"select $1::bigint + 41":                                         true,
		"select relname from pg_class":                                   true,
		"select * from information_schema.tables":                        true,
		"select * from pg_catalog.pg_class c, pg_attribute":              true,
		"with x as (select 1) select * from x":                           true,
		"select (select count(*) from pg_class)":                         true,
		"values (1), (2)":                                                true,
		"select * from pg_no_such_thing":                                 true, // and then refused as PostgreSQL does
		"select count(*) from visits":                                    false,
		"select count(*) from visits, pg_class":                          false,
		"select 1 where exists (select from visits)":                     false,
		"select * from discreet.budget":                                  true,
		"select * from public.pg_class":                                  false,
		"select (select 1 from visits) from pg_class":                    false,
		"select array(select age from visits)":                           false,
		"select 1 from pg_class order by (select age from visits)":       false,
		"select 1 limit (select age from visits)":                        false,
		"select f(x => (select age from visits))":                        false,
		"select count(*) filter (where (select true from visits))":       false,
		"select rank() over (order by (select age from visits))":         false,
		"with v as (select * from visits) select * from v":               false,
		"select * from generate_series(1, (select age from visits))":     false,
		"select * from pg_class join visits on true":                     false,
		"select 1 union select age from visits":                          false,
		"select case when (select true from visits) then 1 end":          false,
		"select (array[1])[(select age from visits)]":                    false,
		"select 1 in (select age from visits)":                           false,
		"values ((select age from visits))":                              false,
		"insert into pg_class values (1)":                                false,
		"select 1; select 2":                                             false,
		"set x = 1":                                                      false,
		"selec":                                                          false,
		"":                                                               false,
		"select 1 into t":                                                false,
		"select lower(relname) from pg_class group by grouping sets (1)": false,
	} {
		if got := server.Answers(sql); got != want {
			t.Errorf("Answers(%q) = %v", sql, got)
		}
	}
}

// TestUnderstands: a statement that names no relation is understood where each part has PostgreSQL's meaning.
func TestUnderstands(t *testing.T) {
	server := New()
	for sql, want := range map[string]bool{
		"select 1 + 1": true, "select version(), current_schema()": true, "select 'a' || 'b', 2 ^ 3": true, "select count(*), sum(x) from (values (1)) v(x)": true,
		"with v as (select 1 as x) select max(x) from v": true, "select now()": true, "select current_setting('server_version')": true,
		"select stddev(relpages) from pg_class": true, "select date '2024-01-01' + 1, relname from pg_class": true, // nobody else can answer
		"select date '2024-01-01' + 1": false, "select date_trunc('month', now())": false, "select ln(2)": false, "select stddev(x) from (values (1)) v(x)": false,
		"with v as (select 1 as x) select var_pop(x) from v": false, "select timestamptz '2024-01-01 00:00:00Z'": false, "select nothing_known(1)": false,
		"select case when true then interval '1 day' end": false, "select to_date('2024', 'YYYY')": false,
	} {
		if got := server.Understands(sql, nil); got != want {
			t.Errorf("Understands(%q) = %v", sql, got)
		}
	}
}

// A table that the account may not see is not told from one that does not exist. A third of the
// recorded statements is asked, with DISCREET_SOAK all.
func TestWhatIsNotAllowedDoesNotExist(t *testing.T) {
	s := session(t)
	hidden := *s.Catalog
	hidden.Tables = nil
	for _, table := range s.Catalog.Tables {
		if table.Name != "visits" && table.Name != "departments" {
			hidden.Tables = append(hidden.Tables, table)
		}
	}
	never := hidden
	never.Tables = nil
	for _, table := range hidden.Tables { // the same catalog, in which it was never declared
		copied := *table
		never.Tables = append(never.Tables, &copied)
	}
	with, without := s, s
	with.Catalog, without.Catalog = &hidden, &never
	for i, r := range recordings(t) {
		if strings.Contains(r.sql, "{") || i%3 > 0 && os.Getenv("DISCREET_SOAK") == "" {
			continue
		}
		server := &Server{known: server.known} // as New makes, of the system catalog that was read once
		var parameters []Parameter
		for _, p := range r.parameters {
			parameters = append(parameters, Parameter{Value: p})
		}
		a, errA := server.Query(context.Background(), with, r.sql, parameters)
		b, errB := server.Query(context.Background(), without, r.sql, parameters)
		if (errA == nil) != (errB == nil) || errA == nil && strings.Join(lines(a), "\n") != strings.Join(lines(b), "\n") {
			t.Errorf("%s: the answers differ: %v %v", r.sql, errA, errB)
		}
	}
	full, err := ask(t, with, "select * from pg_class c full join pg_attribute a on a.attrelid = c.oid full join pg_constraint k on k.conrelid = c.oid")
	if err != nil {
		t.Fatal(err)
	}
	comments, err := ask(t, with, "select description from pg_description")
	if err != nil {
		t.Fatal(err)
	}
	views, err := ask(t, with, "select relname, pg_get_viewdef(oid) from pg_class where relkind = 'v' and oid > 16384")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(lines(full), "\n") + strings.Join(lines(comments), "\n") + strings.Join(lines(views), "\n")
	for _, name := range []string{"visits", "departments"} {
		if strings.Contains(text, name) {
			t.Errorf("%s is named", name)
		}
	}
	for _, name := range []string{"visits", "nothing"} {
		_, err := ask(t, with, "select '"+name+"'::regclass")
		var e *Error
		if !errors.As(err, &e) || e.SQLState != "42P01" || e.Message != `relation "`+name+`" does not exist` {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Work, memory and texts are bounded: what is hostile is refused soon.
func TestBounds(t *testing.T) {
	rep := strings.Repeat
	for name, sql := range map[string]string{
		"a product of ten":       "select count(*) from pg_attribute a" + rep(", pg_attribute", 9),
		"a product that is kept": "select * from pg_attribute a, pg_attribute b order by 1",
		"a product of series":    "select * from generate_series(1, 100000) a, generate_series(1, 100000) b",
		"a long series":          "select * from generate_series(1, 9223372036854775807)",
		"series side by side":    "select generate_series(1, 1000000000)",
		"no end of recursion":    "with recursive r as (select 1 as n union all select n + 1 from r) select * from r",
		"doubling recursion":     "with recursive r as (select 1 as n union all select n + 1 from r, pg_class) select count(*) from r",
		"long texts":             "select repeat('x', 1000000000)",
		"many texts":             "select repeat('x', 4000000) from pg_class",
		"texts of texts":         "select string_agg(repeat('x', 100000), ',') from pg_attribute",
		"padding":                "select lpad('x', 1000000000)",
		"replacement":            "select replace(repeat('x', 10000), 'x', repeat('y', 10000))",
		"doubling":               "with recursive r as (select 'x' as t, 0 as n union all select t || t, n + 1 from r where n < 60) select max(length(t)) from r",
		"arrays of arrays":       "with recursive r as (select array[1, 2] as a, 0 as n union all select a || a, n + 1 from r where n < 60) select count(*) from r",
		"numbers":                "with recursive r as (select 1.5 as x, 0 as n union all select x * x, n + 1 from r where n < 60) select count(*) from r",
		"correlated subqueries":  "select (select count(*) from pg_attribute b, pg_attribute c where b.attname < a.attname and c.attname > b.attname) from pg_attribute a",
		"patterns":               "select count(*) from pg_attribute a, pg_attribute b where a.attname ~ ('^' || b.attname || '.*.*.*$')",
		"a text at each row":     "with t as (select repeat('x', 4000000) as s) select count(*) from t, pg_attribute where s like '%' || attname",
		"a pattern at each row":  "with t as (select repeat('x', 4000000) as s) select count(*) from t, pg_attribute where s ~ ('x+y' || attname)",
		"a call at each row":     "with t as (select repeat('x', 4000000) as s) select count(*) from t, pg_attribute where length(s || attname) = attnum",
		"an array at each row":   "with t as (select '{' || repeat('1,', 1000000) || '1}' as s) select count(*) from t, pg_attribute where attnum = any (s::int[])",
		"names at each row":      "with t as (select '{' || repeat('pg_class,', 200000) || 'pg_class}' as s) select count(*) from t, pg_attribute where attrelid = any (s::regclass[])",
		"wide rows":              "select " + rep("a.*, ", 60) + "1 from pg_class a",
	} {
		t.Run(name, func(t *testing.T) {
			start := processorTime(t)
			_, err := ask(t, session(t), sql)
			var e *Error
			if !errors.As(err, &e) || e.SQLState != "54000" && e.SQLState != "22003" && e.SQLState != "54011" {
				t.Fatalf("%v", err)
			}
			if d := processorTime(t) - start; d > 20*time.Second {
				t.Errorf("it took %v", d)
			}
		})
	}
}

// processorTime is what this process has had of the processors.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestArgumentsAreReadOnce: however many rows ask for it, a parameter is read once.
func TestArgumentsAreReadOnce(t *testing.T) {
	text := "{1,2,3}"
	q := &query{ctx: t.Context(), database: open(t.Context(), New().known, &Session{}), arguments: []Parameter{{Value: &text}}, cache: map[any]any{}}
	first, ok := q.argument(1, q.arrayOf(oidInt4)).(*array)
	if !ok || q.argument(1, q.arrayOf(oidInt4)) != any(first) {
		t.Error("it is read again")
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := New().Query(ctx, session(t), "select count(*) from pg_attribute a, pg_attribute b", nil)
	var e *Error
	if !errors.As(err, &e) || e.SQLState != "57014" {
		t.Error(err)
	}
}

// An empty catalog has PostgreSQL's own relations, and no table.
func TestEmptyCatalog(t *testing.T) {
	for _, c := range []*catalog.Catalog{nil, {}} {
		r, err := ask(t, Session{Catalog: c, Account: "ada"}, `select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'public'`)
		if err != nil || len(r.Rows) != 0 {
			t.Errorf("%v %v", r, err)
		}
		r, err = ask(t, Session{Catalog: c, Account: "ada"}, `select rolname, pg_get_userbyid(oid) from pg_roles`)
		if err != nil || strings.Join(lines(r), ",") != "ada|ada" {
			t.Errorf("%v %v", r, err)
		}
	}
}

// No text ends the process or keeps it, and none is answered with a fault of the evaluator.
func FuzzQuery(f *testing.F) {
	for _, r := range recordings(f) {
		f.Add(r.sql, "x")
	}
	for _, sql := range []string{
		"select * from pg_class a natural full join pg_type b using (oid)", "select ('{1,2,{3}}'::int[])[1:2]", "select array[array[1],2]",
		"select row_number() over (partition by 1 order by relname) from pg_class", "select (x).* from (select row(1, 'a') as x) y",
		"with recursive a as (select 1 union select * from a) select * from a", "select format('%1$s %2$I %L', 1, 'a b', null)",
		"select substr('abc', -5, 2147483647), lpad('a', -1), split_part('a,b', ',', -9)", "select '9999999999999999999'::int8, -(-9223372036854775808)",
		"select x from unnest(array[1,2], array['a']) as t(x, y)", "select $1 = any($2)", "select interval '1 day', date '2020-01-01'",
	} {
		f.Add(sql, "{1,2}")
	}
	server := New()
	s := session(f)
	f.Fuzz(func(t *testing.T, sql, value string) {
		// What never ends says what it is of. A fuzzer that stands still and prints 0 executions
		// a second is making its findings smaller: give it -fuzzminimizetime 2s.
		defer time.AfterFunc(30*time.Second, func() { panic(fmt.Sprintf("%q with %q does not end", sql, value)) }).Stop()
		server.Answers(sql)
		_, _ = server.Describe(s, sql, nil)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_, err := server.Query(ctx, s, sql, []Parameter{{Value: &value}, {Value: &value}, {}})
		var e *Error
		if errors.As(err, &e) && e.Message == faulty {
			t.Errorf("%q: %v", sql, err)
		}
	})
}
