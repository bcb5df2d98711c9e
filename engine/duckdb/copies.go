//go:build cgo

package duckdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

var _ engine.Copier = (*Engine)(nil)

// MakeCopy copies a table to the archive, unless there is a copy of its files as they are. It waits until these
// have been left alone for long enough.
func (e *Engine) MakeCopy(ctx context.Context, table string) (engine.Copy, error) {
	t, err := e.copyable(table)
	if err != nil {
		return engine.Copy{}, err
	}
	of := chain(t)
	for range readings {
		made, now, err := e.copyOnce(ctx, t, of)
		after, gone := filesOfAll(ctx, of)
		switch {
		case ctx.Err() != nil:
			return engine.Copy{}, ctx.Err()
		case err == nil:
			return made, nil
		case errors.Is(err, errFilesChanged), gone == nil && !after.same(now), gone != nil && now != nil: // whatever else went wrong went wrong with others
			continue
		}
		return engine.Copy{}, e.notCopied(t, err)
	}
	return engine.Copy{}, e.notCopied(t, errFilesChanged)
}

// copyOnce makes the copy of a chain's first table, of the files that it finds and returns, nil where there are none.
func (e *Engine) copyOnce(ctx context.Context, t *catalog.Table, of []*catalog.Table) (made engine.Copy, now files, err error) {
	begun, now, err := e.leftAlone(ctx, of)
	if err != nil {
		return made, now, err
	}
	if len(of) > 1 {
		err = e.keepHeld(ctx, of, now)
	} else if err = e.ready(ctx, of); err == nil {
		err = e.makeCopy(ctx, t, now, begun)
	}
	if err != nil {
		return made, now, err
	}
	if made, err = e.copyOfFiles(of); err == nil && made.State != engine.Copied { // it found no room beside the others
		err = errCopyTooLarge
	}
	return made, now, err
}

// copyable is the table of a name, if it can have a copy.
func (e *Engine) copyable(name string) (*catalog.Table, error) {
	t, ok := e.catalog.Table(name)
	switch {
	case !ok:
		return nil, fmt.Errorf("there is no table %q", name)
	case e.archive == nil:
		return nil, errors.New("there is no folder for copies")
	case t.Mapping != nil:
		return nil, &engine.Uncopied{Table: t.Name, Why: "its rows are made by code, in each process", Hint: "prepare the table that it maps", Elsewhere: true}
	case t.Source.Format == catalog.DuckDB:
		return nil, &engine.Uncopied{Table: t.Name, Why: "it is in a DuckDB file, which is read where it is",
			Hint: "write the table there in the order of its unit: CREATE TABLE ... AS FROM ... ORDER BY UNIT", Elsewhere: true}
	}
	return t, nil
}

// leftAlone waits until the files of tables were left alone before what is made of them is begun.
func (e *Engine) leftAlone(ctx context.Context, of []*catalog.Table) (begun time.Time, now files, err error) {
	for range readings {
		if begun, err = e.spill.now(); err != nil {
			return begun, nil, err
		}
		if now, err = filesOfAll(ctx, of); err != nil {
			return begun, nil, err
		}
		if !now.watched() {
			return begun, now, &engine.Uncopied{Table: of[0].Name, Why: "this system does not tell when a file was changed", Hint: "its files are read where they are"}
		}
		if e.settled(now, begun) {
			return begun, now, nil
		}
		wait := now.youngest().Add(cmp.Or(e.options.restless, restless)).Sub(begun) + time.Millisecond
		select {
		case <-ctx.Done():
			return begun, nil, ctx.Err()
		case <-time.After(min(wait, 2*restless)): // a file may come from the future
		}
	}
	return begun, nil, errFilesChanged
}

// makeCopy copies the files of a table as they are, if there is no copy of them.
func (e *Engine) makeCopy(ctx context.Context, t *catalog.Table, now files, begun time.Time) error {
	if t.Source.Format == catalog.Parquet && !e.views(t).same(now) {
		return errFilesChanged
	}
	return raw(ctx, e.db, func(c *duckdb.Conn) (err error) {
		found, keep := e.archived(ctx, c, t, now, begun)
		switch {
		case found != nil:
			_, err := c.ExecContext(context.WithoutCancel(ctx), "DETACH "+found.alias, nil)
			return err
		case keep == nil:
			return errFilesChanged
		case t.Source.Format == catalog.Parquet:
			return keep(quote(t.Name))
		}
		into := fmt.Sprintf("%s.copy_%d", copies, e.made.Add(1))
		defer func() {
			_, dropped := c.ExecContext(context.WithoutCancel(ctx), "DROP TABLE IF EXISTS "+into, nil)
			err = errors.Join(err, dropped)
		}()
		if err := newCopy(t, parts).fill(ctx, c, into); err != nil {
			return err
		}
		return keep(into)
	})
}

