//go:build cgo

package duckdb

import (
	"errors"
	"fmt"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/engine"
)

// trouble says why a DuckDB file cannot be attached, and what to do. What DuckDB says
// of it is about the file's head and its lock, and quotes no record; it is not passed
// on all the same.
func trouble(err error) (why, hint string) {
	switch said := err.Error(); {
	case strings.Contains(said, "Could not set lock on file"), strings.Contains(said, "Conflicting lock"):
		return "another process writes to it, and DuckDB lets one process write or many read",
			"close it there, or let that process write a copy: COPY FROM DATABASE, or EXPORT DATABASE to Parquet; and name the copy"
	case strings.Contains(said, "version number"), strings.Contains(said, "newer version"):
		return "it was written by a version of DuckDB whose files this program's DuckDB cannot read",
			"write it anew for older versions, with ATTACH 'new.duckdb' (STORAGE_VERSION 'v1.0.0') and COPY FROM DATABASE, or export its tables as Parquet"
	case strings.Contains(said, "encrypted"), strings.Contains(said, "encryption"):
		return "it is encrypted", "write a copy that is not, or export its tables as Parquet"
	case strings.Contains(said, "not a valid DuckDB database file"):
		return "it is not a DuckDB file", "name a file that DuckDB has made"
	case strings.Contains(said, "checksum"), strings.Contains(said, "Corrupt"):
		return "it is damaged", "restore it from a copy; where it is being copied, wait"
	case strings.Contains(said, "WAL"), strings.Contains(said, "wal"):
		return "the log beside it, .wal, holds changes that are not in it yet and cannot be read", "open and close it in DuckDB once, which writes them: CHECKPOINT"
	}
	return "DuckDB cannot open it", "discreet check"
}

// unattached makes of an error of ATTACH what the owner is told.
func unattached(text string, err error) error {
	var d *duckdb.Error
	if err == nil || !strings.HasPrefix(text, "ATTACH ") || !errors.As(err, &d) {
		return err
	}
	why, hint := trouble(err)
	return fmt.Errorf("attach file: %w", &engine.Unopened{Why: why, Hint: hint})
}
