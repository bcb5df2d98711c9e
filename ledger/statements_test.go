package ledger

import (
	"database/sql"
	"path/filepath"
	"testing"
)

// Who reads while a ledger is closed parses no statement that would live on: SQLite moves its
// log into the file when the last one has ended.
func TestNoStatementAfterClose(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "t"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := &statements{on: db}
	if s.of("SELECT 1") == nil {
		t.Fatal("nothing is parsed")
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := s.QueryRowContext(t.Context(), "SELECT 2").Scan(&n); err != nil || n != 2 { // the pool is open yet
		t.Errorf("%d, %v", n, err)
	}
	if s.of("SELECT 2") != nil || len(s.parsed) != 0 {
		t.Error("a statement lives on")
	}
}
