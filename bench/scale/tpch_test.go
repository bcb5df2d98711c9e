//go:build cgo && linux

package scale

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/engine/postgres"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/postgrestest"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

var tpch = flag.String("tpch", "", "the folder with TPC-H's tables as Parquet and CSV files (see doc.go)")

// tpchTables are the tables as PostgreSQL has them.
var tpchTables = [][2]string{
	{"region", "r_regionkey bigint, r_name text, r_comment text"},
	{"nation", "n_nationkey bigint, n_name text, n_regionkey bigint, n_comment text"},
	{"supplier", "s_suppkey bigint, s_name text, s_address text, s_nationkey bigint, s_phone text, s_acctbal numeric(15,2), s_comment text"},
	{"part", "p_partkey bigint, p_name text, p_mfgr text, p_brand text, p_type text, p_size integer, p_container text, p_retailprice numeric(15,2), p_comment text"},
	{"customer", "c_custkey bigint, c_name text, c_address text, c_nationkey bigint, c_phone text, c_acctbal numeric(15,2), c_mktsegment text, c_comment text"},
	{"orders", "o_orderkey bigint, o_custkey bigint, o_orderstatus text, o_totalprice numeric(15,2), o_orderdate date, o_orderpriority text, o_clerk text, o_shippriority integer, o_comment text"},
	{"lineitem", "l_orderkey bigint, l_partkey bigint, l_suppkey bigint, l_linenumber integer, l_quantity numeric(15,2), l_extendedprice numeric(15,2), l_discount numeric(15,2), l_tax numeric(15,2), " +
		"l_returnflag text, l_linestatus text, l_shipdate date, l_commitdate date, l_receiptdate date, l_shipinstruct text, l_shipmode text, l_comment text"},
}

// tpchCatalog protects customers, with all that they order.
const tpchCatalog = `
[domains.customer]
measure = "zcdp"
epsilon = 1.0
delta = 1e-7
[tables.customer]
source = "customer"
domain = "customer"
unit = "c_custkey"
max_groups_per_unit = 1
max_rows_per_group = 1
[tables.customer.columns]
c_custkey = { type = "bigint" }
c_nationkey = { type = "bigint" }
c_acctbal = { type = "decimal(15,2)", lower = -999.99, upper = 9999.99 }
c_mktsegment = { type = "text", domain = ["AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"] }
[tables.orders]
source = "orders"
domain = "customer"
unit = "o_custkey"
max_groups_per_unit = 5
max_rows_per_group = 10
[tables.orders.columns]
o_orderkey = { type = "bigint" }
o_custkey = { type = "bigint" }
o_orderstatus = { type = "text", domain = ["F", "O", "P"] }
o_totalprice = { type = "decimal(15,2)", lower = 0, upper = 400000 }
o_orderdate = { type = "date", lower = "1992-01-01", upper = "1998-12-31" }
o_orderpriority = { type = "text", domain = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"] }
[tables.lineitem]
source = "lineitem"
domain = "customer"
unit = { column = "l_orderkey", references = "orders.o_orderkey" }
max_groups_per_unit = 4
max_rows_per_group = 40
[tables.lineitem.columns]
l_orderkey = { type = "bigint" }
l_partkey = { type = "bigint" }
l_suppkey = { type = "bigint" }
l_quantity = { type = "decimal(15,2)", lower = 0, upper = 50 }
l_extendedprice = { type = "decimal(15,2)", lower = 0, upper = 105000 }
l_discount = { type = "decimal(15,2)", lower = 0, upper = 0.1 }
l_tax = { type = "decimal(15,2)", lower = 0, upper = 0.08 }
l_returnflag = { type = "text", domain = ["A", "N", "R"] }
l_linestatus = { type = "text", domain = ["F", "O"] }
l_shipdate = { type = "date", lower = "1992-01-01", upper = "1998-12-31" }
l_commitdate = { type = "date", lower = "1992-01-01", upper = "1998-12-31" }
l_receiptdate = { type = "date", lower = "1992-01-01", upper = "1998-12-31" }
l_shipinstruct = { type = "text" }
l_shipmode = { type = "text", domain = ["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"] }
[tables.part]
source = "part"
public = true
columns = { p_partkey = { type = "bigint" }, p_brand = { type = "text" }, p_type = { type = "text" }, p_size = { type = "integer" }, p_container = { type = "text" } }
[tables.supplier]
source = "supplier"
public = true
columns = { s_suppkey = { type = "bigint" }, s_nationkey = { type = "bigint" } }
[tables.nation]
source = "nation"
public = true
[tables.nation.columns]
n_nationkey = { type = "bigint" }
n_regionkey = { type = "bigint" }
n_name = { type = "text" }
[tables.region]
source = "region"
public = true
columns = { r_regionkey = { type = "bigint" }, r_name = { type = "text" } }
`

