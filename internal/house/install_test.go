package house_test

// What a reader of README does first.

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// README names the version of Go that go.mod asks for.
func TestReadmeNamesGo(t *testing.T) {
	inRoot(t)
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(mod))
	if version == nil || !strings.Contains(string(readme), "Go "+version[1]+" or newer") {
		t.Errorf("README does not ask for Go %v or newer", version)
	}
}

// make install puts the command, its pages and its completions where a distribution
// looks for them, below DESTDIR, and nothing else.
func TestInstall(t *testing.T) {
	inRoot(t)
	if testing.Short() {
		t.Skip("-short: it links the command")
	}
	for _, tool := range []string{"make", "install"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("skip: missing tool " + tool)
		}
	}
	dest := t.TempDir()
	cmd := exec.Command("make", "--no-print-directory", "install", "PREFIX=/usr", "DESTDIR="+dest)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make install: %v\n%s", err, out)
	}
	if out, err := exec.Command(filepath.Join(dest, "usr", "bin", "discreet"), "version").CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "discreet ") {
		t.Errorf("discreet version: %v\n%s", err, out)
	}
	for _, file := range []string{"man/man1/discreet.1", "man/man1/discreet-query.1", "bash-completion/completions/discreet", "zsh/site-functions/_discreet", "fish/vendor_completions.d/discreet.fish"} {
		if info, err := os.Stat(filepath.Join(dest, "usr", "share", file)); err != nil || info.Size() == 0 || info.Mode().Perm() != 0o644 {
			t.Errorf("share/%s: %v", file, err)
		}
	}
	page := readFile(t, filepath.Join(dest, "usr", "share", "man", "man1", "discreet-query.1"))
	for _, flag := range []string{`\fB\-f\fP FILE`, `\fB\-\-ledger\fP=FILE`, "\n\\fB\\-\\-json\\fP\n"} {
		if !strings.Contains(page, flag) {
			t.Errorf("the page of discreet query does not show %q", flag)
		}
	}
	pages, err := filepath.Glob(filepath.Join(dest, "usr", "share", "man", "man1", "*.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range pages {
		testManualPage(t, file)
	}
	others, err := filepath.Glob(filepath.Join(dest, "*"))
	if err != nil || len(others) != 1 {
		t.Errorf("below DESTDIR stand %v (%v)", others, err)
	}
}

// An option's text stands below it, and so does what a command in a list does; a page that
// names pages of commands below its own lists them.
func testManualPage(t *testing.T, file string) {
	t.Helper()
	name := strings.TrimSuffix(filepath.Base(file), ".1")
	lines := strings.Split(readFile(t, file), "\n")
	listed := map[string]bool{}
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, `\fB\-`), strings.HasPrefix(line, `\fBdiscreet `) && lines[i-1] == ".TP":
			if lines[i-1] != ".TP" || lines[i+1] == "" || strings.ContainsAny(lines[i+1][:1], "\t.") {
				t.Errorf("%s: %q has no text of its own below it", name, line)
			}
			command, _, _ := strings.Cut(strings.TrimPrefix(line, `\fB`), `\fP`)
			listed[strings.ReplaceAll(strings.ReplaceAll(command, `\-`, "-"), " ", "-")] = true
		case strings.Contains(strings.ReplaceAll(line, `\-`, ""), "-") && !strings.HasPrefix(line, "."):
			t.Errorf("%s: a hyphen that a terminal may show as another character: %q", name, line)
		}
	}
	_, others, _ := strings.Cut(strings.ReplaceAll(strings.Join(lines, "\n"), `\-`, "-"), ".SH SEE ALSO")
	for _, other := range regexp.MustCompile(`\\fB([a-z-]+)\(1\)`).FindAllStringSubmatch(others, -1) {
		if strings.HasPrefix(other[1], name+"-") && !listed[other[1]] {
			t.Errorf("%s: %s is not listed", name, other[1])
		}
	}
	if len(listed) == 0 {
		t.Errorf("%s: no option, no command", name)
	}
}
