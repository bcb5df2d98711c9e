//go:build cgo && linux

package scale

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/engine/postgres"
	"github.com/discreet-dp/discreet/engine/trino"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/postgrestest"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/internal/trinotest"
	"github.com/discreet-dp/discreet/sqltype"
)

var (
	tpch      = flag.String("tpch", "", "the folder with TPC-H's tables as Parquet and CSV files (see doc.go)")
	tpchScale = flag.String("tpch-scale", "0.1", "the scale of these, for Trino")
	prepared  = flag.Bool("prepared", false, "let DuckDB read copies of the tables, as discreet prepare makes them")
	own       = flag.Bool("own", false, "let DuckDB without privacy read tables in a file of its own, and not the Parquet files")
	asked     = flag.String("engines", "duckdb,postgres", "whom BenchmarkTPCH asks, of duckdb, postgres and trino")
)

// plainLimit is how long a statement without privacy may take in PostgreSQL, which runs q20's correlated subquery
// anew for each row: there is no index that would help.
const plainLimit = "2min"

// tpchTables are the tables as PostgreSQL has them.
var tpchTables = [][2]string{
	{"region", "r_regionkey bigint, r_name text, r_comment text"},
	{"nation", "n_nationkey bigint, n_name text, n_regionkey bigint, n_comment text"},
	{"supplier", "s_suppkey bigint, s_name text, s_address text, s_nationkey bigint, s_phone text, s_acctbal numeric(15,2), s_comment text"},
	{"part", "p_partkey bigint, p_name text, p_mfgr text, p_brand text, p_type text, p_size integer, p_container text, p_retailprice numeric(15,2), p_comment text"},
	{"customer", "c_custkey bigint, c_name text, c_address text, c_nationkey bigint, c_phone text, c_acctbal numeric(15,2), c_mktsegment text, c_comment text"},
	{"orders", "o_orderkey bigint, o_custkey bigint, o_orderstatus text, o_totalprice numeric(15,2), o_orderdate date, o_orderpriority text, o_clerk text, o_shippriority integer, o_comment text"},
	{"partsupp", "ps_partkey bigint, ps_suppkey bigint, ps_availqty integer, ps_supplycost numeric(15,2), ps_comment text"},
	{"lineitem", "l_orderkey bigint, l_partkey bigint, l_suppkey bigint, l_linenumber integer, l_quantity numeric(15,2), l_extendedprice numeric(15,2), l_discount numeric(15,2), l_tax numeric(15,2), " +
		"l_returnflag text, l_linestatus text, l_shipdate date, l_commitdate date, l_receiptdate date, l_shipinstruct text, l_shipmode text, l_comment text"},
}

