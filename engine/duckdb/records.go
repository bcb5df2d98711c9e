//go:build cgo

package duckdb

import (
	"database/sql"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/records"
)

// recordsFunction names the table function that reads a CSV or JSON-lines
// source. DuckDB's own readers fail on some malformed files, and a failure of
// the CSV reader ends the whole instance.
func recordsFunction(t *catalog.Table) string { return "discreet_records_" + catalog.Fold(t.Name) }

// A recordsSource reads a file as declared columns of text, in one scan. DuckDB
// calls FillChunk from several threads; records are read under the lock, and
// only those columns are handed on that the query needs.
type recordsSource struct {
	columns []string // as declared
	open    func() (records.Reader, []int, error)
	skip    bool // malformed records
	threads int

	mu     sync.Mutex
	begun  bool
	reader records.Reader
	at     []int // of a declared column in the record
	err    error
}

// registerRecords makes the table function of a CSV or JSON-lines table.
func registerRecords(conn *sql.Conn, t *catalog.Table, threads int) error {
	var columns []string
	for _, c := range t.Columns {
		columns = append(columns, c.Name)
	}
	open := func() (records.Reader, []int, error) { return openRecords(t, columns) }
	r, _, err := open()
	if err != nil {
		return err
	}
	if err := r.Close(); err != nil {
		return cannotOpen(t, "it cannot be read")
	}
	return duckdb.RegisterTableUDF(conn, recordsFunction(t), duckdb.ParallelChunkTableFunction{
		BindArguments: func(map[string]any, ...any) (duckdb.ParallelChunkTableSource, error) {
			return &recordsSource{columns: columns, open: open, skip: t.Malformed == catalog.SkipRecord, threads: threads}, nil
		},
	})
}

// openRecords opens a source and finds the declared columns in it: by the
// header's names, of which the first counts where several differ in case alone.
func openRecords(t *catalog.Table, columns []string) (records.Reader, []int, error) {
	at := make([]int, len(columns))
	if t.Source.Format == catalog.JSONLines {
		r, err := records.OpenJSONLines(t.Source.Path, columns)
		if err != nil {
			return nil, nil, cannotOpen(t, "it cannot be read")
		}
		for i := range at {
			at[i] = i
		}
		return r, at, nil
	}
	r, err := records.OpenCSV(t.Source.Path)
	switch {
	case err == records.ErrNoHeader:
		return nil, nil, cannotOpen(t, err.Error())
	case err != nil:
		return nil, nil, cannotOpen(t, "it cannot be read")
	}
	for i, c := range columns {
		at[i] = slices.IndexFunc(r.Header(), func(name string) bool { return catalog.Fold(name) == catalog.Fold(c) })
		if at[i] < 0 {
			r.Close()
			return nil, nil, cannotOpen(t, "its header has no column \""+c+"\"")
		}
	}
	return r, at, nil
}

// ColumnInfos returns the declared columns, all as text.
func (s *recordsSource) ColumnInfos() []duckdb.ColumnInfo {
	text, err := duckdb.NewTypeInfo(duckdb.TYPE_VARCHAR)
	if err != nil {
		panic(err) // VARCHAR needs no further information
	}
	infos := make([]duckdb.ColumnInfo, len(s.columns))
	for i, name := range s.columns {
		infos[i] = duckdb.ColumnInfo{Name: name, T: text}
	}
	return infos
}

// Cardinality says nothing.
func (s *recordsSource) Cardinality() *duckdb.CardinalityInfo { return nil }

// errSharedScan fails a query whose scans would share a reader, and so would
// each see a part of the file.
var errSharedScan = errors.New("one source of records in two scans")

// Init begins the scan. DuckDB binds a source for each scan of each execution.
func (s *recordsSource) Init() duckdb.ParallelTableSourceInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun {
		s.err = errSharedScan
	} else {
		s.begun = true
		s.reader, s.at, s.err = s.open()
	}
	return duckdb.ParallelTableSourceInfo{MaxThreads: s.threads}
}

func (s *recordsSource) close() {
	if s.reader != nil {
		_ = s.reader.Close() // it was read to its end, or the scan has failed
		s.reader = nil
	}
}

// NewLocalState returns a thread's batch.
func (s *recordsSource) NewLocalState() any { return &batch{} }

// A batch holds the fields of some records, those that the query needs: nil is
// NULL.
type batch struct {
	needed []int // declared columns; nil before the first chunk
	fields [][]byte
	text   []byte
}

// FillChunk hands on a chunk of records, none at the end.
func (s *recordsSource) FillChunk(local any, chunk duckdb.DataChunk) error {
	b := local.(*batch)
	if b.needed == nil {
		if err := b.need(len(s.columns), chunk); err != nil {
			return err
		}
	}
	n, err := s.read(b, duckdb.GetDataChunkCapacity())
	if err != nil {
		return err
	}
	for row := range n {
		for i, field := range b.fields[row*len(b.needed) : (row+1)*len(b.needed)] {
			if field == nil {
				err = chunk.SetValue(b.needed[i], row, nil)
			} else {
				err = duckdb.SetChunkValue(chunk, b.needed[i], row, field)
			}
			if err != nil {
				return err
			}
		}
	}
	return chunk.SetSize(n)
}

// need finds the columns that the query needs: what is written to others
// cannot be read back. The driver takes values for them, but slowly.
func (b *batch) need(columns int, chunk duckdb.DataChunk) error {
	b.needed = []int{}
	for i := range columns {
		if err := duckdb.SetChunkValue(chunk, i, 0, []byte{}); err != nil {
			return err
		}
		if _, err := chunk.GetValue(i, 0); err == nil {
			b.needed = append(b.needed, i)
		}
	}
	return nil
}

// read copies the needed fields of up to n records into b.
func (s *recordsSource) read(b *batch, n int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.fields, b.text = b.fields[:0], b.text[:0]
	if s.err != nil {
		return 0, s.err
	}
	for row := 0; row < n; {
		if s.reader == nil {
			return row, nil
		}
		rec, err := s.reader.Next()
		if err == io.EOF {
			s.close()
			return row, nil
		}
		if err != nil {
			s.err = err
			return 0, err
		}
		if rec.Malformed && s.skip {
			continue
		}
		for _, column := range b.needed {
			field := rec.Fields[s.at[column]]
			if field != nil {
				from := len(b.text)
				b.text = append(b.text, field...)
				if field = b.text[from:len(b.text):len(b.text)]; field == nil {
					field = []byte{}
				}
			}
			b.fields = append(b.fields, field)
		}
		row++
	}
	return n, nil
}

func (o Options) threads() int {
	if o.Threads > 0 {
		return o.Threads
	}
	return runtime.GOMAXPROCS(0)
}

var _ duckdb.ParallelChunkTableSource = (*recordsSource)(nil)
