package owner

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/snapshot"
)

// A backup that fails because another one of the same name was faster removes what it made
// itself, and leaves the other's.
func TestBackupLeavesAnothers(t *testing.T) {
	dir := t.TempDir()
	c := &copies{ownership: &ownership{Workplace: &workplace.Workplace{LedgerPath: filepath.Join(dir, "ledger")}, name: filepath.Join(dir, "copy")}}
	for _, name := range []string{"ledger.own", "ledger.others", "copy.others"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write := func(_ context.Context, path, to string) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o600)
	}
	if err := c.beside(t.Context(), ".own", write); err != nil {
		t.Fatal(err)
	}
	err := c.beside(t.Context(), ".others", func(ctx context.Context, _, to string) error { return snapshot.Take(ctx, nil, to, nil) })
	if !errors.Is(err, fs.ErrExist) {
		t.Fatalf("a copy over another's: %v", err)
	}
	if err := c.forget(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "copy.own")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its own copy is left: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "copy.others")); err != nil || string(text) != "copy.others" {
		t.Errorf("another's copy: %q %v", text, err)
	}
}
