//go:build cgo

package duckdb

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/datafile"
)

// A way is what stands on the paths to files: the files, the folders that they are in, up to the root, and the links between.
type way map[string]fs.FileInfo

// wayTo looks at what stands on the way to files.
func wayTo(paths []string) (way, error) {
	w := way{}
	for _, path := range paths {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil, err
		}
		for _, at := range []string{path, real} {
			if err := w.add(at); err != nil {
				return nil, err
			}
		}
	}
	return w, nil
}

func (w way) add(path string) error {
	for path = filepath.Clean(path); w[path] == nil; path = filepath.Dir(path) { // the root is its own folder
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		w[path] = info
	}
	return nil
}

// same reports whether nothing on the way was renamed or replaced. The system notes when a folder was renamed as its change, and when a
// file was made or removed in it as a modification, too. A folder that was renamed and has a new file since is taken as one with a new file.
func (w way) same(now way) bool {
	for path, then := range w {
		at := now[path]
		if at == nil || !os.SameFile(then, at) {
			return false
		}
		before, _ := datafile.Changed(then)
		after, _ := datafile.Changed(at)
		if !after.Equal(before) && !(at.IsDir() && after.Equal(at.ModTime())) {
			return false
		}
	}
	return len(w) == len(now)
}
