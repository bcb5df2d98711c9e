//go:build cgo

package duckdb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/datafile"
	"github.com/discreet-dp/discreet/internal/derive"
)

// parquet is the text that reads Parquet files. Folders named year=2025 mean nothing by
// themselves: a partition is what the catalog declares (see partition).
func parquet(paths ...string) string {
	return "read_parquet([" + literals(paths) + "], hive_partitioning = false)"
}

// fileName is the column with the path that a record was read from, for partitions.
const fileName = "discreet_file"

// maxLots bounds the schemas that the files of one table have.
const maxLots = 100

// lots divides Parquet files by what columns they have, of which types. Files of one lot
// are read together. DuckDB would take the columns of the first file for those of all,
// cast what has another type, and fail on a value that cannot be cast: an error that
// depends on records.
func lots(ctx context.Context, rows func(context.Context, string) ([][]any, error), p *datafile.Pattern, files []datafile.File) ([]engine.Lot, error) {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	found, err := rows(ctx, "SELECT file_name, md5(list((name, type, type_length, repetition_type, num_children, converted_type, scale, precision, logical_type, duckdb_type)"+
		" ORDER BY column_id)::VARCHAR) FROM parquet_schema(["+literals(paths)+"]) GROUP BY file_name")
	if err != nil {
		return nil, err
	}
	schema := map[string]string{}
	for _, row := range found {
		schema[fmt.Sprint(row[0])] = fmt.Sprint(row[1])
	}
	var all []engine.Lot
	var members [][]string
	at := map[string]int{}
	for _, f := range files {
		s, ok := schema[f.Path]
		if !ok {
			return nil, fmt.Errorf("%s has no schema", f.Path)
		}
		i, ok := at[s]
		if !ok {
			i = len(all)
			at[s], all, members = i, append(all, engine.Lot{Like: f.Path}), append(members, nil)
		}
		members[i] = append(members[i], f.Path)
	}
	keys := partitions(p, files)
	for i := range all {
		all[i].From, all[i].Keys = "read_parquet(["+literals(members[i])+"], hive_partitioning = false, filename = '"+fileName+"')", keys
	}
	return all, nil
}

// partitions are the texts of a pattern's keys in a lot: the folder's name behind the =,
// or what it means where that is something else.
func partitions(p *datafile.Pattern, files []datafile.File) []string {
	first := 1 + strings.Count(strings.TrimSuffix(p.Root, "/"), "/") + 1 // what split_part calls the first level
	texts := make([]string, len(p.Keys))
	for i := range p.Keys {
		folder := fmt.Sprintf("split_part(%s, '/', %d)", fileName, first+p.Level(i))
		written := fmt.Sprintf("substr(%[1]s, strpos(%[1]s, '=') + 1)", folder)
		other := map[string]string{}
		for _, f := range files {
			if v := f.Values[i]; v.Null || v.Text != v.Written {
				other[v.Written] = valueText(v)
			}
		}
		if texts[i] = written; len(other) == 0 {
			continue
		}
		var cases []string
		for w, text := range other {
			cases = append(cases, " WHEN "+literal(w)+" THEN "+text)
		}
		slices.Sort(cases)
		texts[i] = "CASE " + written + strings.Join(cases, "") + " ELSE " + written + " END"
	}
	return texts
}

// valueText writes the value of a partition.
func valueText(v datafile.Value) string {
	if v.Null {
		return "NULL::VARCHAR"
	}
	return literal(v.Text)
}

// view makes the view of a table whose source is a pattern of Parquet files.
func (e *Engine) view(ctx context.Context, conn *sql.Conn, r *derive.Reading) error {
	t := r.Table
	of, err := e.viewing(t)
	if err != nil {
		return unopened(ctx, t, err)
	}
	text, err := several(ctx, func(ctx context.Context, text string) ([][]any, error) {
		rows, err := conn.QueryContext(ctx, text)
		if err != nil {
			return nil, err
		}
		_, all, err := collect(rows)
		return all, err
	}, r)
	if err != nil {
		return err
	}
	if _, err = conn.ExecContext(ctx, text); err != nil {
		return errors.Join(ctx.Err(), cannotOpen(t, "its files cannot be read together"))
	}
	name := catalog.Fold(t.Name)
	e.opened[name], e.viewed[name] = true, of
	if err := e.replaced(ctx, conn, name); err != nil {
		return fmt.Errorf("open duckdb: a copy that was read is not let go of")
	}
	return nil
}

