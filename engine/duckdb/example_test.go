//go:build cgo

package duckdb_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
)

// An engine reads the files that a catalog names. Exact values leave it as a redaction.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "clinic")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "wards.csv"), []byte("name\nER\nICU\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	c, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), `
[tables.wards]
source = "wards.csv"
public = true
[tables.wards.columns]
name = { type = "text" }
`)
	if err != nil {
		log.Fatal(err)
	}
	e, err := duckdb.Open(ctx, c, duckdb.Options{Memory: "500MB", Threads: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()

	_, rows, err := e.Public(ctx, "wards")
	fmt.Println(rows, err)
	n, err := e.Exact(ctx, engine.Query{SQL: "SELECT count(*)::decimal(38, 0) FROM wards", Tables: []string{"wards"}, Values: 1})
	fmt.Println(n, err)
	// Output:
	// [[ER] [ICU]] <nil>
	// [exact values withheld] <nil>
}
