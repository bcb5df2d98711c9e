package clustertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/discreet-dp/discreet/collect/cluster"
)

// Steps stop a member at one of its steps, as signal 9 would: a step is a transaction that changes
// something, in any database of the member's folder. SQLite asks before each commit (its commit hook).
//
// What a process that was killed leaves is what it has committed, and what it has sent. So a kill before
// each commit, and one after each, are all kills that can be told apart, if between two commits there is
// one message at most. Members of this process are stopped alike: from the step on none of their
// transactions commits, and whoever sets the step keeps messages from them and to them.
type Steps struct {
	mu      sync.Mutex
	members map[string]*stepping // by folder
}

// stepping is how far a member has come.
type stepping struct {
	steps []string
	at    int // the step to stop at; none if negative
	after bool
	die   func(before string)
	dead  bool
}

// WatchSteps watches all databases that this process opens from now on. It must not be called while
// others open some: call it before t.Parallel.
func WatchSteps(t testing.TB) *Steps {
	t.Helper()
	s := &Steps{members: map[string]*stepping{}}
	if err := s.hook(); err != nil {
		t.Fatal(err)
	}
	return s
}

// hook has SQLite ask for each connection of this process.
func (s *Steps) hook() error {
	sqlite.RegisterConnectionHook(func(c sqlite.ExecQuerierContext, name string) error {
		of, ok := c.(sqlite.HookRegisterer)
		if !ok {
			return errors.New("the driver has no hooks")
		}
		path, _, _ := strings.Cut(strings.TrimPrefix(name, "file://"), "?")
		var mu sync.Mutex
		var tables []string
		of.RegisterPreUpdateHook(func(d sqlite.SQLitePreUpdateData) {
			mu.Lock()
			defer mu.Unlock()
			if !slices.Contains(tables, d.TableName) {
				tables = append(tables, d.TableName)
			}
		})
		of.RegisterRollbackHook(func() {
			mu.Lock()
			defer mu.Unlock()
			tables = nil
		})
		of.RegisterCommitHook(func() int32 {
			mu.Lock()
			defer mu.Unlock()
			if len(tables) == 0 {
				return 0
			}
			step := filepath.Base(path) + " " + strings.Join(tables, ", ")
			tables = nil
			if !s.commits(path, step) {
				return 1
			}
			return 0
		})
		return nil
	})
	return nil
}

// commits reports whether a step is taken.
func (s *Steps) commits(path, step string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for folder, m := range s.members {
		if !strings.HasPrefix(path, folder+string(filepath.Separator)) {
			continue
		}
		if m.dead {
			return false
		}
		stop := len(m.steps) == m.at
		m.steps = append(m.steps, step)
		if stop {
			m.dead = true
			m.die(step)
			return m.after
		}
	}
	return true
}

// Begin counts the steps of a member from 0, and revives it.
func (s *Steps) Begin(folder string) { s.StopAt(folder, -1, false, nil) }

// StopAt revives a member, counts its steps from 0, and stops it before a step, or after it. die is called
// then, while the member waits, and must not use its databases.
func (s *Steps) StopAt(folder string, step int, after bool, die func(step string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members[folder] = &stepping{at: step, after: after, die: die}
}

// Revive lets a member that was stopped commit again, and stops it no more.
func (s *Steps) Revive(folder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.members[folder]; m != nil {
		m.dead, m.at = false, -1
	}
}

// Dead reports whether a member was stopped.
func (s *Steps) Dead(folder string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.members[folder]
	return m != nil && m.dead
}

// Taken are the steps of a member since it was begun, by the names of their tables; one that it was
// stopped at among them.
func (s *Steps) Taken(folder string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.members[folder]; m != nil {
		return slices.Clone(m.steps)
	}
	return nil
}

// killFile, in a member's folder, has the number of the step before which the process that starts next
// is killed.
const killFile = "kill-before-step"

// KillBefore has the process of a role that starts next kill itself by signal 9 before a step, once.
func KillBefore(t testing.TB, folder string, step int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, killFile), []byte(strconv.Itoa(step)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Ended waits until the process of a role has ended. It reports false if the context ends before.
func Ended(ctx context.Context, t testing.TB, c *cluster.Cluster, role string) bool {
	t.Helper()
	for {
		all, err := c.Status(ctx)
		if err != nil {
			t.Error(err)
			return false
		}
		if slices.ContainsFunc(all, func(s cluster.Status) bool { return s.Role == role && s.State == cluster.Ended }) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// armed does what KillBefore says, in the process of the role.
func armed(folder string) error {
	path := filepath.Join(folder, killFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	step, err := strconv.Atoi(string(text))
	if err = errors.Join(err, os.Remove(path)); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	s := &Steps{members: map[string]*stepping{}}
	s.StopAt(folder, step, false, func(string) {
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			p.Kill() //nolint:errcheck // nothing is done after it
		}
		select {}
	})
	return s.hook()
}
