package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/discreet-dp/discreet/internal/cells"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
)

// A screen is a terminal of some columns: what is written to it is kept.
type screen struct {
	*os.File             // the terminal, as a program has it
	shown    chan string // once it is closed
}

// openTerminal opens a pseudo-terminal: what is typed and shown, and the program's side.
func openTerminal(t *testing.T, columns uint16) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no pseudo-terminals here: %v", err)
	}
	fd := int(master.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err := errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0), unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})); err != nil {
		t.Fatal(err)
	}
	if slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// newScreen opens a pseudo-terminal that is only looked at.
func newScreen(t *testing.T, columns uint16) *screen {
	t.Helper()
	master, slave := openTerminal(t, columns)
	s := &screen{slave, make(chan string, 1)}
	go func() {
		defer master.Close()
		text, _ := io.ReadAll(master) // ends with an error when the terminal is closed
		s.shown <- strings.ReplaceAll(string(text), "\r\n", "\n")
	}()
	return s
}

// text is all that was shown.
func (s *screen) text() string {
	s.Close()
	return <-s.shown
}

// on runs a command line in a terminal of some columns.
func on(t *testing.T, columns uint16, args ...string) string {
	t.Helper()
	s := newScreen(t, columns)
	Main(t.Context(), args, strings.NewReader(""), s.File, s.File)
	return regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(s.text(), "")
}

// In a terminal no table is wider than it, and says how to see the rest: with --wide all
// is there. Every command that prints tables has it.
func TestTablesFitTheTerminal(t *testing.T) {
	if workplace.EngineName == workplace.NoEngine {
		t.Skip("this build has no engine")
	}
	catalog := filepath.Join(filepath.Dir(folder(t)), "wide.toml")
	towns := make([]string, 40)
	for i := range towns {
		towns[i] = fmt.Sprintf("%q", fmt.Sprintf("town %d", i))
	}
	declare(t, catalog, smallCatalog+"columns.visits = { type = \"integer\", lower = 0, upper = 1000000, step = 10 }\ncolumns.town = { type = \"text\", domain = ["+strings.Join(towns, ", ")+"] }\n")
	for _, tc := range []struct {
		cut  bool
		args []string
	}{
		{true, []string{"tables", "--catalog", catalog}},
		{true, []string{"query", "--catalog", catalog, "DESCRIBE visits"}},
		{true, []string{"explain", "--catalog", catalog, "SHOW TABLES"}},
		{true, []string{"check", "--catalog", catalog}},
		{true, []string{"account", "100 * poisson(0.01, gaussian(1.1)) + laplace(3)", "--delta", "1e-6"}},
		{true, []string{"account", "compare", "laplace(3)", "100 * poisson(0.01, gaussian(1.1))", "--delta", "1e-6"}},
		{true, []string{"account", "runs", "gaussian(10)", "--epsilon", "1", "--delta", "1e-6"}},
		{false, []string{"budget", "--catalog", catalog, "--ledger", filepath.Join(filepath.Dir(catalog), "discreet.ledger")}},
		{false, []string{"noise", "randomized-response", "--truth", "0.75", "--estimate", "320,680"}},
	} {
		const columns = 48
		narrow, wide := on(t, columns, tc.args...), on(t, columns, append(tc.args, "--wide")...)
		for line := range strings.SplitSeq(narrow, "\n") {
			if i := strings.LastIndex(line, "\x1b[K"); i >= 0 { // progress that was cleared
				line = line[i+len("\x1b[K"):]
			}
			if cells.Width(line) > columns && !strings.HasPrefix(line, "error[") { // which points at places
				t.Errorf("%q is wider than %d:\n%s", tc.args, columns, line)
			}
		}
		if got := strings.Contains(narrow, "… --wide shows all"); got != tc.cut {
			t.Errorf("%q says how to see all: %v\n%s", tc.args, got, narrow)
		}
		if strings.Contains(wide, "…") || strings.Contains(wide, "error[D11") {
			t.Errorf("%q is cut:\n%s", tc.args, wide)
		}
	}
	if all := on(t, 48, "tables", "--catalog", catalog, "--wide"); !strings.Contains(all, "town 39") {
		t.Errorf("not all of the domain:\n%s", all)
	}
}

// Output that comes while a spinner turns does not stand behind it.
func TestOutputClearsProgress(t *testing.T) {
	s := newScreen(t, 40)
	term := terminal.New(strings.NewReader(""), s.File, s.File)
	shown := make(chan struct{})
	var once sync.Once
	done := term.Watch(t.Context(), func() string {
		once.Do(func() { close(shown) })
		return "accounting"
	})
	<-shown
	fmt.Fprintln(term.Out, "plan")
	done()
	if parts := strings.Split(s.text(), "\r\x1b[K"); len(parts) < 3 || strings.TrimSpace(parts[len(parts)-1]) != "plan" {
		t.Errorf("%q", parts)
	}
}

// Help and refusals break between words; what is copied from an example stays whole.
func TestHelpFitsTheTerminal(t *testing.T) {
	const columns = 48
	for _, args := range [][]string{{"help"}, {"help", "init"}, {"help", "train"}, {"help", "D043"}, {"noise", "laplace", "--help"}, {"explain", "--catalog", "missing.toml", "SELECT 1"}} {
		said := on(t, columns, args...)
		for line := range strings.SplitSeq(said, "\n") {
			if line = strings.TrimRight(line, "\r"); cells.Width(line) > columns && !strings.HasPrefix(line, "  discreet ") && !strings.HasPrefix(line, "  SELECT ") && len(strings.Fields(line)) > 2 {
				t.Errorf("%q is wider than %d:\n%s", args, columns, line)
			}
		}
	}
}

// Progress stays on its line: what is wider than the terminal would wrap, and could not be
// cleared. When it ends nothing of it is left.
func TestProgressFitsTheTerminal(t *testing.T) {
	const columns = 40
	s := newScreen(t, columns)
	term := terminal.New(strings.NewReader(""), s.File, s.File)
	shown := make(chan struct{})
	var once sync.Once
	calls := 0
	done := term.Watch(t.Context(), func() string {
		if calls++; calls == 3 {
			once.Do(func() { close(shown) })
		}
		return "checking " + terminal.Bytes(1_234_567, 345_678_901) + " table 1 of 3, 漢字漢字漢字, reading"
	})
	<-shown
	done()
	parts := strings.Split(s.text(), "\r\x1b[K")
	if len(parts) < 4 || parts[len(parts)-1] != "" {
		t.Fatalf("shown, and cleared: %q", parts)
	}
	for _, part := range parts {
		if cells.Width(part) >= columns {
			t.Errorf("%q is as wide as the terminal", part)
		}
	}
	if !strings.Contains(parts[1], "checking [") {
		t.Errorf("%q", parts[1])
	}
}

// An analyst who watches a statement at work sees for how long, and nothing of its data:
// whatever is counted depends on them.
func TestAnalystsSeeTimeAlone(t *testing.T) {
	for _, path := range []string{"query/query.go", "query/map.go"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, counts := range []string{".Watch(", ".Progress(", "terminal.Steps(", "terminal.Bytes("} {
			if strings.Contains(string(text), counts) {
				t.Errorf("%s counts: %s", path, counts)
			}
		}
		if strings.Count(string(text), "t.Busy(ctx, ") != 1 {
			t.Errorf("%s does not say that it is at work", path)
		}
	}
}
