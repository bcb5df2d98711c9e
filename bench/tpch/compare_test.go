//go:build cgo

package tpch

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/sqltype"
)

//go:embed catalog.toml queries rewritten
var files embed.FS

var tables = []string{"customer", "orders", "lineitem", "part", "supplier", "partsupp", "nation", "region"}

// A question is one of the 22, and, where it is refused, what is asked in its place.
type question struct {
	number            int
	text, replacement string
}

func questions() (all []question, err error) {
	for n := 1; n <= 22; n++ {
		text, err := files.ReadFile(fmt.Sprintf("queries/%02d.sql", n))
		if err != nil {
			return nil, err
		}
		other, err := files.ReadFile(fmt.Sprintf("rewritten/%02d.sql", n))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		all = append(all, question{n, string(text), string(other)})
	}
	return all, nil
}

var (
	data   = flag.String("data", "", "the folder of the Parquet files; an absolute path")
	only   = flag.Int("only", 0, "ask question `N` alone")
	memory = flag.String("memory", "3GB", "what the engine may use")
)

// TestCompare prints the table of docs/tpch.md. It asserts nothing: noise is new each time.
func TestCompare(t *testing.T) {
	if *data == "" {
		t.Skip("skip: -data does not name the folder of TPC-H's Parquet files")
	}
	if err := run(t.Context(), *data, *memory, *only); err != nil {
		t.Fatal(err)
	}
}

func run(ctx context.Context, data, memory string, only int) (err error) {
	all, err := questions()
	if err != nil {
		return err
	}
	declared, err := files.ReadFile("catalog.toml")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "tpch")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	text := string(declared)
	for _, t := range tables {
		path, err := filepath.Abs(filepath.Join(data, t+".parquet"))
		if err != nil {
			return err
		}
		text = strings.Replace(text, fmt.Sprintf("source = %q", t+".parquet"), fmt.Sprintf("source = %q", path), 1)
	}
	path := filepath.Join(dir, "discreet.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	c, err := catalog.Load(path)
	if err != nil {
		return err
	}
	o := duckdb.Options{Memory: memory, Threads: 2, Temp: dir}
	e, err := duckdb.Open(ctx, c, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	plain, err := duckdb.OpenOwner(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plain.Close()) }()
	for _, t := range c.Tables {
		if _, _, err := plain.Rows(ctx, fmt.Sprintf("CREATE VIEW %s AS SELECT * FROM read_parquet('%s')", t.Name, t.Source.Path)); err != nil {
			return err
		}
	}
	l, err := ledger.Create(ctx, filepath.Join(dir, "discreet.ledger"), ledger.Options{Domains: discreet.Budgets(c), Now: time.Now()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	db, err := discreet.Open(ctx, discreet.Config{Catalog: c, Engine: e, Ledger: l})
	if err != nil {
		return err
	}
	fmt.Println("| | Answered | Values | Median error | Largest |\n|---|---|---|---|---|")
	for _, q := range all {
		if only != 0 && q.number != only {
			continue
		}
		asked := q.text
		line, code := "yes", verdict(ctx, db, q.text)
		if code != "" {
			line, asked = code+"; in its place", q.replacement
		}
		result, err := compare(ctx, db, plain, asked)
		if err != nil {
			return fmt.Errorf("question %d: %w", q.number, err)
		}
		fmt.Printf("| %d | %s | %s |\n", q.number, line, result)
	}
	return nil
}

// verdict is the code of the refusal, or "".
func verdict(ctx context.Context, db *discreet.Database, sql string) string {
	_, err := db.Explain(ctx, sql, nil)
	var r *discreet.Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	return ""
}

// compare answers a statement and tells the errors of its noisy values, beside the engine's own.
func compare(ctx context.Context, db *discreet.Database, plain engine.Owner, sql string) (string, error) {
	a, err := db.Query(ctx, sql, nil)
	if err != nil {
		return "", err
	}
	_, truth, err := plain.Rows(ctx, "SELECT COLUMNS(*)::VARCHAR FROM ("+sql+") AS q")
	if err != nil {
		return "", err
	}
	noisy := slices.ContainsFunc(a.Columns, func(c discreet.Column) bool { return c.Noisy })
	exact := map[string][]any{}
	for _, row := range truth {
		exact[key(a.Columns, func(i int) string { return fmt.Sprint(row[i]) })] = row
	}
	var relative []float64
	missing := 0
	for _, row := range a.Rows {
		like, ok := exact[key(a.Columns, func(i int) string { return sqltype.Format(row[i]) })]
		if !ok {
			missing++
			continue
		}
		for i, c := range a.Columns {
			if !c.Noisy || row[i] == nil || like[i] == nil {
				continue
			}
			x, err := strconv.ParseFloat(sqltype.Format(row[i]), 64)
			if err != nil {
				return "", err
			}
			y, err := strconv.ParseFloat(fmt.Sprint(like[i]), 64)
			if err != nil {
				return "", err
			}
			if y != 0 {
				relative = append(relative, math.Abs(x/y-1))
			}
		}
	}
	if !noisy {
		return fmt.Sprintf("%d rows of %d are the same | |", len(a.Rows)-missing, len(truth)), nil
	}
	if len(relative) == 0 {
		return fmt.Sprintf("%d shown, none of DuckDB's %d | |", len(a.Rows), len(truth)), nil
	}
	slices.Sort(relative)
	return fmt.Sprintf("%d | %s | %s", len(relative), percent(relative[len(relative)/2]), percent(relative[len(relative)-1])), nil
}

// key joins the values of a row that have no noise.
func key(columns []discreet.Column, value func(int) string) string {
	var parts []string
	for i, c := range columns {
		if !c.Noisy {
			v := value(i)
			if f, err := strconv.ParseFloat(v, 64); err == nil {
				v = fmt.Sprint(f)
			}
			parts = append(parts, v)
		}
	}
	return strings.Join(parts, "\x00")
}

func percent(x float64) string {
	if x >= 10 {
		return fmt.Sprintf("%.0f times", x)
	}
	return strconv.FormatFloat(100*x, 'g', 2, 64) + " %"
}
