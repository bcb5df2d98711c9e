//go:build cgo

package duckdb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/datafile"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/sqltype"
)

// An archive is a folder of copies of tables that outlive the process: who opens the same
// files next reads the copy. Text files are copied there when they are first read, Parquet files
// when the owner says so: see MakeCopy. A copy holds private data, as the files do, and is its owner's alone,
// in a folder that is his and that nobody else can write to. Its records stand in the order of their units, so that those of
// one are read together, each with the number of its unit and how many rows that has (see laidOut), and where a reference finds the unit, with its key (see holding). Of what else is in the folder nothing is touched: a copy's name says that it is one.
//
// What is read from a copy is what reading the files anew would give, in another order, which decides nothing:
//
//   - it is of the same bytes: all of them are read, and have the SHA-256 that they had. Device,
//     number, size and times of the files say only where to look: a clock that was set back,
//     or a disk that was put in another's place, deceives them;
//   - it was made by the same program, of the same declarations: both are in its name;
//   - it is itself as it was written, by its own SHA-256.
//
// That files change between this look and a query shows as for every copy: see steady.
//
// One change is not seen: where another folder stands in the place of the files' while a copy is made, and the first is back before its end, the
// system tells the same of the files as before, and the copy has the rows of the other folder. Who prepares a table leaves its folders in their places.
//
// A copy of files that are gone or have changed is removed by the next process that opens the
// archive; beyond a number of bytes, those are that were not used for longest. Trouble with an
// archive is no failure of a statement: the files are read as if there were none.
//
// A copy counts from the moment its record stands beside it. Both are on stable storage before they
// have their names, so that who is killed leaves what was there, or the new copy.
type archive struct {
	folder string
	most   int64 // bytes
	of     string
}

// archiveFormat is raised where the same program text would make another copy than before.
const archiveFormat = 5

// A record stands beside each copy.
type archived struct {
	Files  []archivedFile `json:"files"`
	Source string         `json:"source"` // SHA-256 of the files' bytes
	Copy   string         `json:"copy"`   // and of the copy's
}

