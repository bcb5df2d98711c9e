//go:build cgo

package duckdb

import (
	"context"
	"errors"
)

// readings bounds how often a query reads files that are replaced while it reads.
const readings = 8

// errRestless is the failure of a query whose files were replaced each time that it read them.
var errRestless = errors.New("a file was replaced while it was read, again and again")

// steady runs a query that makes tables fresh and reads them, again where one of their files was
// replaced or written meanwhile: DuckDB opens a Parquet file for its footer, and once more for
// its bytes, so that between them a file that is renamed into place gives values of neither.
// Where a query reads its tables in slices, all must be of the same files, too. Nothing that is
// returned is of a mixture; how often was read shows in the time alone.
func (e *Engine) steady(ctx context.Context, tables []string, query func() error) error {
	for range readings {
		before, err := e.filesNow(tables)
		if err != nil {
			return err
		}
		err = query()
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
		now, gone := e.filesNow(tables)
		if gone != nil {
			return errors.Join(gone, err)
		}
		if before.same(now) {
			return err
		}
	}
	return errRestless
}
