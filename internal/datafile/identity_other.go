//go:build !unix

package datafile

import "io/fs"

// Identity returns nil: only os.SameFile knows.
func Identity(fs.FileInfo) any { return nil }