// An archivedFile says what file a copy is of.
type archivedFile struct {
	Path     string    `json:"path"`
	Identity string    `json:"identity"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	Changed  time.Time `json:"changed"`
}

// openArchive opens a folder, which it makes, and removes what is of no more use there. It refuses
// one that others can write to, or that is another user's: who owns it can put a folder of his own in the place of one in which
// a copy is being written.
func openArchive(folder string, most int64) (a *archive, err error) {
	defer func() {
		if err != nil {
			err = diagnostic.New("D101", diagnostic.Span{}, "%v", fmt.Errorf("open folder of copies: %w", err)).
				Try("copies in [resources] of the catalog names it: let that be a folder that this user can make or write to and nobody else can, or leave it out")
		}
	}()
	if err := custody.Folder(folder); err != nil {
		return nil, err
	}
	if other, err := custody.Foreign(folder, os.Geteuid()); err != nil || other != "" {
		return nil, errors.Join(err, &custody.Exposed{Path: folder, Why: "it, or a folder on the way to it, belongs to another user"})
	}
	mark := filepath.Join(folder, "discreet-copies.txt") // a file of ours shows who can reach the folder's
	if _, err := os.Stat(mark); errors.Is(err, fs.ErrNotExist) {
		if err := custody.Write(mark, []byte("Here discreet keeps copies of private data: see [resources] in the catalog. They can be removed at any time.\n")); err != nil {
			return nil, err
		}
	}
	if err := custody.Secret(mark); err != nil {
		return nil, err
	}
	program, err := programIdentity()
	if err != nil {
		return nil, err
	}
	a = &archive{folder, most, program}
	a.clean()
	return a, nil
}

// programIdentity tells builds apart: a later one may read a file in another way.
func programIdentity() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	info, err := datafile.Stat(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(datafile.Identity(info), info.Size(), info.ModTime().UnixNano()), nil
}

// known describes files by what the system knows of them.
func known(of files, paths []string) []archivedFile {
	out := make([]archivedFile, len(of))
	for i, info := range of {
		changed, _ := datafile.Changed(info)
		out[i] = archivedFile{paths[i], fmt.Sprint(datafile.Identity(info)), info.Size(), info.ModTime().UTC(), changed.UTC()}
	}
	return out
}

// nameOf is the name of the copy of a chain's first table, of the files as they are, with their paths. Which of them are which table's, and what their
// partitions are, follows from the sources' paths, which may be patterns.
func (a *archive) nameOf(all []*catalog.Table, now files) (name string, of []archivedFile, paths []string, err error) {
	laid, err := laidOut(all[0], "")
	if err != nil {
		return "", nil, nil, err
	}
	if len(all) > 1 {
		laid = withUnits(all)
	}
	var declared []any
	for _, t := range all {
		paths = append(paths, pathsOf(t)...)
		reading, err := derive.Read(t)
		if err != nil {
			return "", nil, nil, err
		}
		fields := make([]stored, len(reading.Fields))
		for i := range fields {
			fields[i] = stored{fmt.Sprintf("f%d", i), "VARCHAR"}
		}
		rows, err := selection(reading, fields, "appended")
		if err != nil {
			return "", nil, nil, err
		}
		var names, columns []string
		for _, f := range reading.Fields {
			names = append(names, fmt.Sprint(f.Name, " ", f.Type, " ", t.Source.Key(f.Name)))
		}
		for _, c := range t.Columns {
			columns = append(columns, c.Name+" "+typeName(c.Type))
		}
		declared = append(declared, t.Source.Path, rows, names, columns, fmt.Sprintf("%#v", t.Form), t.Malformed, t.Source.Format, ofUnits(t, ""))
	}
	if len(paths) != len(now) {
		return "", nil, nil, errFilesChanged
	}
	of = known(now, paths)
	text, err := json.Marshal([]any{archiveFormat, a.of, of, laid, declared})
	if err != nil {
		return "", nil, nil, err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), of, paths, nil
}

// copyName is what the names of copies and their records look like, without their endings.
var copyName = regexp.MustCompile("^[0-9a-f]{32}$")

// named is the name of a copy that a file is of, or whose record it is.
func named(file, ending string) (string, bool) {
	name, ok := strings.CutSuffix(file, ending)
	return name, ok && copyName.MatchString(name)
}

func (a *archive) copyPath(name string) string   { return filepath.Join(a.folder, name+".duckdb") }
func (a *archive) recordPath(name string) string { return filepath.Join(a.folder, name+".json") }

// record reads what stands beside a copy.
func (a *archive) record(name string) (r archived, err error) {
	if err := custody.Secret(a.recordPath(name)); err != nil {
		return r, err
	}
	text, err := os.ReadFile(a.recordPath(name))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// find returns the path of a copy that holds what copying these files anew would give.
func (a *archive) find(ctx context.Context, name string, paths []string, now time.Time) (string, error) {
	r, err := a.record(name)
	if err != nil {
		return "", err
	}
	path := a.copyPath(name)
	if err := custody.Secret(path); err != nil {
		return "", err
	}
	for _, of := range []struct {
		paths []string
		sum   string
	}{{paths, r.Source}, {[]string{path}, r.Copy}} {
		sum, err := digestOf(ctx, of.paths)
		if err != nil {
			return "", err
		}
		if sum != of.sum {
			return "", errors.New("a copy is of other bytes")
		}
	}
	return path, os.Chtimes(a.recordPath(name), now, now) // when it was used
}

// digestOf is the SHA-256 of files, each with its length before it.
func digestOf(ctx context.Context, paths []string) (string, error) {
	h := sha256.New()
	buffer := make([]byte, 1<<20)
	for _, path := range paths {
		f, err := datafile.Open(ctx, path)
		if err != nil {
			return "", err
		}
		one := sha256.New()
		for err == nil {
			var n int
			if n, err = f.Read(buffer); n > 0 {
				one.Write(buffer[:n])
			}
			if ctx.Err() != nil {
				err = ctx.Err()
			}
		}
		if closed := f.Close(); err != io.EOF || closed != nil {
			return "", errors.Join(err, closed)
		}
		h.Write(one.Sum(nil)) // of one length each
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// byUnit is the order of a copy's records, as SQL: those of a unit stand together. Where a table finds its
// units by a reference, so do those of one reference. Rows that are units, and public ones, have none.
func byUnit(t *catalog.Table) string {
	if t.Unit.Column == nil {
		return ""
	}
	return " ORDER BY " + quote(t.Unit.Column.Name)
}

// laidOut selects what a copy of a table's rows has: beside them values on their grid (see derive.Beside) and, where rows of units can be many, the number of each row's unit among
// all, and how many rows that has. These two are of the copy alone: a query by them counts on all rows of a unit, and says so if one is
// missing. See engine.Totals.
func laidOut(t *catalog.Table, rows string) (string, error) {
	if !readByUnits(t) {
		return "FROM " + rows + byUnit(t), nil
	}
	beside, err := derive.Beside(t)
	if err != nil {
		return "", err
	}
	columns := strings.Join(append([]string{"r.*"}, beside...), ", ")
	if !numbersUnits(t) {
		return fmt.Sprintf("SELECT %s FROM %s AS r%s", columns, rows, byUnit(t)), nil
	}
	return numbered(columns, "FROM "+rows, quote(t.Unit.Column.Name), "FROM "+rows), nil
}

// readByUnits reports whether a table's copy is read by engine.LaidName.
func readByUnits(t *catalog.Table) bool {
	return t.Unit.Column != nil && t.Unit.Kind == catalog.UnitColumn && !hasBeside(t)
}

// numbersUnits reports whether a table's copy has numbers of its units. Where every row counts nobody asks for them.
func numbersUnits(t *catalog.Table) bool { return readByUnits(t) && t.Bounded() }

// ofUnit selects the rows of a copy that have a unit. Where all have, as the copy's own statistics tell, no row is asked.
func ofUnit(ctx context.Context, c *duckdb.Conn, t *catalog.Table, copy string) (string, error) {
	unit, bigint := quote(t.Unit.Column.Name), []sqltype.Type{sqltype.Of(sqltype.Bigint)}
	without, err := query(ctx, c, transport(fmt.Sprintf("SELECT 1 FROM %s WHERE %s IS NULL LIMIT 1", copy, unit), bigint), bigint, nil)
	if err != nil || len(without) == 0 {
		return "FROM " + copy, err
	}
	return fmt.Sprintf("FROM %s WHERE %s IS NOT NULL", copy, unit), nil
}

// show makes the views of a table's copy: the table's own, and for queries by its units' numbers, the copy's.
func show(ctx context.Context, c *duckdb.Conn, t *catalog.Table, of *attachedCopy) error {
	columns := make([]string, len(t.Columns))
	for i, column := range t.Columns {
		columns[i] = quote(column.Name)
	}
	if readByUnits(t) {
		rows, err := ofUnit(ctx, c, t, of.table)
		if err != nil {
			return err
		}
		if _, err := c.ExecContext(ctx, "CREATE OR REPLACE VIEW "+quote(engine.LaidName(t.Name))+" AS "+rows, nil); err != nil {
			return err
		}
	}
	_, err := c.ExecContext(ctx, fmt.Sprintf("CREATE OR REPLACE VIEW %s AS SELECT %s FROM %s", quote(t.Name), strings.Join(columns, ", "), of.table), nil)
	return err
}

// keep writes rows to the archive, as a SELECT has them. Its files are as they were before they were copied, by what
// the system knows; whether they still are is looked at once more after their bytes are read.
func (a *archive) keep(ctx context.Context, c *duckdb.Conn, records, alias, name string, of []archivedFile, paths []string, same func() bool) (err error) {
	part, err := newSpill(a.folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, part.Close()) }()
	path := filepath.Join(part.folder, "copy.duckdb")
	if _, err := c.ExecContext(ctx, "ATTACH "+literal(path)+" AS "+alias, nil); err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, "CREATE TABLE "+alias+".main.records AS "+records, nil)
	_, detached := c.ExecContext(context.WithoutCancel(ctx), "DETACH "+alias, nil) // writes what its log holds
	if err = errors.Join(err, detached); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > a.most {
		return errCopyTooLarge
	}
	r := archived{Files: of}
	if r.Source, err = digestOf(ctx, paths); err != nil {
		return err
	}
	if r.Copy, err = digestOf(ctx, []string{path}); err != nil {
		return err
	}
	if !same() {
		return errFilesChanged
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	beside := filepath.Join(part.folder, "record.json")
	if err := custody.Write(beside, text); err != nil {
		return err
	}
	if err := errors.Join(flush(path), flush(beside), flush(part.folder)); err != nil {
		return err
	}
	// A copy beside another's record is of other bytes than that says.
	if err := os.Rename(path, a.copyPath(name)); err != nil {
		return err
	}
	if err := os.Rename(beside, a.recordPath(name)); err != nil {
		return err
	}
	if err := flush(a.folder); err != nil {
		return err
	}
	a.clean()
	return nil
}

var (
	errCopyTooLarge = errors.New("the copy is larger than all copies may be")
	errFilesChanged = errors.New("the files have changed")
)

// flush puts a file or folder on stable storage.
func flush(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// clean removes copies of files that are no more what they were, and beyond the bytes that there
// may be, those that were not used for longest. What cannot be removed stays.
func (a *archive) clean() {
	removeAbandoned(a.folder)
	entries, err := os.ReadDir(a.folder)
	if err != nil {
		return
	}
	type entry struct {
		name string
		size int64
		used time.Time
	}
	var all []entry
	total := int64(0)
	for _, e := range entries {
		if name, ok := named(e.Name(), ".json"); ok {
			if _, err := os.Stat(a.copyPath(name)); errors.Is(err, fs.ErrNotExist) {
				_ = a.remove(name)
			}
			continue
		}
		name, ok := named(e.Name(), ".duckdb")
		if !ok {
			continue
		}
		copied, err := os.Stat(a.copyPath(name))
		if err != nil {
			continue
		}
		used, err := os.Stat(a.recordPath(name))
		if err != nil || !a.current(name) {
			_ = a.remove(name)
			continue
		}
		all, total = append(all, entry{name, copied.Size(), used.ModTime()}), total+copied.Size()
	}
	slices.SortFunc(all, func(x, y entry) int { return x.used.Compare(y.used) })
	for _, e := range all {
		if total <= a.most {
			return
		}
		_ = a.remove(e.name)
		total -= e.size
	}
}

// current reports whether the files of a copy are what they were, by what the system knows.
func (a *archive) current(name string) bool {
	r, err := a.record(name)
	if err != nil {
		return false
	}
	for _, f := range r.Files {
		info, err := datafile.Stat(f.Path)
		if err != nil || !slices.Equal(known(files{info}, []string{f.Path}), []archivedFile{f}) {
			return false
		}
	}
	return true
}

// remove removes a copy and its record, without which it is no copy.
func (a *archive) remove(name string) error {
	var failed []error
	for _, path := range []string{a.recordPath(name), a.copyPath(name)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
