package cli

import (
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A typist types at a terminal and reads what stands there.
type typist struct {
	*testing.T
	keys *os.File
	mu   sync.Mutex
	text strings.Builder
	read int
}

// sitDown opens a pseudo-terminal: tty is the program's side.
func sitDown(t *testing.T) (p *typist, tty *os.File) {
	t.Helper()
	keys, tty := openTerminal(t, 100)
	p = &typist{T: t, keys: keys}
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := keys.Read(b)
			p.mu.Lock()
			p.text.Write(b[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return p, tty
}

var drawing = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

// wait waits until something that was not read before stands in the terminal, and returns what
// stands before it.
func (p *typist) wait(want string) string {
	p.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		p.mu.Lock()
		all := drawing.ReplaceAllString(p.text.String(), "")
		p.mu.Unlock()
		if at := strings.Index(all[min(p.read, len(all)):], want); at >= 0 {
			before := all[p.read : p.read+at]
			p.read += at + len(want)
			return before
		}
		if time.Now().After(deadline) {
			p.Fatalf("%q does not come; there stands\n%s", want, all[min(p.read, len(all)):])
		}
	}
}

func (p *typist) types(keys string) {
	p.Helper()
	if _, err := io.WriteString(p.keys, keys); err != nil {
		p.Fatal(err)
	}
}

// TestShell types at a shell: statements of several lines, the tab, the arrows, Ctrl-C, commands.
func TestShell(t *testing.T) {
	catalog := folder(t)
	p, tty := sitDown(t)
	ended := make(chan int, 1)
	go func() {
		ended <- Main(t.Context(), []string{"shell", "--catalog", catalog, "--rho", "1"}, tty, tty, tty)
	}()
	const prompt = "discreet> "
	p.wait(prompt)

	// A tab completes a function, a table after FROM; a statement ends at its semicolon.
	p.types("sel\tcount(*) AS n -- all of them;\r")
	p.wait("... ")
	p.types("from vis\t;\r")
	p.wait("cost: rho 1")
	p.wait(prompt)

	// The arrow finds it on one line; it is answered again for nothing.
	p.types("\x1b[A")
	p.wait("select")
	p.types("\r")
	p.wait("nothing was charged again")
	p.wait(prompt)

	// Ctrl-C drops what is being written, also after a line of it.
	p.types("select 1/0 +\r")
	p.wait("... ")
	p.types("and more\x03")
	p.wait(prompt)
	p.types("\\explain\r")
	p.wait("cost ")
	p.wait(prompt)

	// What is refused is said, and the session goes on.
	p.types("select patient_id from visits;\r")
	p.wait("error[D041]")
	p.wait(prompt)
	p.types("\\nothing\r")
	p.wait(`\nothing is no command`)
	p.wait(prompt)

	// A tab that says nothing more shows what there is.
	p.types("\\d\t\r")
	p.wait("patient_id")
	p.wait(prompt)
	p.types("\\accuracy 500\r")
	p.wait(prompt)
	p.types("\\accuracy\r")
	p.wait("accuracy: 500")
	p.wait(prompt)
	p.types("\\rho\r")
	p.wait("rho: not set")
	p.wait(prompt)

	// The bound of an accuracy goes with an accuracy alone.
	p.types("\\most 5\r")
	p.wait(prompt)
	p.types("\\accuracy off\r")
	p.wait(prompt)
	p.types("select 1 AS one;\r")
	p.wait("cost: nothing")
	p.wait(prompt)
	p.types("help\r")
	p.wait("this list")
	p.wait(prompt)
	p.types("\\budget\r")
	p.wait("spent   rho 1")
	p.wait(prompt)

	// A table that the terminal cuts can be had whole here, too.
	p.types("select repeat('x', 60) AS a, repeat('y', 60) AS b;\r")
	p.wait(`… \wide on shows all`)
	p.wait(prompt)
	p.types("\\wide on\r")
	p.wait(prompt)
	p.types("select repeat('x', 60) AS a, repeat('y', 59) AS b;\r")
	p.wait(strings.Repeat("x", 60) + "  " + strings.Repeat("y", 58)) // the terminal itself breaks lines
	p.wait(prompt)

	// Ctrl-D leaves; the terminal is as it was.
	p.types("\x04")
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
	if state, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS); err != nil || state.Lflag&unix.ICANON == 0 || state.Lflag&unix.ISIG == 0 {
		t.Errorf("the terminal is left raw: %v", err)
	}
}
