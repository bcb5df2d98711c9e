//go:build cgo && linux

package scale

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/engine/postgres"
	"github.com/discreet-dp/discreet/internal/postgrestest"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// BenchmarkAdded asks for counts of 10,000 rows by group, with a durable reservation and a
// durable commit, and the server for the same without privacy, by turns. added-ms is the
// difference of the medians.
func BenchmarkAdded(b *testing.B) {
	url := postgrestest.Start(b, "fsync=on", "max_connections=20")
	admin, err := pgconn.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { admin.Close(context.Background()) })
	exec(b, admin, "CREATE TABLE t AS SELECT n / 10 AS unit, 'group' || n % 20 AS g, n % 5000 * 1.0::float8 AS x FROM generate_series(1, 10000) AS n")
	exec(b, admin, "ALTER TABLE t ALTER unit TYPE bigint")
	exec(b, admin, "VACUUM ANALYZE t")
	for _, where := range []string{"file", "same server"} {
		b.Run("ledger="+where, func(b *testing.B) {
			c, err := catalog.Parse("discreet.toml", fmt.Sprintf(declared, 20, 4, groups()))
			if err != nil {
				b.Fatal(err)
			}
			post, err := duckdb.Open(b.Context(), &catalog.Catalog{}, duckdb.Options{})
			if err != nil {
				b.Fatal(err)
			}
			e, err := postgres.Open(b.Context(), c, postgres.Options{URL: url, Connections: 1, Post: post}) // which it closes
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { e.Close() })
			o := ledger.Options{Domains: discreet.Budgets(c), Anchor: filepath.Join(b.TempDir(), "head"), Now: time.Now()}
			place := filepath.Join(b.TempDir(), "ledger")
			if where != "file" {
				config, err := pgconn.ParseConfig(url)
				if err != nil {
					b.Fatal(err)
				}
				exec(b, admin, "DROP DATABASE IF EXISTS books WITH (FORCE)")
				exec(b, admin, "CREATE DATABASE books")
				place = fmt.Sprintf("postgres://%s@/books?host=%s", config.User, config.Host)
			}
			l, err := ledger.Create(b.Context(), place, o)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { l.Close() })
			db, err := discreet.Open(b.Context(), discreet.Config{Catalog: c, Engine: e, Ledger: l})
			if err != nil {
				b.Fatal(err)
			}
			rho, err := privacy.ParseRho("1e-9")
			if err != nil {
				b.Fatal(err)
			}
			var ours, theirs []time.Duration
			for i := range b.N + 1 {
				began := time.Now()
				exec(b, admin, "SELECT g, count(*) FROM t GROUP BY g")
				between := time.Now()
				if _, err := db.Query(b.Context(), "SELECT g, count(*) FROM t GROUP BY g", &discreet.QueryOptions{Spend: discreet.Spend{Rho: rho}, Analyst: "ada"}); err != nil {
					b.Fatal(err)
				}
				if i > 0 { // what is prepared once is
					theirs, ours = append(theirs, between.Sub(began)), append(ours, time.Since(between))
				}
			}
			slices.Sort(ours)
			slices.Sort(theirs)
			plain, answered := theirs[len(theirs)/2], ours[len(ours)/2]
			b.ReportMetric(plain.Seconds()*1000, "plain-p50-ms")
			b.ReportMetric((answered-plain).Seconds()*1000, "added-p50-ms")
		})
	}
}
