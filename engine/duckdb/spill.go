//go:build cgo

package duckdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A spill is a folder of our own in the temporary directory, for private data
// that does not fit in memory; only its owner can enter it. A process that is
// killed leaves it behind, and the next one to open an instance there with the
// same user's rights removes it: each holds a lock in its folder while it
// lives, which the system lets go of however it ends.
type spill struct {
	folder string
	lock   *os.File
}

// spillTo is a spill in the folder that the catalog names, or the system's for what is temporary.
func spillTo(temp string) (*spill, error) {
	s, err := newSpill(temp)
	if err != nil {
		return nil, diagnostic.New("D101", diagnostic.Span{}, "%v", err).
			Try("let temp in [resources] of the catalog, or TMPDIR without it, name a folder that there is and that this user can write to")
	}
	return s, nil
}

func newSpill(in string) (*spill, error) {
	if in == "" {
		in = os.TempDir()
	}
	removeAbandoned(in)
	folder, err := os.MkdirTemp(in, "discreet-")
	if err != nil {
		return nil, fmt.Errorf("make temporary directory: %w", err)
	}
	s := &spill{folder: folder}
	// Locked before it has its name, so that nobody finds it unlocked. Where the
	// file system has no locks the folder goes without, and is not found.
	making := filepath.Join(folder, "making")
	if s.lock, err = os.OpenFile(making, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("make temporary directory: %w", err), os.RemoveAll(folder))
	}
	if lockFile(s.lock) == nil {
		_ = os.Rename(making, filepath.Join(folder, "lock"))
	}
	return s, nil
}

// now is the time by the clock that stamps files.
func (s *spill) now() (time.Time, error) {
	clock := filepath.Join(s.folder, "clock")
	if err := os.WriteFile(clock, []byte("now"), 0o600); err != nil {
		return time.Time{}, fmt.Errorf("tell the time: %w", err)
	}
	info, err := os.Stat(clock)
	if err != nil {
		return time.Time{}, fmt.Errorf("tell the time: %w", err)
	}
	return info.ModTime(), nil
}

// Close removes the folder. It may be called again.
func (s *spill) Close() error {
	err := os.RemoveAll(s.folder)
	if closed := s.lock.Close(); !errors.Is(closed, os.ErrClosed) {
		err = errors.Join(err, closed)
	}
	return err
}

// removeAbandoned removes the folders of processes that are gone. What cannot
// be removed stays; that hinders nobody.
func removeAbandoned(in string) {
	entries, err := os.ReadDir(in)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), "discreet-") {
			continue
		}
		folder := filepath.Join(in, entry.Name())
		if info, err := os.Lstat(folder); err != nil || !info.IsDir() || !ours(info) {
			continue
		}
		f, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if lockFile(f) == nil {
			_ = os.RemoveAll(folder)
		}
		_ = f.Close()
	}
}