// BenchmarkTPCH asks the 22 questions of TPC-H, as bench/tpch has them with its catalog, of DuckDB, of
// PostgreSQL and of a lone Trino, as -engines says: the exact aggregates of each release, bounded, and
// the statement as it is, without privacy. Where a question is refused, the one in its place is asked. Each
// engine's metrics are the processor time of the statement as it is, and over it that of the
// releases: of each the least of two runs. Under hashes that all engines share, the aggregates must
// be equal in every bit. What a release reads of an earlier one is made up, the same for all engines.
func BenchmarkTPCH(b *testing.B) {
	if *tpch == "" {
		b.Skip("-tpch names no folder of TPC-H's tables")
	}
	var engines []*compared
	for name := range strings.SplitSeq(*asked, ",") {
		open, ok := map[string]func(*testing.B) *compared{"duckdb": tpchDuckDB, "postgres": tpchPostgres, "trino": tpchTrino}[name]
		if !ok {
			b.Fatalf("there is no engine %q", name)
		}
		engines = append(engines, open(b))
	}
	for n := 1; n <= 22; n++ {
		b.Run(fmt.Sprintf("q%d", n), func(b *testing.B) {
			var releases []tpchRelease
			var text string
			for _, folder := range []string{"queries", "rewritten"} {
				said, err := os.ReadFile(fmt.Sprintf("../tpch/%s/%02d.sql", folder, n))
				if err != nil {
					b.Fatal(err)
				}
				text = string(said)
				releases, err = tpchReleases(b.Context(), text, engines[0].catalog, engines[0])
				var refused *diagnostic.Diagnostic
				if folder == "queries" && errors.As(err, &refused) {
					continue
				}
				if err != nil {
					b.Fatal(err)
				}
				break
			}
			if len(releases) == 0 {
				b.Skip("it reads public tables alone")
			}
			groups := 0
			for _, r := range releases {
				var exact [][][]sqltype.Value
				for _, e := range engines {
					rows, err := e.exactly(b.Context(), r, true)
					if err != nil {
						b.Fatal(e.name, cause(err))
					}
					exact = append(exact, rows)
				}
				groups += len(exact[0])
				for i, e := range engines[1:] {
					if len(exact[0]) != len(exact[1+i]) {
						b.Fatalf("%s has %d groups, %s %d", engines[0].name, len(exact[0]), e.name, len(exact[1+i]))
					}
					for j, row := range exact[0] {
						if want, got := sqltype.Key(row...), sqltype.Key(exact[1+i][j]...); want != got {
							b.Fatalf("%s has %q, %s %q", engines[0].name, want, e.name, got)
						}
					}
				}
			}
			for _, e := range engines {
				theirs, ours := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
				late := false
				for range 2 {
					took := time.Duration(0)
					if !late {
						var err error
						took, err = e.spent("plain", func() error { return e.plain(text) })
						var ended *pgconn.PgError
						if late = errors.As(err, &ended) && ended.Code == "57014"; err != nil && !late {
							b.Fatal(e.name, err)
						}
						theirs = min(theirs, took)
					}
					took = 0
					for _, r := range releases {
						one, err := e.spent("q(o0", func() error { _, err := e.exactly(b.Context(), r, false); return err })
						if err != nil {
							b.Fatal(e.name, cause(err))
						}
						took += one
					}
					ours = min(ours, took)
				}
				if late {
					b.Logf("%s does not answer without privacy within %s", e.name, plainLimit)
					b.ReportMetric(ours.Seconds()*1000, e.name+"-ms")
					continue
				}
				b.ReportMetric(theirs.Seconds()*1000, e.name+"-plain-ms")
				b.ReportMetric(ours.Seconds()/theirs.Seconds(), e.name+"-ratio")
			}
			b.ReportMetric(float64(groups), "groups")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// constantDates computes dates to which an interval is added or from which it is taken: Trino does not
// read PostgreSQL's intervals.
func constantDates(sql string) string {
	added := regexp.MustCompile(`DATE '([0-9-]+)' ([-+]) INTERVAL '([0-9]+) (day|month|year)s?'`)
	return added.ReplaceAllStringFunc(sql, func(text string) string {
		m := added.FindStringSubmatch(text)
		date, err := time.Parse(time.DateOnly, m[1])
		n, wrong := strconv.Atoi(m[2] + m[3])
		if err != nil || wrong != nil {
			return text
		}
		by := map[string][3]int{"day": {0, 0, n}, "month": {0, n, 0}, "year": {n, 0, 0}}[m[4]]
		return "DATE '" + date.AddDate(by[0], by[1], by[2]).Format(time.DateOnly) + "'"
	})
}

// A compared engine has TPC-H's tables.
type compared struct {
	engine.Engine
	name    string
	catalog *catalog.Catalog
	plain   func(sql string) error
	// spent is the processor time that a statement with a mark in its text takes.
	spent func(mark string, run func() error) (time.Duration, error)
}

// exactly asks for a release.
func (e *compared) exactly(ctx context.Context, r tpchRelease, shared bool) ([][]sqltype.Value, error) {
	dialect := render.Dialect(e.Dialect())
	q, err := dialect.ReleaseOver(r.bounded, r.stages)
	if shared {
		q, err = dialect.ComparedOver(r.bounded, r.stages)
	}
	if err != nil {
		return nil, err
	}
	q.Salt = 7919
	x, err := e.Exact(ctx, q)
	if err != nil {
		return nil, err
	}
	return x.RevealExact(), nil
}

// tpchCatalog is the catalog of bench/tpch over an engine's tables.
func tpchCatalog(b *testing.B, header, format string) *catalog.Catalog {
	said, err := os.ReadFile("../tpch/catalog.toml")
	if err != nil {
		b.Fatal(err)
	}
	text := string(said)
	for _, t := range tpchTables {
		text = strings.Replace(text, fmt.Sprintf("source = %q", t[0]+".parquet"), fmt.Sprintf("source = %q", fmt.Sprintf(format, t[0])), 1)
	}
	c, err := catalog.Parse(filepath.Join(*tpch, "discreet.toml"), header+text)
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// between is what a clock of processor time has counted while something ran.
func between(clock func() time.Duration) func(string, func() error) (time.Duration, error) {
	return func(_ string, run func() error) (time.Duration, error) {
		before := clock()
		err := run()
		return max(clock()-before, time.Millisecond), err
	}
}

func tpchDuckDB(b *testing.B) *compared {
	c := tpchCatalog(b, "", "%s.parquet")
	o := duckdb.Options{Memory: "1500MB", Threads: 1, Temp: b.TempDir()}
	of := o
	if *prepared {
		of.Lazy, of.Copies = true, filepath.Join(b.TempDir(), "copies")
	}
	e, err := duckdb.Open(b.Context(), c, of)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close() })
	for _, t := range c.Tables {
		if *prepared {
			if _, err := e.MakeCopy(b.Context(), t.Name); err != nil {
				b.Fatal(err)
			}
		}
	}
	plain, err := duckdb.OpenOwner(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { plain.Close() })
	run := func(format string, args ...any) {
		if _, _, err := plain.Rows(b.Context(), fmt.Sprintf(format, args...)); err != nil {
			b.Fatal(err)
		}
	}
	if *own {
		run("ATTACH '%s' AS own", filepath.Join(b.TempDir(), "plain.duckdb"))
	}
	for _, t := range tpchTables {
		from := fmt.Sprintf("read_parquet('%s')", filepath.Join(*tpch, t[0]+".parquet"))
		if *own {
			run("CREATE TABLE own.%s AS FROM %s", t[0], from)
			from = "own." + t[0]
		}
		run("CREATE VIEW %s AS SELECT * FROM %s", t[0], from)
	}
	return &compared{e, "duckdb", c, func(sql string) error { _, _, err := plain.Rows(b.Context(), sql); return err }, between(ownTime)}
}

func tpchPostgres(b *testing.B) *compared {
	url := postgrestest.Start(b, "max_parallel_workers_per_gather=0", "work_mem=256MB", "shared_buffers=256MB", "maintenance_work_mem=256MB", "max_wal_size=4GB")
	admin, err := pgconn.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { admin.Close(context.Background()) })
	for _, t := range tpchTables {
		exec(b, admin, "CREATE UNLOGGED TABLE "+t[0]+" ("+t[1]+")")
		f, err := os.Open(filepath.Join(*tpch, t[0]+".csv"))
		if err != nil {
			b.Fatal(err)
		}
		_, err = admin.CopyFrom(b.Context(), f, "COPY "+t[0]+" FROM STDIN (FORMAT csv, HEADER)")
		f.Close()
		if err != nil {
			b.Fatal(err)
		}
	}
	exec(b, admin, "VACUUM ANALYZE")
	exec(b, admin, "SET enable_nestloop = off") // as the adapter sets it
	exec(b, admin, "SET statement_timeout = '"+plainLimit+"'")
	c := tpchCatalog(b, "[engine]\nkind = \"postgres\"\nurl = { env = \"DISCREET_ENGINE\" }\naccept_role = true\n", "public.%s")
	e, err := postgres.Open(b.Context(), c, postgres.Options{URL: url, Connections: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close() })
	return &compared{e, "postgres", c, func(sql string) error { _, err := admin.Exec(b.Context(), sql).ReadAll(); return err }, between(func() time.Duration { return processor(b, admin) })}
}

// tpchTrino has the tables that the cluster itself generates, of the same scale.
func tpchTrino(b *testing.B) *compared {
	cluster := trinotest.StartCluster(b, trinotest.Options{Heap: *heap, Catalogs: map[string]map[string]string{"tpch": {"connector.name": "tpch", "tpch.double-type-mapping": "DECIMAL", "tpch.column-naming": "STANDARD"}}})
	schema := cluster.Schema(b)
	for _, t := range tpchTables {
		cluster.Exec(b, fmt.Sprintf("CREATE TABLE %s.%s AS SELECT * FROM tpch.%q.%s", schema, t[0], "sf"+*tpchScale, t[0]))
	}
	c := tpchCatalog(b, "[engine]\nkind = \"trino\"\nurl = { env = \"DISCREET_ENGINE\" }\naccept_role = true\n", schema+".%s")
	e, err := trino.Open(b.Context(), c, trino.Options{URL: cluster.As("owner"), Connections: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close() })
	asked := 0
	plain := func(sql string) error {
		asked++
		sql = constantDates(sql)
		for _, t := range tpchTables {
			sql = regexp.MustCompile(`((?:FROM|JOIN|,)\s+)`+t[0]+`\b`).ReplaceAllString(sql, "${1}"+schema+"."+t[0])
		}
		_, err := cluster.Query(fmt.Sprintf("%s\n-- plain %d", strings.TrimRight(sql, "; \n"), asked))
		return err
	}
	return &compared{e, "trino", c, plain, func(mark string, run func() error) (time.Duration, error) {
		if err := run(); err != nil {
			return 0, err
		}
		if mark == "plain" {
			mark = fmt.Sprintf("-- plain %d", asked)
		}
		return cluster.WorkOf(b, mark).Processor, nil
	}}
}

// A tpchRelease is what an engine is asked for a release, with what it reads of earlier ones.
type tpchRelease struct {
	bounded *plan.Bounded
	stages  render.Stages
}

// tpchReleases are those of a statement.
func tpchReleases(ctx context.Context, sql string, c *catalog.Catalog, e engine.Engine) (all []tpchRelease, err error) {
	tree, err := sqlparse.Parse(sql)
	if err != nil {
		return nil, err
	}
	bound, err := bind.Statement(tree, c, bind.Parameters{}, nil)
	if err != nil {
		return nil, err
	}
	certificate, err := stability.Analyze(bound)
	if err != nil {
		return nil, err
	}
	for _, r := range certificate.Releases {
		values, err := listed(ctx, r, e)
		if err != nil {
			return nil, err
		}
		stages := render.Stages{}
		for _, i := range stability.StagesOf(r.Input) {
			stages[i] = madeUp(certificate.Stages[i].Plan.Columns(), certificate.Stages[i].One)
		}
		if rewrite.Summed(r) {
			all = append(all, tpchRelease{rewrite.Release(r, values), stages})
		}
		for _, tree := range rewrite.Trees(r, values) {
			all = append(all, tpchRelease{tree, stages})
		}
	}
	return all, nil
}

// madeUp are rows of a stage: numbers that keys and quantities of TPC-H can be.
func madeUp(columns []plan.Column, one bool) (rows [][]sqltype.Value) {
	n := 1000
	if one {
		n = 1
	}
	for i := range n {
		row := make([]sqltype.Value, len(columns))
		for j, c := range columns {
			switch {
			case c.Type.IsInteger():
				row[j] = int64(1 + 7*i)
			case c.Type.IsFloat():
				row[j] = float64(5 + i%7)
			case c.Type.Kind == sqltype.DecimalKind:
				row[j] = sqltype.Decimal{Unscaled: new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Type.Scale)+1), nil), Scale: c.Type.Scale}
			case c.Type.Kind == sqltype.Text:
				row[j] = fmt.Sprintf("Supplier#%09d", 1+i)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// listed are the values of a release's keys.
func listed(ctx context.Context, r *stability.Release, e engine.Engine) ([][]sqltype.Value, error) {
	if r.Private {
		return nil, nil
	}
	var all [][]sqltype.Value
	for _, k := range r.Bounding() {
		var values []sqltype.Value
		for _, d := range k.Domain {
			if d.FromTable == nil {
				values = slices.AppendSeq(values, d.All(k.Expr.Type()))
				continue
			}
			columns, rows, err := e.Public(ctx, d.FromTable.Name)
			if err != nil {
				return nil, err
			}
			at := slices.IndexFunc(columns, func(c engine.Column) bool { return c.Name == d.FromColumn.Name })
			for _, row := range rows {
				values = append(values, row[at])
			}
		}
		slices.SortFunc(values, sqltype.Compare)
		all = append(all, values)
	}
	return all, nil
}

func cause(err error) error {
	var f *engine.Failure
	if errors.As(err, &f) {
		return f.Cause()
	}
	return err
}
