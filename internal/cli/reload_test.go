//go:build cgo && unix

package cli

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/serve"
)

// A serverProcess is discreet serve as a process of its own.
type serverProcess struct {
	serve.Addresses
	*exec.Cmd
	talk *lockedBuffer
}

func startServer(t *testing.T, catalog string, args ...string) *serverProcess {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready.json")
	s := &serverProcess{talk: &lockedBuffer{}}
	s.Cmd = exec.Command("discreet", append([]string{"serve", "--catalog", catalog, "--postgres", "127.0.0.1:0", "--http", "127.0.0.1:0", "--ready-file", ready}, args...)...)
	s.Stderr = s.talk
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Wait() }()
	t.Cleanup(func() {
		s.Process.Kill()
		<-ended
	})
	s.await(t, func() bool {
		text, err := os.ReadFile(ready)
		return err == nil && json.Unmarshal(text, &s.Addresses) == nil
	})
	return s
}

// await waits until something has come true, and fails when the server will not do it.
func (s *serverProcess) await(t *testing.T, come func() bool) {
	t.Helper()
	for range 3000 {
		if come() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the server does not get there:\n%s", s.talk.String())
}

// hangup asks for a reload and returns what the log says of it.
func (s *serverProcess) hangup(t *testing.T) (line string) {
	t.Helper()
	before := len(s.talk.String())
	if err := s.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.await(t, func() bool {
		for l := range strings.Lines(s.talk.String()[before:]) {
			if strings.Contains(l, "the catalog") {
				line = l
			}
		}
		return line != ""
	})
	return line
}

// A SIGHUP reads the catalog again. What lets more be learnt, or is no catalog, is refused
// with its code and the way out in the log, and what is served stays; what the owner has
// accepted is served. A server that is killed while it reloads leaves a whole ledger.
func TestServeReload(t *testing.T) {
	catalog := folder(t)
	s := startServer(t, catalog)
	loose := strings.Replace(smallCatalog, "max_rows_per_group = 2", "max_rows_per_group = 3", 1)
	tight := strings.Replace(smallCatalog, "max_rows_per_group = 2", "max_rows_per_group = 1", 1)
	declare(t, catalog, loose)
	line := s.hangup(t)
	accept := regexp.MustCompile(`discreet ledger accept ([0-9a-f]{64})`).FindStringSubmatch(line)
	if accept == nil || !strings.Contains(line, `"code":"D219"`) || !strings.Contains(line, "tables.visits.max_rows_per_group was 2 and is 3") {
		t.Fatalf("a looser catalog: %s", line)
	}
	declare(t, catalog, "nonsense")
	if line := s.hangup(t); !strings.Contains(line, `"code":"D08`) {
		t.Errorf("no catalog: %s", line)
	}
	if _, talk := run(t, context.Background(), 1, "ledger", "accept", accept[1], "--catalog", catalog); !strings.Contains(talk, "D08") {
		t.Errorf("accepted what is no catalog: %s", talk)
	}
	declare(t, catalog, tight)
	if _, talk := run(t, context.Background(), 1, "ledger", "accept", accept[1], "--catalog", catalog); !strings.Contains(talk, "D219") {
		t.Errorf("accepted another text than was named: %s", talk)
	}
	if line := s.hangup(t); !strings.Contains(line, "read the catalog again") {
		t.Errorf("a tighter catalog: %s", line)
	}
	declare(t, catalog, loose)
	run(t, context.Background(), 0, "ledger", "accept", accept[1], "--catalog", catalog, "--note", "the study needs it")
	if line := s.hangup(t); !strings.Contains(line, "read the catalog again") || !strings.Contains(line, "was 1 and is 3") {
		t.Errorf("an accepted catalog: %s", line)
	}
	for i := range 4 {
		for range 5 {
			if err := s.Process.Signal(syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
			// While it is read, whole: one that is written in place is empty for a moment, and
			// read then is a catalog of nothing, than which this one reveals more.
			declare(t, catalog+".next", tight+strings.Repeat("#", i))
			if err := os.Rename(catalog+".next", catalog); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(i) * time.Millisecond)
		}
		if err := s.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		s = startServer(t, catalog)
	}
	run(t, context.Background(), 0, "ledger", "verify", "--catalog", catalog)
	out, _ := run(t, context.Background(), 0, "ledger", "export", "--catalog", catalog)
	if strings.Count(out, `"accepted":true`) != 1 || !strings.Contains(out, "the study needs it") || !strings.Contains(out, `"subject":"catalog:discreet.toml"`) {
		t.Errorf("the ledger does not say who accepted what:\n%s", out)
	}
}