// views are the files that a table's view is of.
func (e *Engine) views(t *catalog.Table) files {
	e.opening.Lock()
	defer e.opening.Unlock()
	return e.viewed[catalog.Fold(t.Name)]
}

// notCopied says why there is no copy of a table, in words that depend on no record.
func (e *Engine) notCopied(t *catalog.Table, err error) error {
	var said *engine.Uncopied
	var unopened *diagnostic.Diagnostic
	switch {
	case errors.As(err, &unopened):
		return unopened
	case errors.As(err, &said):
		return said
	case errors.Is(err, errFilesChanged):
		return &engine.Uncopied{Table: t.Name, Why: "its files change while they are copied", Hint: "prepare it when nobody writes to them"}
	case errors.Is(err, errCopyTooLarge):
		return &engine.Uncopied{Table: t.Name, Why: fmt.Sprintf("its copy takes more than the %d bytes that all copies may take", e.archive.most), Hint: "set copies_size in [resources] to more"}
	}
	return &engine.Uncopied{Table: t.Name, Why: "it cannot be read, or its copy cannot be written",
		Hint: "discreet check says what is wrong with its files; if nothing is, the folder of copies cannot be written to, the disk is full, or memory short"}
}

// CopiesOf says which copies a table has: first whether it has the one that MakeCopy makes, and if that holds units, the one of its own files, which
// statements read that do not ask for them.
func (e *Engine) CopiesOf(table string) ([]engine.Copy, error) {
	t, err := e.copyable(table)
	if err != nil {
		return nil, err
	}
	of := chain(t)
	made, err := e.copyOfFiles(of)
	if err != nil || len(of) == 1 {
		return []engine.Copy{made}, err
	}
	alone, err := e.copyOfFiles(of[:1])
	if err != nil || alone.State == engine.NoCopy {
		return []engine.Copy{made}, err
	}
	alone.WithoutUnits = true
	return []engine.Copy{made, alone}, nil
}

// copyOfFiles looks for the copy of a chain's first table, of the files as they are, and does not read them. Of others it is the last that was made.
func (e *Engine) copyOfFiles(of []*catalog.Table) (engine.Copy, error) {
	copy := engine.Copy{Table: of[0].Name, State: engine.NoCopy}
	now, err := filesOfAll(context.Background(), of)
	if err != nil { // nothing that is there has a copy
		return copy, nil //nolint:nilerr // which is told where they are read
	}
	name, _, paths, err := e.archive.nameOf(of, now)
	if errors.Is(err, errFilesChanged) {
		return copy, nil
	}
	if err != nil {
		return engine.Copy{}, err
	}
	for other, r := range e.archive.records() {
		info, err := os.Stat(e.archive.copyPath(other))
		if err != nil || !r.of(paths) || copy.State == engine.Copied || other != name && !info.ModTime().After(copy.Made) {
			continue
		}
		if copy.State, copy.Bytes, copy.Made = engine.OldCopy, info.Size(), info.ModTime().UTC(); other == name {
			copy.State = engine.Copied
		}
	}
	return copy, nil
}

// RemoveCopies removes all copies of which a file is one of a table's, or has a path of its pattern, and says how many it
// removed; of no table, all that there are. Those that it cannot remove are an error: they are private data.
func (e *Engine) RemoveCopies(table string) (n int, err error) {
	concerns := func(archivedFile) bool { return true }
	if table != "" {
		t, err := e.copyable(table)
		if err != nil {
			return 0, err
		}
		paths := pathsOf(t)
		concerns = func(f archivedFile) bool {
			matches, err := filepath.Match(t.Source.Path, f.Path)
			return err == nil && matches || slices.Contains(paths, f.Path)
		}
	} else if e.archive == nil {
		return 0, errors.New("there is no folder for copies")
	}
	var failed []error
	for name, r := range e.archive.records() {
		if table == "" || slices.ContainsFunc(r.Files, concerns) {
			if err := e.archive.remove(name); err != nil {
				failed = append(failed, err)
				continue
			}
			n++
		}
	}
	return n, errors.Join(failed...)
}

// pathsOf are the paths of a table's files, none if they cannot be listed.
func pathsOf(t *catalog.Table) (paths []string) {
	all, err := listed(t)
	if err != nil {
		return nil
	}
	for _, f := range all {
		paths = append(paths, f.Path)
	}
	return paths
}

// of reports whether a copy is one of these files.
func (r archived) of(paths []string) bool {
	return len(paths) > 0 && slices.EqualFunc(r.Files, paths, func(f archivedFile, path string) bool { return f.Path == path })
}

// records are those of an archive, by the names of their copies.
func (a *archive) records() map[string]archived {
	out := map[string]archived{}
	entries, err := os.ReadDir(a.folder)
	if err != nil {
		return out
	}
	for _, entry := range entries {
		if name, ok := named(entry.Name(), ".json"); ok {
			if r, err := a.record(name); err == nil {
				out[name] = r
			}
		}
	}
	return out
}
