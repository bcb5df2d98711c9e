//go:build cgo

package render_test

import (
	"database/sql"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"testing"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb/least"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
)

func released(t *testing.T, b *plan.Bounded) engine.Query {
	t.Helper()
	q, err := render.Release(b)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// register makes the functions of a query's other forms known to the database, where it has them.
func register(t *testing.T, db *sql.DB, groups *engine.Least, totals *engine.Totals) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.Raw(func(c any) error { // each says no if its function is known
		if groups != nil {
			_ = least.Register(c.(*duckdb.Conn), least.Shape{Groups: groups.Groups, Values: groups.Values})
		}
		if totals != nil {
			_ = least.Totals{Values: totals.Values, Totals: totals.Totals}.Register(c.(*duckdb.Conn))
		}
		return nil
	})
}

// sortedRows are those of a query, as texts.
func sortedRows(t *testing.T, db *sql.DB, text string, salt int) (rows []string) {
	t.Helper()
	found, err := db.Query("SELECT * FROM (" + strings.NewReplacer("$salt", fmt.Sprint(salt), "$slices", "1", "$slice", "0").Replace(text) + ") AS r ORDER BY ALL")
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for found.Next() {
		row, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range into {
			into[i] = &row[i]
		}
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for i, v := range row {
			if v == nil { // a sum of nothing adds nothing
				row[i] = new(big.Int)
			}
		}
		rows = append(rows, fmt.Sprint(row...))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// namesAreReserved: what a query names for itself is the name of no table. A table of such a name would be read as what is named, private
// rows as public ones among them.
func namesAreReserved(t *testing.T, text string) {
	t.Helper()
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		if !catalog.Reserved(m[1]) {
			t.Fatalf("%s can be the name of a table: %s", m[1], text)
		}
	}
}

var named = regexp.MustCompile(`"?(\w+)"? AS (?:NOT )?(?:MATERIALIZED )?\(SELECT`)