// tpchStatements are TPC-H's queries with their default parameters, as far as they ask for
// aggregates over many customers: without lists of single orders and customers, and without ORDER BY, which
// the engine never sees.
var tpchStatements = []struct{ name, sql string }{
	{"q1", `SELECT l_returnflag, l_linestatus, sum(l_quantity) AS q, sum(l_extendedprice) AS p, sum(l_extendedprice * (1 - l_discount)) AS d, sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS c,
		avg(l_quantity) AS aq, avg(l_extendedprice) AS ap, avg(l_discount) AS ad, count(*) AS n FROM lineitem WHERE l_shipdate <= DATE '1998-09-02' GROUP BY l_returnflag, l_linestatus`},
	{"q3 by segment", `SELECT c_mktsegment, sum(l_extendedprice * (1 - l_discount)) AS revenue FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey
		WHERE o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15' GROUP BY c_mktsegment`},
	{"q4", `SELECT o_orderpriority, count(*) AS n FROM orders WHERE o_orderdate >= DATE '1993-07-01' AND o_orderdate < DATE '1993-10-01' AND EXISTS (SELECT 1 FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
		GROUP BY o_orderpriority`},
	{"q5", `SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey JOIN supplier ON l_suppkey = s_suppkey AND c_nationkey = s_nationkey
		JOIN nation ON s_nationkey = n_nationkey JOIN region ON n_regionkey = r_regionkey WHERE r_name = 'ASIA' AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1995-01-01' GROUP BY n_name`},
	{"q6", `SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24`},
	{"q7", `SELECT n_name, extract(year FROM l_shipdate) AS l_year, sum(l_extendedprice * (1 - l_discount)) AS revenue FROM lineitem JOIN supplier ON s_suppkey = l_suppkey JOIN nation ON s_nationkey = n_nationkey
		WHERE n_name IN ('FRANCE', 'GERMANY') AND l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31' GROUP BY n_name, l_year`},
	{"q10 by nation", `SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey JOIN nation ON c_nationkey = n_nationkey
		WHERE o_orderdate >= DATE '1993-10-01' AND o_orderdate < DATE '1994-01-01' AND l_returnflag = 'R' GROUP BY n_name`},
	{"q12", `SELECT l_shipmode, sum(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS high, sum(CASE WHEN o_orderpriority NOT IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS low
		FROM orders JOIN lineitem ON o_orderkey = l_orderkey WHERE l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate AND l_receiptdate >= DATE '1994-01-01' AND l_receiptdate < DATE '1995-01-01' GROUP BY l_shipmode`},
	{"q13", `SELECT n, count(*) AS customers FROM (SELECT c_custkey, CASE WHEN count(o_orderkey) > 50 THEN 50 ELSE count(o_orderkey) END AS n FROM customer LEFT JOIN orders ON c_custkey = o_custkey GROUP BY c_custkey) AS c GROUP BY n`},
	{"q14", `SELECT 100.0 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END) / sum(l_extendedprice * (1 - l_discount)) AS promo FROM lineitem JOIN part ON l_partkey = p_partkey
		WHERE l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-10-01'`},
	{"q19", `SELECT sum(l_extendedprice * (1 - l_discount)) AS revenue FROM lineitem JOIN part ON p_partkey = l_partkey WHERE l_shipmode IN ('AIR', 'REG AIR') AND l_shipinstruct = 'DELIVER IN PERSON' AND (
		p_brand = 'Brand#12' AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG') AND l_quantity BETWEEN 1 AND 11 AND p_size BETWEEN 1 AND 5
		OR p_brand = 'Brand#23' AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK') AND l_quantity BETWEEN 10 AND 20 AND p_size BETWEEN 1 AND 10
		OR p_brand = 'Brand#34' AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG') AND l_quantity BETWEEN 20 AND 30 AND p_size BETWEEN 1 AND 15)`},
	{"q22 by segment", `SELECT c_mktsegment, count(*) AS n, sum(c_acctbal) AS balance FROM customer WHERE c_acctbal > 0 GROUP BY c_mktsegment`},
}

