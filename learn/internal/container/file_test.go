package container

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
)

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// What is swept is nobody's: neither files that a process holds, nor those of other names,
// nor folders.
func TestSweep(t *testing.T) {
	if !locks {
		t.Skip("no locks here: nothing is swept")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"a.model.part-123", "a.model.part-", "a.model.part-x", "xa.model.part-1", "a.model.part-1.part-2",
		"aXmodel.part-1", "b.model", "b.model.part-9", "a.model"} {
		if err := os.WriteFile(at(name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(at("a.model.part-77"), 0o700); err != nil {
		t.Fatal(err)
	}
	held, err := create(at("a.model"))
	if err != nil {
		t.Fatal(err)
	}
	before := names(t, dir)
	model := regexp.MustCompile(`^a\.model$`)
	Sweep(dir, model, nil)
	want := slices.DeleteFunc(before, func(name string) bool { return name == "a.model.part-123" })
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
	// Once nobody holds it, it goes too.
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	Sweep(dir, model, nil)
	want = slices.DeleteFunc(want, func(name string) bool { return at(name) == held.Name() })
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
	// Whole files only where they are said to be stale, and while nobody holds them.
	f, err := Hold(at("a.model"), []byte("new"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	Sweep(dir, model, func([]byte) bool { t.Error("asked about a file that is held"); return true })
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	Sweep(dir, model, func(data []byte) bool { return string(data) != "new" })
	if _, err := os.Stat(at("a.model")); err != nil {
		t.Error(err)
	}
	Sweep(dir, model, func(data []byte) bool { return string(data) == "new" })
	if _, err := os.Stat(at("a.model")); !os.IsNotExist(err) {
		t.Errorf("a stale file is there: %v", err)
	}
}

// Files are written while others sweep: none is lost.
func TestSweepsAndWritesAtOnce(t *testing.T) {
	dir := t.TempDir()
	done := make(chan struct{})
	var sweeps, writes sync.WaitGroup
	for range 2 {
		sweeps.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					Sweep(dir, regexp.MustCompile("^m[0-9]$"), nil)
				}
			}
		})
	}
	for w := range 3 {
		writes.Go(func() {
			path := filepath.Join(dir, "m"+string(rune('0'+w)))
			for i := range 100 {
				data := bytes.Repeat([]byte{byte(i)}, 100)
				if err := Write(path, data, 0o600); err != nil {
					t.Error(err)
					return
				}
				if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
					t.Errorf("%d bytes, %v", len(got), err)
				}
			}
		})
	}
	writes.Wait()
	close(done)
	sweeps.Wait()
	if got := names(t, dir); len(got) != 3 {
		t.Errorf("left %q", got)
	}
}
