package house_test

// What the repository holds, and what it does not.

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// git runs a git command on the repository, or skips aloud where there is none.
func git(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := os.Stat(".git"); err != nil {
		t.Skip("skip: no git repository")
	}
	var stderr bytes.Buffer
	cmd := exec.Command("git", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || stderr.Len() > 0) {
		t.Skipf("skip: git %s: %v: %s", args[0], err, &stderr)
	}
	return string(out)
}

// A tracked file is one that a commit holds.
type tracked struct {
	path string
	link bool
}

func trackedFiles(t *testing.T) (files []tracked) {
	t.Helper()
	for entry := range strings.SplitSeq(strings.TrimSuffix(git(t, "ls-files", "-sz"), "\x00"), "\x00") {
		mode, file, ok := strings.Cut(entry, "\t")
		if !ok {
			t.Fatalf("git ls-files says %q", entry)
		}
		files = append(files, tracked{file, strings.HasPrefix(mode, "120000 ")})
	}
	return files
}

// large are the files above a megabyte that are no text, with the reason.
var large = map[string]string{
	"sandbox/testdata/go/mapper.wasm": "what Go's compiler makes at the least, stripped: what is instrumented must be real",
}

func TestLargeFiles(t *testing.T) {
	inRoot(t)
	have := map[string]bool{}
	for _, f := range trackedFiles(t) {
		info, err := os.Lstat(f.path)
		if os.IsNotExist(err) {
			continue // deleted, not yet committed
		} else if err != nil {
			t.Fatal(err)
		}
		if info.Size() <= 1<<20 || f.link {
			continue
		}
		text, err := os.ReadFile(f.path)
		if err != nil {
			t.Fatal(err)
		}
		if have[f.path] = true; bytes.IndexByte(text, 0) >= 0 && large[f.path] == "" {
			t.Errorf("%s: %d bytes that are no text: what is built or downloaded is not committed", f.path, info.Size())
		}
	}
	for file := range large {
		if !have[file] {
			t.Errorf("%s is no more, or has shrunk", file)
		}
	}
}

// astray says what is wrong with a link of the repository, and "" of one to a path of the
// repository that holds.
func astray(link, to string, exists func(string) bool) string {
	at := path.Join(path.Dir(link), to)
	switch {
	case path.IsAbs(to), at == "..", strings.HasPrefix(at, "../"):
		return "leaves the repository"
	case !exists(at):
		return "leads nowhere"
	}
	return ""
}

func TestLinksHold(t *testing.T) {
	inRoot(t)
	exists := func(p string) bool {
		_, err := os.Stat(filepath.FromSlash(p))
		return err == nil
	}
	for _, f := range trackedFiles(t) {
		if !f.link {
			continue
		}
		to, err := os.Readlink(f.path)
		if err != nil {
			t.Fatal(err)
		}
		if wrong := astray(f.path, to, exists); wrong != "" {
			t.Errorf("%s, a link to %s, %s", f.path, to, wrong)
		}
	}
	for link, want := range map[string]string{"/tmp/venv": "leaves", "../../x": "leaves", "../..": "leaves", "gone": "nowhere", "../Makefile": "", "house_test.go": "nowhere"} {
		if got := astray("docs/link", link, exists); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", link, got, want)
		}
	}
}

// What builds, tests and set-ups leave behind is ignored, as a file, a folder or a link,
// and nothing of it is committed.
func TestLeftoversAreIgnored(t *testing.T) {
	inRoot(t)
	if files := git(t, "ls-files", "--cached", "--ignored", "--exclude-standard"); files != "" {
		t.Errorf("committed and ignored: %s", files)
	}
	leftovers := []string{"bin/golangci-lint", "discreet", "cmd/discreet/discreet", "cmd/discreetvet/discreetvet", "ledger.test", "cpu.prof",
		"discreet-demo/visits.parquet", "bench/peers/venv", "bench/peers/venv-learning", "privacy/testdata/rapid/TestX/1.fail"}
	ignored := strings.Fields(git(t, append([]string{"check-ignore", "--no-index"}, leftovers...)...))
	for _, path := range leftovers {
		if !slices.Contains(ignored, path) {
			t.Errorf("%s is not ignored", path)
		}
	}
	for _, path := range []string{"cmd/discreet/main.go", "discreet.go", "internal/cli/testdata/script/ledger.txtar", "bench/peers/setup"} {
		if out := git(t, "check-ignore", "--no-index", path); out != "" {
			t.Errorf("%s is ignored", path)
		}
	}
}

// go.mod and go.sum of each module are what its imports need, with the direct ones
// marked so. Asked of the module cache alone: where it lacks a module there is no telling.
func TestModulesAreTidy(t *testing.T) {
	inRoot(t)
	var modules []string
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if n := d.Name(); err == nil && d.IsDir() && file != "." && (n == "testdata" || n[0] == '.') {
			return filepath.SkipDir
		}
		if d.Name() == "go.mod" {
			modules = append(modules, file)
		}
		return err
	})
	if err != nil || len(modules) == 0 {
		t.Fatal(modules, err)
	}
	for _, file := range modules {
		t.Run(filepath.Dir(file), func(t *testing.T) {
			for _, read := range []string{file, strings.TrimSuffix(file, "mod") + "sum"} {
				if _, err := os.ReadFile(read); err != nil { // what the test's cached result depends on
					t.Fatal(err)
				}
			}
			var stdout, stderr bytes.Buffer
			cmd := exec.Command("go", "mod", "tidy", "-diff")
			cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Dir(file), &stdout, &stderr
			cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOTOOLCHAIN=local")
			if err := cmd.Run(); err == nil {
				return
			}
			if stdout.Len() == 0 && strings.Contains(stderr.String(), "GOPROXY=off") {
				t.Skip("skip: the module cache lacks what go mod tidy asks for")
			}
			t.Errorf("go mod tidy -diff:\n%s%s", &stdout, &stderr)
		})
	}
}
