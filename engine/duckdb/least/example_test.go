//go:build cgo

package least_test

import (
	"context"
	"database/sql"
	"fmt"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/engine/duckdb/least"
)

// Of the groups that a unit is in, the two with the least codes are kept.
func Example() {
	ctx := context.Background()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	two := least.Shape{Groups: 2, Values: 1}
	if err := conn.Raw(func(c any) error { return least.Register(c.(*duckdb.Conn), two) }); err != nil {
		fmt.Println(err)
		return
	}
	rows, err := conn.QueryContext(ctx, `SELECT h >> 8, h & 255, s0 FROM (SELECT unnest(kept, recursive := true) FROM (
		SELECT unit, `+two.Name()+`(code << 8, value) AS kept FROM (VALUES (1, 9, 70), (1, 5, 20), (1, 7, 3), (1, 5, 22)) AS t(unit, code, value) GROUP BY unit)) ORDER BY h`)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rows.Close()
	for rows.Next() {
		var group, n int64
		var sum any
		if err := rows.Scan(&group, &n, &sum); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("group %d: %d rows, sum %v\n", group, n, sum)
	}
	if err := rows.Err(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// group 5: 2 rows, sum 42
	// group 7: 1 rows, sum 3
}