// several is the text of the view of a table whose source is a pattern of Parquet files.
// Its errors say nothing of one file: those are for the owner, by `discreet check`.
func several(ctx context.Context, rows func(context.Context, string) ([][]any, error), r *derive.Reading) (string, error) {
	t := r.Table
	listing, err := listed(t)
	if err != nil {
		return "", err
	}
	all, err := lots(ctx, rows, t.Source.Pattern, listing)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", cannotOpen(t, "one of its files is not a Parquet file")
	case len(all) > maxLots:
		return "", cannotOpen(t, fmt.Sprintf("its files have more than %d schemas", maxLots))
	}
	var branches []string
	for _, lot := range all {
		types, err := rows(ctx, "DESCRIBE SELECT * FROM "+parquet(lot.Like))
		if err != nil {
			return "", errors.Join(ctx.Err(), cannotOpen(t, "one of its files is not a Parquet file"))
		}
		fields := make([]stored, len(r.Fields))
		for i, f := range r.Fields {
			if key := t.Source.Key(f.Name); key >= 0 {
				fields[i] = stored{lot.Keys[key], "VARCHAR"}
				continue
			}
			at := slices.IndexFunc(types, func(row []any) bool { return catalog.Fold(fmt.Sprint(row[0])) == catalog.Fold(f.Name) })
			if at < 0 {
				return "", cannotOpen(t, fmt.Sprintf("one of its files has no column %q%s", f.Name, neededBy(r, f)))
			}
			fields[i] = stored{quote(fmt.Sprint(types[at][0])), fmt.Sprint(types[at][1])}
			if holdsTimes(fields[i].native) {
				return "", cannotOpen(t, "column "+quote(f.Name)+" has times of day within lists or structures")
			}
		}
		branch, err := selection(r, fields, lot.From)
		if err != nil {
			return "", err
		}
		branches = append(branches, branch)
	}
	return "CREATE OR REPLACE VIEW " + quote(t.Name) + " AS " + ofUnits(t, strings.Join(branches, " UNION ALL ")), nil
}

// listed are the files of a table, each of which is one.
func listed(t *catalog.Table) ([]datafile.File, error) {
	l, err := t.Files()
	switch {
	case errors.Is(err, datafile.ErrNoMatch):
		return nil, cannotOpen(t, "no file matches it")
	case errors.Is(err, datafile.ErrNotFile):
		return nil, cannotOpen(t, "what matches it is not all files")
	case errors.Is(err, datafile.ErrTwice):
		return nil, cannotOpen(t, "it names a file twice")
	case err != nil:
		return nil, cannotOpen(t, "its files cannot be listed")
	}
	return l.Files, nil
}

// files are those of a table as they were at a time.
type files []fs.FileInfo

func filesOf(t *catalog.Table) (files, error) {
	all, err := listed(t)
	if err != nil {
		return nil, err
	}
	now := make(files, len(all))
	for i, f := range all {
		if now[i], err = datafile.Stat(f.Path); err != nil {
			return nil, err
		}
	}
	return now, nil
}

// same reports whether no file has changed. Whoever writes into a file can set the time of
// its modification back, and not that of its change.
func (f files) same(now files) bool {
	return slices.EqualFunc(f, now, func(a, b fs.FileInfo) bool {
		then, _ := datafile.Changed(a)
		at, _ := datafile.Changed(b)
		return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && then.Equal(at)
	})
}

// watched reports whether every change of the files shows.
func (f files) watched() bool {
	return !slices.ContainsFunc(f, func(info fs.FileInfo) bool {
		_, ok := datafile.Changed(info)
		return !ok
	})
}

// fresh reports whether a view is still of the files as they are; one of a DuckDB file, of
// which nothing is kept, is.
func (f files) fresh(t *catalog.Table) bool {
	if f == nil {
		return true
	}
	now, err := filesOf(t)
	return err == nil && f.same(now)
}

// youngest is when the last of the files was changed.
func (f files) youngest() (last time.Time) {
	for _, info := range f {
		at, ok := datafile.Changed(info)
		if !ok {
			at = info.ModTime()
		}
		if at.After(last) {
			last = at
		}
	}
	return last
}

// restless is how long a file must have been left alone before what is kept of it counts
// as the file: a later change within the grain of the file system's clock
// would not show. The coarsest, FAT's, is two seconds.
const restless = 2 * time.Second

// settled reports whether files were left alone before what is kept of them was begun.
func (e *Engine) settled(f files, begun time.Time) bool {
	return begun.Sub(f.youngest()) > cmp.Or(e.options.restless, restless)
}

// viewing are the files that a view is about to be made of. Those that are not settled are
// like none that there will be.
func (e *Engine) viewing(t *catalog.Table) (files, error) {
	begun, err := e.spill.now()
	if err != nil {
		return nil, err
	}
	of, err := filesOf(t)
	if err == nil && !e.settled(of, begun) {
		of = files{}
	}
	return of, err
}
