//go:build unix

// Package postgrestest starts a PostgreSQL server for a test: the oracle of
// what SQL means.
//
// The server is thrown away with the test. It listens on a socket in the test's
// temporary folder alone, with the locale C.UTF-8.
package postgrestest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Start starts a server and returns the connection string of its empty
// database. Settings, such as "max_connections=100", come after its own. It skips the
// test, aloud, where PostgreSQL is not installed.
func Start(t testing.TB, settings ...string) string {
	t.Helper()
	initdb, server := program("initdb"), program("postgres")
	if initdb == "" || server == "" {
		t.Skip("skip: missing tool: PostgreSQL's initdb and postgres (Debian: apt-get install postgresql)")
	}
	who, err := account()
	if err != nil {
		t.Skipf("skip: missing tool: an account for PostgreSQL, which does not run as root: %v", err)
	}
	// Not t.TempDir: a socket's path must be short, and the account must get in.
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the server's files: %v", err)
		}
	})
	if who != nil {
		if err := os.Chown(dir, int(who.Uid), int(who.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(dir, "data")
	command := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(name, args...)
		c.Dir = dir
		c.SysProcAttr = &syscall.SysProcAttr{Credential: who}
		return c
	}
	if out, err := command(initdb, "-D", data, "-U", "test", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-D", data, "-k", dir}
	for _, s := range append([]string{"listen_addresses=", "fsync=off", "timezone=UTC", "shared_buffers=16MB", "max_connections=5", "jit=off"}, settings...) {
		args = append(args, "-c", s)
	}
	run := command(server, args...)
	run.Stdout, run.Stderr = log, log
	if err := run.Start(); err != nil {
		t.Fatalf("start postgres: %v", err)
	}
	t.Cleanup(func() {
		if err := run.Process.Signal(syscall.SIGQUIT); err != nil {
			t.Errorf("stop postgres: %v", err)
		}
		_ = run.Wait() // that it was stopped
		log.Close()
	})
	for range 300 {
		if pid, _ := os.ReadFile(filepath.Join(data, "postmaster.pid")); bytes.Contains(pid, []byte("ready")) {
			return fmt.Sprintf("host=%s user=test dbname=postgres", dir)
		}
		time.Sleep(20 * time.Millisecond)
	}
	out, _ := os.ReadFile(log.Name())
	t.Fatalf("postgres did not start:\n%s", out)
	return ""
}

// program finds one of PostgreSQL's programs, which Debian keeps off the PATH.
func program(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); len(found) > 0 {
		return found[len(found)-1]
	}
	return ""
}

// account returns the account to run as: nil for the caller's own, unless that
// is root.
func account() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ := strconv.ParseUint(u.Uid, 10, 32)
			gid, _ := strconv.ParseUint(u.Gid, 10, 32)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, fmt.Errorf("neither postgres nor nobody exists")
}
