//go:build unix

package datafile_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/internal/datafile"
	"github.com/discreet-dp/discreet/internal/datafile/datafiletest"
)

// Attack I6: what is no file is refused at once, by whatever name. A FIFO that nobody
// writes to would hold up an open for ever, and so this test.
func TestI6NoFile(t *testing.T) {
	for _, s := range datafiletest.Specials(t, t.TempDir(), "t.csv") {
		if f, err := datafile.Open(t.Context(), s.Path); !errors.Is(err, datafile.ErrNotFile) {
			t.Errorf("%s: opened %v, %v", s.How, f, err)
		}
		if _, err := datafile.Stat(s.Path); !errors.Is(err, datafile.ErrNotFile) {
			t.Errorf("%s: %v", s.How, err)
		}
	}
	if _, err := datafile.Open(t.Context(), filepath.Join(t.TempDir(), "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte("id\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range datafiletest.Spellings(t, path) {
		name := s.Path
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(path), name)
		}
		f, err := datafile.Open(t.Context(), name)
		if err != nil {
			t.Errorf("%s: %v", s.How, err)
			continue
		}
		if text, err := io.ReadAll(f); err != nil || string(text) != "id\n1\n" {
			t.Errorf("%s: read %q, %v", s.How, text, err)
		}
		f.Close()
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := datafile.Open(ended, path); !errors.Is(err, context.Canceled) {
		t.Errorf("in a context that has ended: %v", err)
	}
}
