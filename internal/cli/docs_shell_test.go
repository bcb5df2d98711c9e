//go:build cgo && unix

package cli

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// ended puts commands into a process group that ends with the test, however that ends. Its first process waits for
// the end of what the test never writes: where the test is killed, the kernel closes the pipe.
func ended(t *testing.T) *syscall.SysProcAttr {
	t.Helper()
	first := exec.Command("bash", "-c", "read; kill -KILL 0")
	first.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := first.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		pipe.Close()
		_ = first.Wait() // it has killed itself with the group
	})
	return &syscall.SysProcAttr{Setpgid: true, Pgid: first.Process.Pid}
}

// A page's commands end with a test that is killed, those that it waits for and those in the background.
func TestPagesEndWithTheirTest(t *testing.T) {
	const inherited = "DISCREET_TEST_PAGE"
	if dir := os.Getenv(inherited); dir != "" {
		p := &page{T: t, dir: dir}
		p.shell("exec 9> alive; outlive() { echo $1 >&9; sleep 60; echo $1 outlived the test >&9; }; outlive behind & outlive before")
		return
	}
	dir := t.TempDir()
	alive := filepath.Join(dir, "alive")
	if err := syscall.Mkfifo(alive, 0o600); err != nil {
		t.Fatal(err)
	}
	test := exec.Command(os.Args[0], "-test.run=^TestPagesEndWithTheirTest$")
	test.Env = append(os.Environ(), inherited+"="+dir)
	if err := test.Start(); err != nil {
		t.Fatal(err)
	}
	defer test.Wait()
	f, err := os.Open(alive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for range 2 { // both run
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if err := test.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Errorf("%v\n%s", err, rest)
	}
}

// Pages whose members find each other by ports say port=N and take those that follow N.
var portsFrom = regexp.MustCompile(`\bport=(\d+)`)

const firstPort, lastPort, portsOfPage = 10_000, 15_000, 10 // below those of clusters, and of connections

// ports are in place of those that a page shows: what it shows, and what its commands are given.
type ports struct{ shown, given int }

// freePorts chooses ports that nobody has, nor another run of the page: it listens at the first, which no member takes.
func freePorts(t *testing.T, text string) (p ports) {
	t.Helper()
	m := portsFrom.FindStringSubmatch(text)
	if m == nil {
		return p
	}
	if _, err := fmt.Sscan(m[1], &p.shown); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		p.given = firstPort + portsOfPage*rand.IntN((lastPort-firstPort)/portsOfPage)
		if held := listenAt(p.given); held != nil {
			free := true
			for i := 1; i < portsOfPage; i++ {
				l := listenAt(p.given + i)
				if free = free && l != nil; l != nil {
					l.Close()
				}
			}
			if free {
				t.Cleanup(func() { held.Close() })
				return p
			}
			held.Close()
		}
	}
	t.Fatalf("no %d ports are free from %d to %d", portsOfPage, firstPort, lastPort)
	return p
}

func listenAt(port int) net.Listener {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)) //nolint:noctx // it does not wait
	if err != nil {
		return nil
	}
	return l
}

// give puts the ports that were chosen into a command, and show puts those of the page into what it printed.
func (p ports) give(line string) string { return p.swap(line, p.shown, p.given) }
func (p ports) show(text string) string { return p.swap(text, p.given, p.shown) }

func (p ports) swap(text string, from, to int) string {
	if p == (ports{}) {
		return text
	}
	for i := range portsOfPage {
		text = regexp.MustCompile(fmt.Sprintf(`\b%d\b`, from+i)).ReplaceAllString(text, fmt.Sprint(to+i))
	}
	return text
}

// Two runs of a page at once have other ports, and both print what the page shows.
func TestPagesHaveOwnPorts(t *testing.T) {
	text := "$ port=47310; echo \"127.0.0.1:$((port+1))\""
	one, two := freePorts(t, text), freePorts(t, text)
	if one.given == two.given {
		t.Fatalf("both have the ports from %d", one.given)
	}
	for _, p := range []ports{one, two} {
		line := p.give(text)
		if want := strings.Replace(text, "47310", fmt.Sprint(p.given), 1); line != want {
			t.Errorf("%q is asked, want %q", line, want)
		}
		if shown := p.show(fmt.Sprintf("127.0.0.1:%d", p.given+1)); shown != "127.0.0.1:47311" {
			t.Errorf("%q is shown", shown)
		}
	}
	if p := freePorts(t, "$ discreet serve --http 0.0.0.0:8080"); p != (ports{}) {
		t.Errorf("a page without ports of its own has %v", p)
	}
}