// BenchmarkTPCH asks what TPC-H asks of DuckDB and of PostgreSQL: the exact aggregates of each
// release, bounded, and the statement as it is, without privacy. Each engine's metrics are the
// processor time of the statement as it is, and over it that of the releases. Under hashes that all engines share,
// the aggregates must be equal in every bit.
func BenchmarkTPCH(b *testing.B) {
	if *tpch == "" {
		b.Skip("-tpch names no folder of TPC-H's tables")
	}
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
	sources := func(format string) string {
		text := tpchCatalog
		for _, t := range tpchTables {
			text = strings.Replace(text, `source = "`+t[0]+`"`, fmt.Sprintf(`source = %q`, fmt.Sprintf(format, t[0])), 1)
		}
		return text
	}
	files, err := catalog.Parse(filepath.Join(*tpch, "discreet.toml"), sources("%s.parquet"))
	if err != nil {
		b.Fatal(err)
	}
	relations, err := catalog.Parse("discreet.toml", "[engine]\nkind = \"postgres\"\nurl = { env = \"DISCREET_ENGINE\" }\naccept_role = true\n"+sources("public.%s"))
	if err != nil {
		b.Fatal(err)
	}
	o := duckdb.Options{Memory: "1500MB", Threads: 1, Temp: b.TempDir()}
	embedded, err := duckdb.Open(b.Context(), files, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { embedded.Close() })
	plain, err := duckdb.OpenOwner(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { plain.Close() })
	server, err := postgres.Open(b.Context(), relations, postgres.Options{URL: url, Connections: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { server.Close() })

	for _, s := range tpchStatements {
		b.Run(s.name, func(b *testing.B) {
			releases, err := tpchReleases(b.Context(), s.sql, files, embedded)
			var refused *diagnostic.Diagnostic
			if errors.As(err, &refused) {
				b.Skipf("refused: %s %s", refused.Code, refused.Message)
			}
			if err != nil {
				b.Fatal(err)
			}
			var exact [2][][][]sqltype.Value
			for i, e := range []engine.Engine{embedded, server} {
				for _, r := range releases {
					q, err := render.Dialect(e.Dialect()).Compared(r)
					if err != nil {
						b.Fatal(err)
					}
					q.Salt = 7919
					x, err := e.Exact(b.Context(), q)
					if err != nil {
						b.Fatal(cause(err))
					}
					exact[i] = append(exact[i], x.RevealExact())
				}
			}
			groups := 0
			for r := range releases {
				if len(exact[0][r]) != len(exact[1][r]) {
					b.Fatalf("DuckDB has %d groups, PostgreSQL %d", len(exact[0][r]), len(exact[1][r]))
				}
				for i, row := range exact[0][r] {
					groups++
					if a, p := sqltype.Key(row...), sqltype.Key(exact[1][r][i]...); a != p {
						b.Fatalf("DuckDB has %q, PostgreSQL %q", a, p)
					}
				}
			}
			for _, e := range []struct {
				engine.Engine
				name  string
				plain func() error
				used  func() time.Duration
			}{
				{embedded, "duckdb", func() error {
					text := s.sql
					for _, t := range tpchTables {
						text = asFile(text, t[0])
					}
					_, _, err := plain.Rows(b.Context(), text)
					return err
				}, ownTime},
				{server, "postgres", func() error {
					_, err := admin.Exec(b.Context(), s.sql).ReadAll()
					return err
				}, func() time.Duration { return processor(b, admin) }},
			} {
				var ours, theirs time.Duration
				for range b.N {
					before := e.used()
					if err := e.plain(); err != nil {
						b.Fatal(err)
					}
					between := e.used()
					for _, r := range releases {
						q, err := render.Dialect(e.Dialect()).Release(r)
						if err != nil {
							b.Fatal(err)
						}
						q.Salt = 7919
						if _, err := e.Exact(b.Context(), q); err != nil {
							b.Fatal(cause(err))
						}
					}
					theirs, ours = theirs+between-before, ours+e.used()-between
				}
				b.ReportMetric(theirs.Seconds()*1000/float64(b.N), e.name+"-plain-ms")
				b.ReportMetric(ours.Seconds()/theirs.Seconds(), e.name+"-ratio")
			}
			b.ReportMetric(float64(groups), "groups")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// asFile reads a table of a statement from its file.
func asFile(sql, table string) string {
	sql += " "
	for _, before := range []string{"FROM ", "JOIN "} {
		for _, after := range []string{" ", ")", "\n", "\t"} {
			sql = strings.ReplaceAll(sql, before+table+after, fmt.Sprintf("%sread_parquet('%s') AS %s%s", before, filepath.Join(*tpch, table+".parquet"), table, after))
		}
	}
	return sql
}

// tpchReleases are what an engine is asked for a statement.
func tpchReleases(ctx context.Context, sql string, c *catalog.Catalog, e engine.Engine) (all []*plan.Bounded, err error) {
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
		if !rewrite.Summed(r) {
			return nil, fmt.Errorf("a release is not summed")
		}
		all = append(all, rewrite.Release(r, values))
	}
	return all, nil
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
