package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/verify"
)

// writeModule makes a folder a module that imports this one, at root, with the named programs
// of verify/testdata in folders of their own.
func writeModule(t *testing.T, root, dir string, programs ...string) {
	t.Helper()
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	// What this module needs, one that imports it needs too.
	text := strings.Replace(string(mod), "module github.com/discreet-dp/discreet\n", "module example.org/page\n", 1) +
		"\nrequire github.com/discreet-dp/discreet v0.0.0\n\nreplace github.com/discreet-dp/discreet => " + root + "\n"
	writeFiles(t, dir, map[string]string{"go.mod": text, "go.sum": string(sum)})
	for _, name := range programs {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(root, "verify", "testdata", name))); err != nil {
			t.Fatal(err)
		}
	}
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// What does not compile is shown at its place, with the line.
func TestPackagesThatDoNotCompile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	file := filepath.Join(dir, "a.go")
	if err := os.WriteFile(file, []byte("package a\n\nvar x int = \"é\" + y\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var talk bytes.Buffer
	term := terminal.New(nil, new(bytes.Buffer), &talk)
	err := &verify.LoadError{Problems: []verify.Problem{
		{File: file, Line: 3, Column: 20, Text: "undefined: y"},
		{File: file, Line: 99, Column: 1, Text: "beyond the end"},
		{Text: "no place"},
	}}
	if code := failure.Finish(term, t.Context(), err); code != diagnostic.ExitRefused {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"error[D150]: undefined: y", "a.go:3:19", "y\n    |                   ^", "error[D150]: beyond the end", "error[D150]: no place"} {
		if !strings.Contains(talk.String(), want) {
			t.Errorf("no %q in\n%s", want, talk.String())
		}
	}
}

const (
	pickProgram = `package pick

import "github.com/discreet-dp/discreet/noise"

//dp:adjacent each(scores) <= 1
//dp:requires eps > 0
//dp:cost eps
func Pick(scores []float64, eps float64, src *noise.Source) int {
	if len(scores) == 0 {
		return -1
	}
	return src.Choose(scores, eps)
}
`
	aboveProgram = `package above

import "github.com/discreet-dp/discreet/noise"

//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Above(q []float64, t, eps float64, src *noise.Source) int {
	t += src.Laplace(2 / eps)
	for i, x := range q {
		if x+src.Laplace(4/eps) >= t {
			return i
		}
	}
	return -1
}
`
	plainProgram = `package plain

import "github.com/discreet-dp/discreet/noise"

//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Half(x, eps float64, src *noise.Source) float64 { return x + src.Laplace(0.5/eps) }
`
)

// verifyIn runs the command in a folder.
func verifyIn(t *testing.T, dir string, args ...string) (out, talk string, code int) {
	t.Helper()
	t.Chdir(dir)
	var o, e bytes.Buffer
	code = Main(t.Context(), append([]string{"verify"}, args...), strings.NewReader(""), &o, &e)
	return o.String(), e.String(), code
}

// The way of a claim: proved and stored, replayed where no solver is installed,
// stale after an edit.
func TestVerifyStoresAndReplays(t *testing.T) {
	t.Run("by rules", func(t *testing.T) { storesAndReplays(t, pickProgram, "(scores, eps)", "(scores, 2*eps)") })
	t.Run("by a coupling", func(t *testing.T) {
		if _, err := exec.LookPath("z3"); err != nil {
			t.Skip("skip: missing tool z3")
		}
		storesAndReplays(t, aboveProgram, "4/eps", "2/eps")
	})
}

func storesAndReplays(t *testing.T, program, old, edited string) {
	dir := t.TempDir()
	writeModule(t, "../..", dir)
	source := filepath.Join("p", "p.go")
	writeFiles(t, dir, map[string]string{source: program})
	out, talk, code := verifyIn(t, dir, "--smt", "smt", "--html", "page.html", "--sarif", "log.sarif")
	if code != 0 || !strings.Contains(talk, "stored p/discreet.proofs.json") {
		t.Fatalf("exit code %d\n%s%s", code, out, talk)
	}
	for _, name := range []string{"page.html", "log.sarif"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if program == aboveProgram {
		confirmed(t, filepath.Join(dir, "smt"))
	}
	proofs := filepath.Join(dir, "p", "discreet.proofs.json")
	before, err := os.ReadFile(proofs)
	if err != nil {
		t.Fatal(err)
	}

	t.Setenv("PATH", onlyGo(t))
	for _, args := range [][]string{{"--check"}, {}} {
		out, talk, code = verifyIn(t, dir, args...)
		if code != 0 {
			t.Errorf("%v without a solver: exit code %d\n%s%s", args, code, out, talk)
		}
		if asked := len(args) == 0; strings.Contains(talk, "apt-get install z3 cvc5") != asked {
			t.Errorf("%v says %q", args, talk)
		}
	}
	// A proof does not depend on where the function stands.
	writeFiles(t, dir, map[string]string{source: strings.Replace(program, "//dp:adj", "// Moved.\n//\n//dp:adj", 1)})
	if out, talk, code = verifyIn(t, dir, "--check"); code != 0 {
		t.Errorf("moved: exit code %d\n%s%s", code, out, talk)
	}
	writeFiles(t, dir, map[string]string{source: strings.Replace(program, old, edited, 1)})
	if out, talk, code = verifyIn(t, dir, "--check"); code != 1 || !strings.Contains(out, "unknown") {
		t.Errorf("edited: exit code %d\n%s%s", code, out, talk)
	}
	if after, err := os.ReadFile(proofs); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the stored proofs have changed (%v)", err)
	}
}

// confirmed asks z3 about each obligation.
func confirmed(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "example.org_page_p.Above.*.smt2"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no obligations: %v", err)
	}
	for _, file := range files {
		if answer, err := exec.CommandContext(t.Context(), "z3", file).Output(); err != nil || strings.TrimSpace(string(answer)) != "unsat" {
			t.Errorf("%s: z3 answers %q (%v)", filepath.Base(file), answer, err)
		}
	}
}

