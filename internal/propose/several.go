package propose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/datafile"
	"github.com/discreet-dp/discreet/sqltype"
)

// several proposes one table for all files that a pattern names: with the columns of the
// first, and those of the pattern's partitions. It may have a name already.
func several(ctx context.Context, o engine.Owner, text, name string) ([]table, error) {
	p, err := datafile.ParsePattern(".", text)
	if err != nil {
		return nil, refusal("%s is not a pattern of files", text).Because("%v", err).Try(`write it in quotes, as in 'visits/year=*/*.parquet'`)
	}
	listing, err := p.List()
	if err != nil {
		return nil, refusal("no table can be proposed for %s", text).Because("%v", because(err))
	}
	all, err := read(ctx, o, listing.Files[0].Path)
	if err != nil {
		return nil, err
	}
	t := all[0]
	if t.remarks, err = differences(ctx, o, t, listing.Files); err != nil {
		return nil, err
	}
	t.source, t.name = text, baseName(cmp.Or(name, stem(text), filepath.Base(p.Root))+".files")
	for i, key := range p.Keys {
		t.columns = slices.DeleteFunc(t.columns, func(c column) bool { return catalog.Fold(c.name) == catalog.Fold(key) })
		g := guess{name: key}
		for _, f := range listing.Files {
			if v := f.Values[i]; !v.Null {
				g.text(v.Text)
			}
		}
		t.columns = append(t.columns, column{name: key, typ: sqltype.Of(g.kind()), guessed: true, partition: true,
			note: "a partition: its value stands in the folders' names"})
	}
	if len(listing.Packed) > 0 {
		t.remarks = append(t.remarks, fmt.Sprintf("%d compressed files (.gz, .zst) differ from these files in their ending alone and are not included: name them in another table or pattern", len(listing.Packed)))
	}
	return []table{t}, nil
}

// compared bounds the files of a pattern that are compared with the first.
const compared = 100

// differences says in what files are not like the first, of which the proposal is made, and
// how many are so. It names none: names of folders are data.
func differences(ctx context.Context, o engine.Owner, first table, files []datafile.File) (said []string, err error) {
	files = files[1:min(len(files), compared)]
	counts := map[string]int{}
	var order []string
	differ := func(format string, args ...any) {
		what := fmt.Sprintf(format, args...)
		if counts[what]++; counts[what] == 1 {
			order = append(order, what)
		}
	}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		all, err := read(ctx, o, f.Path)
		if err != nil || len(all) != 1 {
			differ("cannot be read like it")
			continue
		}
		other := all[0]
		if other.form.Delimiter != first.form.Delimiter || other.form.Encoding != first.form.Encoding || other.form.NoHeader != first.form.NoHeader {
			differ("are written in another way: delimiter, encoding or header")
			continue
		}
		for _, c := range first.columns {
			i := slices.IndexFunc(other.columns, func(d column) bool { return catalog.Fold(d.name) == catalog.Fold(c.name) })
			switch {
			case i < 0:
				differ("lack column %s", quote(c.name))
			case !c.guessed && c.typ != other.columns[i].typ:
				differ("have another type of column %s", quote(c.name))
			}
		}
		for _, d := range other.columns {
			if !slices.ContainsFunc(first.columns, func(c column) bool { return catalog.Fold(d.name) == catalog.Fold(c.name) }) {
				differ("have a column %s, which the first lacks", quote(d.name))
			}
		}
	}
	for _, what := range order {
		said = append(said, fmt.Sprintf("%d of %d files that were compared with the first %s (discreet check names them)", counts[what], len(files), what))
	}
	return said, nil
}

func because(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Path + ": " + at.Err.Error()
	}
	return err.Error()
}

// stem is what the names of a pattern's files have in common before the first mark: "visits"
// of visits-*.csv. Files of a program, part-*.csv, are better called after their folder.
func stem(text string) string {
	name, _, _ := strings.Cut(filepath.Base(text), "*")
	name, _, _ = strings.Cut(name, "?")
	name, _, _ = strings.Cut(name, "[")
	if name = strings.Trim(name, "-_. "); name == "part" {
		return ""
	}
	return name
}

// endings are those of files of which a table can have several, the longer ones first.
var endings = []string{".csv.gz", ".csv.zst", ".jsonl.gz", ".jsonl.zst", ".csv", ".jsonl", ".parquet"}

// layout is the pattern of the files in a folder: by their ending, and by the names of the
// folders that they are in.
func layout(folder string) (string, error) {
	var ending string
	var ways [][]string
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != folder && (e.Name()[0] == '.' || e.Name()[0] == '_'):
			if e.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case e.IsDir():
			return nil
		}
		at := slices.IndexFunc(endings, func(ending string) bool { return strings.HasSuffix(strings.ToLower(e.Name()), ending) })
		if at < 0 {
			return nil
		}
		if ending != "" && ending != endings[at] {
			return refusal("%s has files of two kinds, %s and %s", folder, ending, endings[at]).
				Try("name those of one table: '%s'", filepath.ToSlash(filepath.Join(folder, "*"+endings[at])))
		}
		ending = endings[at]
		rel, err := filepath.Rel(folder, filepath.Dir(path))
		ways = append(ways, slices.DeleteFunc(strings.Split(filepath.ToSlash(rel), "/"), func(s string) bool { return s == "." }))
		return err
	})
	if err != nil {
		return "", err
	}
	if ways == nil {
		return "", refusal("%s has no files that a catalog could declare", folder).Try("they are .csv, .jsonl (both also with .gz or .zst) and .parquet files")
	}
	parts := []string{filepath.ToSlash(folder)}
	if slices.ContainsFunc(ways, func(way []string) bool { return len(way) != len(ways[0]) }) {
		parts = append(parts, "**")
	} else {
		for level := range ways[0] {
			parts = append(parts, common(ways, level))
		}
	}
	return strings.Join(append(parts, "*"+ending), "/"), nil
}

// common is what the names of the folders of one level have in common.
func common(ways [][]string, level int) string {
	name := ways[0][level]
	key, _, keyed := strings.Cut(name, "=")
	same, all := true, keyed
	for _, way := range ways {
		other, _, is := strings.Cut(way[level], "=")
		same, all = same && way[level] == name, all && is && other == key
	}
	switch {
	case all:
		return key + "=*"
	case same:
		return name
	}
	return "*"
}

// isFolder reports whether a path leads to a folder.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
