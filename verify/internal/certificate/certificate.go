// Package certificate is the file in which the proofs of a package's functions are
// stored, beside its Go files.
//
// A file is written whole or not at all, is the same for the same proofs, and keeps
// what it holds of functions that a run did not look at. It guarantees nothing of a
// proof: what is read here is anybody's text, and convinces nobody until a checker
// accepts it.
package certificate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Name is that of the file in a package's folder.
const Name = "discreet.proofs.json"

// version is that of the file's form.
const version = 1

// maxSize is far above what proofs of a package take, and far below what would hurt.
const maxSize = 64 << 20

// An Entry is the proof of one function.
type Entry struct {
	// Program is the hash of the function and its claim that the proof is of.
	Program string `json:"program"`
	// Claim is its text, for readers.
	Claim string `json:"claim"`
	// Verdict, Over, LeastCost and Note are what was concluded.
	Verdict   string `json:"verdict"`
	Over      string `json:"over"`
	LeastCost string `json:"least_cost,omitempty"`
	Note      string `json:"note,omitempty"`
	// Kind says which checker the proof is for, and Proof is what it checks.
	Kind  string          `json:"kind"`
	Proof json.RawMessage `json:"proof"`
}

// ErrMalformed is of a file that is no file of proofs.
var ErrMalformed = errors.New("malformed file of proofs")

type file struct {
	Version   int               `json:"version"`
	Functions map[string]*Entry `json:"functions"`
}

// Read returns the entries of a package's folder by the functions' names, none if
// there is no file.
func Read(dir string) (map[string]*Entry, error) {
	entries, _, err := read(filepath.Join(dir, Name))
	return entries, err
}

// read returns what the file holds too.
func read(path string) (map[string]*Entry, []byte, error) {
	text, err := contents(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]*Entry{}, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read proofs: %w", err)
	}
	entries, err := parse(text)
	if err != nil {
		return nil, nil, fmt.Errorf("read proofs: %s: %w", path, err)
	}
	return entries, text, nil
}

// contents reads a regular file of moderate size: a pipe would hang.
func contents(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w: not a regular file", path, ErrMalformed)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxSize {
		return nil, fmt.Errorf("%s: %w: larger than %d MiB", path, ErrMalformed, maxSize>>20)
	}
	return text, nil
}

// parse returns the entries that a file's text holds.
func parse(text []byte) (map[string]*Entry, error) {
	var f file
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		// A newer version may have fields of its own: say so rather than that.
		var v struct{ Version int }
		if json.Unmarshal(text, &v) == nil && v.Version > version {
			return nil, fmt.Errorf("%w: version %d, this program reads %d", ErrMalformed, v.Version, version)
		}
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: text after its end", ErrMalformed)
	}
	if f.Version != version {
		return nil, fmt.Errorf("%w: version %d, this program reads %d", ErrMalformed, f.Version, version)
	}
	for name, e := range f.Functions {
		switch {
		case e == nil:
			return nil, fmt.Errorf("%w: nothing is stored for %q", ErrMalformed, name)
		case e.Program == "" || e.Kind == "" || len(e.Proof) == 0:
			return nil, fmt.Errorf("%w: %q lacks program, kind or proof", ErrMalformed, name)
		}
	}
	if f.Functions == nil {
		f.Functions = map[string]*Entry{}
	}
	return f.Functions, nil
}

// format is the text of a file with these entries.
func format(entries map[string]*Entry) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a claim has <=
	e.SetIndent("", "\t")
	if err := e.Encode(file{version, entries}); err != nil {
		return nil, fmt.Errorf("write proofs: %w", err)
	}
	return b.Bytes(), nil
}

// Update stores the entries of found in a package's folder, and reports whether the
// file changed. A nil entry takes the function's away. The functions of the package
// that have claims are all: entries of others go, so that a file does not grow with
// what was renamed; the rest stays as it is. A file without entries is removed.
func Update(dir string, found map[string]*Entry, all []string) (changed bool, err error) {
	path := filepath.Join(dir, Name)
	entries, old, err := read(path)
	if err != nil {
		return false, err
	}
	maps.Copy(entries, found)
	maps.DeleteFunc(entries, func(name string, e *Entry) bool { return e == nil || !slices.Contains(all, name) })
	if len(entries) == 0 {
		if old == nil {
			return false, nil
		}
		if err := os.Remove(path); err != nil {
			return false, fmt.Errorf("remove proofs: %w", err)
		}
		return true, nil
	}
	text, err := format(entries)
	if err != nil || bytes.Equal(text, old) {
		return false, err
	}
	if err := replace(path, text); err != nil {
		return false, fmt.Errorf("write proofs: %w", err)
	}
	return true, nil
}

// replace gives a file new contents, all of them or none.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), Name+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
