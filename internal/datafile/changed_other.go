//go:build !linux && !darwin

package datafile

import (
	"io/fs"
	"time"
)

// Changed says that it is not known.
func Changed(fs.FileInfo) (at time.Time, ok bool) { return at, false }
