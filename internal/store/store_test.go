package store_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/internal/store"
)

// What is deleted is in no file once the log has been written back, by whichever connection.
func TestDeletedIsOverwritten(t *testing.T) {
	dir := t.TempDir()
	db, err := store.Open(filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxIdleConns(0) // each statement has a connection of its own
	canary := bytes.Repeat([]byte("canary"), 2000)
	for _, statement := range []struct {
		text string
		args []any
	}{
		{"CREATE TABLE kept (x BLOB)", nil}, {"INSERT INTO kept VALUES (?)", []any{canary}}, {"PRAGMA wal_checkpoint(TRUNCATE)", nil},
		{"DELETE FROM kept", nil}, {"PRAGMA wal_checkpoint(TRUNCATE)", nil},
	} {
		if _, err := db.ExecContext(t.Context(), statement.text, statement.args...); err != nil {
			t.Fatalf("%s: %v", statement.text, err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("canary")) {
			t.Errorf("%s holds what was deleted", f.Name())
		}
	}
}
