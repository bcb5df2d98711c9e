package datafile

import (
	"io/fs"
	"syscall"
	"time"
)

// Changed returns when a file's content, or what is known of it, changed last. Unlike the
// time of modification nobody can set it, but by the clock. ok is false where it is not known.
func Changed(info fs.FileInfo) (at time.Time, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return at, false
	}
	return time.Unix(s.Ctim.Unix()), true
}
