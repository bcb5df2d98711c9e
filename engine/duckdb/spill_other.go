//go:build cgo && !unix

package duckdb

import (
	"io/fs"
	"os"
)

func lockFile(*os.File) error { return nil }

// Without locks nobody can tell whose process is gone.
func ours(fs.FileInfo) bool { return false }

// freeBytes is not known here.
func freeBytes(string) (int64, error) { return 0, nil }
