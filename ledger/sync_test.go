//go:build unix

package ledger

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// strace returns the tool that shows a process's system calls.
func strace(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("skip: missing tool strace, which shows what is written and synced")
	}
	if err := exec.Command(path, "-o", os.DevNull, "true").Run(); err != nil {
		t.Skipf("skip: strace cannot trace here: %v", err)
	}
	return path
}

// A kill leaves the system's caches, a power failure does not. So no reservation
// may be acknowledged before the write-ahead log is synced after its last write,
// and no answer before the anchor is. This is read off the system calls of a
// client.
func TestSyncedBeforeAcknowledged(t *testing.T) {
	tool := strace(t)
	o := Options{Anchor: filepath.Join(t.TempDir(), "anchor")}
	l, path := create(t, o)
	l.Close()
	trace := filepath.Join(t.TempDir(), "trace")
	c := client{path: path, anchor: o.Anchor, name: "traced", goroutines: 1, count: 40, commit: true}
	cmd := c.command(tool, "-f", "-qq", "-y", "-e", "trace=write,pwrite64,writev,pwritev,fsync,fdatasync", "-e", "signal=none", "-o", trace)
	if out, err := cmd.Output(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const wal, anchor = "discreet.ledger-wal>", "anchor>"
	dirty, synced := map[string]bool{}, map[string]bool{} // since the last acknowledgement
	begun := map[string]string{}                          // by thread: a call that another's interrupts in the trace
	acknowledged := 0
	for s := bufio.NewScanner(bytes.NewReader(must(os.ReadFile(trace)))); s.Scan(); {
		thread, call, _ := strings.Cut(s.Text(), " ")
		call = strings.TrimSpace(call)
		if strings.Contains(call, "<unfinished ...>") {
			begun[thread] = call
			continue
		}
		if strings.HasPrefix(call, "<...") {
			call = begun[thread] + call
		}
		isSync := strings.HasPrefix(call, "fdatasync(") || strings.HasPrefix(call, "fsync(")
		for _, file := range []string{wal, anchor} {
			if !strings.Contains(call, file) {
				continue
			}
			if !isSync {
				dirty[file] = true
			} else if strings.HasSuffix(call, "= 0") {
				dirty[file], synced[file] = false, true
			}
		}
		reserved, committed := strings.Contains(call, `"reserved `), strings.Contains(call, `"committed `)
		if reserved || committed {
			acknowledged++
			if dirty[wal] || !synced[wal] {
				t.Fatalf("acknowledged before the log was synced: %s", call)
			}
			if committed && (dirty[anchor] || !synced[anchor]) {
				t.Fatalf("acknowledged before the anchor was synced: %s", call)
			}
			clear(synced)
		}
	}
	if acknowledged != 70 { // 40 reservations, of which every fourth has no answer
		t.Errorf("%d acknowledgements in the trace, want 70", acknowledged)
	}
}
