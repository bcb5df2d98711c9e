//go:build unix

// Package postgrestest starts a PostgreSQL server for a test: the oracle of
// what SQL means.
//
// The server is thrown away with the test. It listens on a socket in the test's
// temporary folder alone, with the locale C.UTF-8.
package postgrestest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Start starts a server and returns the connection string of its empty
// database. Settings, such as "max_connections=100", come after its own. It skips the
// test, aloud, where PostgreSQL is not installed.
func Start(t testing.TB, settings ...string) string {
	t.Helper()
	return StartServer(t, settings...).Connection
}

// A Server can be killed and started again.
type Server struct {
	Connection string // of its empty database

	dir      string
	who      *syscall.Credential // nil for the caller's own account
	settings []string
	command  func() *exec.Cmd
	run      *exec.Cmd // nil while it is killed
	ended    chan struct{}
	log      *os.File
}

// StartServer is Start for a test that kills it.
func StartServer(t testing.TB, settings ...string) *Server {
	t.Helper()
	s := folder(t)
	return s.initialized(t, settings)
}

// StartWithin is StartServer with all the server's files in a folder whose path is short, such as
// that of a small file system.
func StartWithin(t testing.TB, dir string, settings ...string) *Server {
	t.Helper()
	s := within(t, dir)
	return s.initialized(t, settings)
}

func (s *Server) initialized(t testing.TB, settings []string) *Server {
	t.Helper()
	from, err := s.template()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", from, s.data()).CombinedOutput(); err != nil {
		t.Fatalf("copy an empty server: %v\n%s", err, out)
	}
	s.start(t, settings)
	return s
}

// template is the folder of an empty server, which the user's cache keeps: initdb takes half a second
// of a processor, and a test run wants thirty servers. Another initdb makes another.
func (s *Server) template() (string, error) {
	kept, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	args := []string{"-U", "test", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"}
	initdb, err := filepath.EvalSymlinks(program("initdb"))
	if err != nil {
		return "", err
	}
	of, err := os.Stat(initdb)
	if err != nil {
		return "", err
	}
	key := sha256.Sum256(fmt.Append(nil, initdb, of.Size(), of.ModTime().UnixNano(), args, s.who))
	dir := filepath.Join(kept, "discreet", fmt.Sprintf("postgres-%x", key[:8]))
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	// Another process that does the same at once may be first. The account cannot look into the cache.
	if out, err := s.tool("initdb", append(args, "-D", s.data())...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	mine, err := os.MkdirTemp(filepath.Dir(dir), "postgres-new-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(mine) }()
	made := filepath.Join(mine, "data")
	if out, err := exec.Command("cp", "-a", s.data(), made).CombinedOutput(); err != nil {
		return "", fmt.Errorf("keep an empty server: %w\n%s", err, out)
	}
	if err := os.RemoveAll(s.data()); err != nil {
		return "", err
	}
	if err := os.Rename(made, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return dir, nil
}

// Standby starts a replica of the server, which is called name among those that the server may wait
// for (synchronous_standby_names), under the server's own settings. It skips the test, aloud, where
// pg_basebackup is of an older version than the server.
func (s *Server) Standby(t testing.TB, name string) *Server {
	t.Helper()
	r := folder(t)
	// With the fast checkpoint the copy does not wait for the next one.
	if out, err := r.tool("pg_basebackup", "-D", r.data(), "-d", s.Connection+" application_name="+name, "-R", "-X", "stream", "-c", "fast", "--no-sync").CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("incompatible server version")) {
			t.Skipf("no replica: %s", bytes.TrimSpace(out))
		}
		t.Fatalf("pg_basebackup: %v\n%s", err, out)
	}
	r.start(t, s.settings)
	return r
}

// Promote makes a server of a replica.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	if out, err := s.tool("pg_ctl", "promote", "-D", s.data(), "-w").CombinedOutput(); err != nil {
		t.Fatalf("pg_ctl promote: %v\n%s", err, out)
	}
}

// folder makes a folder for a server's files, and removes it when the test ends.
func folder(t testing.TB) *Server {
	t.Helper()
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
	return within(t, dir)
}

func within(t testing.TB, dir string) *Server {
	t.Helper()
	if program("initdb") == "" || program("postgres") == "" {
		t.Skip("skip: missing tool: PostgreSQL's initdb and postgres (Debian: apt-get install postgresql)")
	}
	who, err := account()
	if err != nil {
		t.Skipf("skip: missing tool: an account for PostgreSQL, which does not run as root: %v", err)
	}
	if who != nil {
		if err := os.Chown(dir, int(who.Uid), int(who.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	return &Server{Connection: fmt.Sprintf("host=%s user=test dbname=postgres", dir), dir: dir, who: who}
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// tool is one of PostgreSQL's programs, under the server's account.
func (s *Server) tool(name string, args ...string) *exec.Cmd {
	c := exec.Command(program(name), args...)
	c.Dir = s.dir
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.who}
	return c
}

// start starts the server, which is stopped when the test ends.
func (s *Server) start(t testing.TB, settings []string) {
	t.Helper()
	var err error
	if s.log, err = os.Create(filepath.Join(s.dir, "log")); err != nil {
		t.Fatal(err)
	}
	s.settings = settings
	args := []string{"-D", s.data(), "-k", s.dir}
	for _, s := range append([]string{"listen_addresses=", "fsync=off", "timezone=UTC", "shared_buffers=16MB", "max_connections=5", "jit=off"}, settings...) {
		args = append(args, "-c", s)
	}
	s.command = func() *exec.Cmd { return s.tool("postgres", args...) }
	t.Cleanup(func() {
		if s.run != nil {
			if err := s.run.Process.Signal(syscall.SIGQUIT); err != nil {
				t.Errorf("stop postgres: %v", err)
			}
			<-s.ended
		}
		s.log.Close()
	})
	if err := s.Again(); err != nil {
		t.Fatal(err)
	}
}

// Kill kills the server, and waits until it is gone. The processes that serve clients see that
// and end, each when it looks.
func (s *Server) Kill() error {
	if err := s.run.Process.Kill(); err != nil {
		return err
	}
	<-s.ended
	s.run = nil
	return nil
}

// Alive says that the server has ended, if it has by itself: Again starts it then.
func (s *Server) Alive() error {
	select {
	case <-s.ended:
		s.run = nil
		return errors.New("the server has ended")
	default:
		return nil
	}
}

// Again starts the server and waits until it answers. PostgreSQL refuses to start while
// processes of a killed server use its files: then it is tried again.
func (s *Server) Again() error {
	for range 50 {
		s.run = s.command()
		s.run.Stdout, s.run.Stderr = s.log, s.log
		if err := s.run.Start(); err != nil {
			return fmt.Errorf("start postgres: %w", err)
		}
		ended := make(chan struct{})
		go func(run *exec.Cmd) { _ = run.Wait(); close(ended) }(s.run)
		s.ended = ended
		if s.answers(ended) {
			return nil
		}
		s.run = nil
	}
	out, _ := os.ReadFile(s.log.Name())
	return fmt.Errorf("postgres did not start:\n%s", out)
}

// answers reports whether the server that was started is ready before it has ended. The file
// can still be a killed one's, which had another number.
func (s *Server) answers(ended chan struct{}) bool {
	number := strconv.Itoa(s.run.Process.Pid) + "\n"
	for range 1500 {
		said, _ := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
		if strings.HasPrefix(string(said), number) && bytes.Contains(said, []byte("ready")) {
			return true
		}
		select {
		case <-ended:
			time.Sleep(100 * time.Millisecond)
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
	return false
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
