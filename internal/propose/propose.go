// Package propose writes the catalog that `discreet init` offers to an owner
// who has files and no catalog yet.
//
// It guarantees that the proposal holds nothing of the data but names: of
// tables, columns and types. Never a value, a bound or a count. What depends on
// the data (types guessed from CSV and JSON) or on judgement (unit, bounds,
// domains, budget) is marked with "?", and catalog.Load refuses it until the
// owner has decided. It does not guarantee that a guess is right.
package propose

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/datafile"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/notation"
	"github.com/discreet-dp/discreet/sqltype"
)

// A table is one proposed table.
type table struct {
	name, source string
	columns      []column
	form         notation.Form     // of a CSV file
	said         map[string]string // of its keys
	inside       string            // the table in a DuckDB file
	references   string            // what its unit's column refers to
	holder       string            // what it is of; "" is a file
	remarks      []string          // on the files of a pattern
}

// A column is one column as its file names it.
type column struct {
	name    string
	as      string       // its name in the catalog: the file's, or one that SQL reads without quotes
	typ     sqltype.Type // Null: none that a catalog could declare
	guessed bool         // from the data, not declared by the file
	note    string
	is      string // an expression that makes its values, if the file's are not it

	partition          bool   // its value stands in the names of folders
	once               bool   // it looks like a key, and has each value once
	few                bool   // it looks like a key, and has two values at most in many rows
	refersTo, referred string // the table and column that a foreign key leads to
}

// Catalog returns the text of a catalog at path for the given files: .csv,
// .parquet, .jsonl, .duckdb (all its tables) or FILE.duckdb#TABLE, and for folders and
// patterns, each of which is one table. The owner
// handle is asked for the columns of Parquet and DuckDB files.
func Catalog(ctx context.Context, o engine.Owner, path string, files []string) (string, error) {
	if len(files) == 0 {
		return "", refusal("no files to propose a catalog for").Try("discreet init FILE...")
	}
	var tables []table
	taken := map[string]bool{}
	for _, file := range files {
		found, err := read(ctx, o, file)
		if err != nil {
			return "", err
		}
		for _, t := range found {
			if !exclude(t.columns) {
				return "", refusal("%s has no columns that a catalog could declare", t.source)
			}
			if t.source, err = relative(path, t.source); err != nil {
				return "", err
			}
			t.name = unused(t.name, taken)
			tables = append(tables, t)
		}
	}
	return finish(path, "", tables)
}

// finish writes the proposal.
func finish(path, engine string, tables []table) (string, error) {
	for _, t := range tables {
		rename(t.columns)
	}
	refer(tables)
	text := render(engine, tables)
	// The loader must find nothing but what is undecided.
	var problems diagnostic.List
	if _, err := catalog.Parse(path, text); errors.As(err, &problems) {
		for _, d := range problems {
			if d.Code != "D082" {
				return "", d
			}
		}
	}
	return text, nil
}

// Create writes a proposal to a new file; it never overwrites one.
func Create(path, text string) error {
	f, err := custody.New(path)
	if errors.Is(err, fs.ErrExist) {
		return diagnostic.New("D095", diagnostic.Span{}, "%s exists already", path).
			Because("init never overwrites a catalog").Try("move it away, or name another with --catalog FILE")
	}
	if err != nil {
		return fmt.Errorf("create catalog: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write catalog: %w", err)
	}
	return nil
}

// refusal makes a diagnostic of this package.
func refusal(format string, args ...any) *diagnostic.Diagnostic {
	return diagnostic.New("D096", diagnostic.Span{}, format, args...)
}

// read returns the tables of one file.
func read(ctx context.Context, o engine.Owner, file string) ([]table, error) {
	path, inside, _ := strings.Cut(file, "#")
	_, err := datafile.Stat(path)
	switch {
	case err == nil:
	case isFolder(path):
		pattern, err := layout(filepath.Clean(path))
		if err != nil {
			return nil, err
		}
		folder, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("find %s: %w", path, err)
		}
		return several(ctx, o, pattern, filepath.Base(folder))
	case datafile.IsPattern(path):
		return several(ctx, o, filepath.ToSlash(path), "")
	default:
		return nil, refusal("%s is not a file", path)
	}
	plain := path // without the ending of its compression
	if ending := strings.ToLower(filepath.Ext(path)); ending == ".gz" || ending == ".zst" {
		plain = path[:len(path)-len(ending)]
	}
	one := func(columns []column, err error) ([]table, error) {
		return []table{{name: baseName(plain), source: file, columns: columns}}, err
	}
	switch strings.ToLower(filepath.Ext(plain)) {
	case ".csv":
		t, err := readCSV(ctx, path)
		if err != nil {
			return nil, err
		}
		t.name, t.source = baseName(plain), file
		return []table{*t}, nil
	case ".jsonl":
		return one(readJSONLines(ctx, path))
	case ".parquet":
		return one(readParquet(ctx, o, path))
	case ".duckdb", ".db":
		return readDuckDB(ctx, o, path, inside)
	}
	return nil, refusal("%s has an ending of no known format", file).
		Try("use a .csv, .parquet or .jsonl file, .csv and .jsonl also with .gz or .zst, a .duckdb file, or FILE.duckdb#TABLE")
}

// relative writes a source as the catalog at path is to name it.
func relative(path, source string) (string, error) {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("find catalog: %w", err)
	}
	file, inside, has := strings.Cut(source, "#")
	if file, err = filepath.Abs(file); err != nil {
		return "", fmt.Errorf("find %s: %w", source, err)
	}
	if rel, err := filepath.Rel(dir, file); err == nil {
		file = filepath.ToSlash(rel)
	}
	if has {
		file += "#" + inside
	}
	return file, nil
}

// baseName makes an identifier that SQL needs not quote of a file's or table's
// name.
func baseName(path string) string {
	name := filepath.Base(path)
	name = strings.ToLower(strings.TrimSuffix(name, filepath.Ext(name)))
	name = strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name), "_")
	if name == "" || name[0] <= '9' || catalog.Reserved(name) {
		return "t_" + name
	}
	return name
}

// unused adds a number to a name that is taken.
func unused(name string, taken map[string]bool) string {
	free := name
	for n := 2; taken[free]; n++ {
		free = fmt.Sprintf("%s_%d", name, n)
	}
	taken[free] = true
	return free
}
