//go:build unix

package datafile

import (
	"io/fs"
	"syscall"
)

// Identity returns what two files have in common if they are one, as os.SameFile has it;
// nil where that is not known.
func Identity(info fs.FileInfo) any {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return struct{ device, number any }{s.Dev, s.Ino}
}