// onlyGo is a PATH on which there is the go command and no solver.
func onlyGo(t *testing.T) string {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(tool, filepath.Join(bin, "go")); err != nil {
		t.Fatal(err)
	}
	return bin
}

// A solver that crashes, hangs or answers what it likes proves nothing, and ends the
// run in time.
func TestSolverMisbehaves(t *testing.T) {
	dir := t.TempDir()
	writeModule(t, "../..", dir)
	writeFiles(t, dir, map[string]string{"p/p.go": strings.Replace(aboveProgram, "4/eps", "2/eps", 1)})
	for what, script := range map[string]string{
		"crash":     "kill -9 $$",
		"failure":   "echo out of memory >&2; exit 1",
		"hang":      "read -r line; while :; do read -r line || :; done",
		"garbage":   "while read -r line; do echo '(((model \"'; done",
		"yes-man":   "while read -r line; do echo unsat; done",
		"unlimited": "while :; do echo unsat; done",
	} {
		t.Run(what, func(t *testing.T) {
			bin := onlyGo(t)
			if err := os.WriteFile(filepath.Join(bin, "z3"), []byte("#!/bin/bash\n[[ $1 == --version ]] && echo Z3 version 4.8.12 && exit\n"+script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", bin)
			out, talk, code := verifyIn(t, dir, "--timeout", "2s", "--no-store")
			if code != 1 || strings.Contains(out, " proved ") {
				t.Errorf("exit code %d\n%s%s", code, out, talk)
			}
		})
	}
}

// Where a proof cannot be stored the verdict is shown; and verdicts that nobody can read are told of, also where they are bad.
func TestVerifyLosesNoVerdict(t *testing.T) {
	dir := t.TempDir()
	writeModule(t, "../..", dir)
	writeFiles(t, dir, map[string]string{"p/p.go": aboveProgram, "plain/plain.go": plainProgram})
	t.Run("unread", func(t *testing.T) {
		t.Chdir(dir)
		var talk bytes.Buffer
		if code := Main(t.Context(), []string{"verify", "./plain"}, strings.NewReader(""), full{}, &talk); code != diagnostic.ExitEngine || !strings.Contains(talk.String(), "D109") {
			t.Errorf("exit code %d\n%s", code, &talk)
		}
	})
	t.Run("unstored", func(t *testing.T) {
		z3, err := exec.LookPath("z3")
		if err != nil {
			t.Skip("skip: missing tool z3")
		}
		// What is stored is read before the search, in which a folder takes the file's place:
		// permissions would not stop root.
		bin := onlyGo(t)
		script := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --version ] || /bin/mkdir -p %q\nexec %q \"$@\"\n", filepath.Join(dir, "p", "discreet.proofs.json"), z3)
		if err := os.WriteFile(filepath.Join(bin, "z3"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", bin)
		out, talk, code := verifyIn(t, dir, "./p")
		if code != diagnostic.ExitRefused || !strings.Contains(out, " proved ") || !strings.Contains(talk, "D152") {
			t.Errorf("exit code %d\n%s%s", code, out, talk)
		}
	})
}

// full is a disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// A false claim is refuted, in the contract's form.
func TestVerifyRefutes(t *testing.T) {
	dir := t.TempDir()
	writeModule(t, "../..", dir)
	writeFiles(t, dir, map[string]string{"plain/plain.go": plainProgram})
	out, talk, code := verifyIn(t, dir, "--json", "./plain")
	var got struct{ Functions []verify.Result }
	if err := json.Unmarshal([]byte(strings.ReplaceAll(out, `"infinity"`, "1e300")), &got); err != nil || code != 1 || len(got.Functions) != 1 {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, out, talk)
	}
	c := got.Functions[0].Counterexample
	if got.Functions[0].Verdict != verify.Refuted || c == nil {
		t.Fatal(out)
	}
	if c.P[0] > c.P[1] || c.Q[0] > c.Q[1] || math.Log(c.P[0]/c.Q[1]) < 1 && float64(c.Claimed) >= 1 {
		t.Errorf("these intervals refute nothing: %s", out)
	}
}

// What cannot be verified is refused with a code, and never silently.
func TestVerifyRefuses(t *testing.T) {
	dir := t.TempDir()
	writeModule(t, "../..", dir)
	writeFiles(t, dir, map[string]string{
		"broken/broken.go":            "package broken\n\nvar x int = y\n",
		"silent/silent.go":            "package silent\n",
		"merged/merged.go":            strings.Replace(aboveProgram, "package above", "package merged", 1),
		"merged/discreet.proofs.json": "<<<<<<< HEAD\n",
	})
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"./nowhere"}, 1, "error[D150]"},
		{[]string{"./broken"}, 1, "broken/broken.go:3:13"},
		{[]string{"./silent"}, 1, "error[D151]: no function of ./silent has a claim"},
		{[]string{"--check", "./merged"}, 1, "error[D152]"},
		{[]string{"--timeout", "soon"}, 2, "error[D112]"},
		{[]string{"--timeout", "-1s"}, 2, "error[D112]"},
		{[]string{"--chekc"}, 2, "error[D111]"},
	} {
		if out, talk, code := verifyIn(t, dir, test.args...); code != test.code || !strings.Contains(talk, test.want) || out != "" {
			t.Errorf("%v: exit code %d, want %d and %q\n%s%s", test.args, code, test.code, test.want, out, talk)
		}
	}
}
