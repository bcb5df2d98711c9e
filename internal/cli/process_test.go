package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

const smallCatalog = `
[domains.patient]
measure = "zcdp"
epsilon = 3000.0
delta = 1e-7
[tables.visits]
source = "visits.csv"
domain = "patient"
unit = "patient_id"
max_groups_per_unit = 1
max_rows_per_group = 2
columns.patient_id = { type = "bigint" }
`

// folder is a small data set with its ledger; scripts have bigger ones.
func folder(t *testing.T) (catalog string) {
	t.Helper()
	if workplace.EngineName == workplace.NoEngine {
		t.Skip("this build has no engine")
	}
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("patient_id\n")
	for i := range 20000 {
		rows.WriteString(strings.Repeat("1", 1+i%9) + "\n")
	}
	for name, text := range map[string]string{"visits.csv": rows.String(), "discreet.toml": smallCatalog} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	catalog = filepath.Join(dir, "discreet.toml")
	run(t, context.Background(), 0, "ledger", "create", "--catalog", catalog)
	return catalog
}

// declare changes the catalog.
func declare(t *testing.T, catalog, text string) {
	t.Helper()
	if err := os.WriteFile(catalog, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs a command line here and returns what it printed.
func run(t *testing.T, ctx context.Context, want int, args ...string) (out, talk string) {
	t.Helper()
	var o, e bytes.Buffer
	if code := Main(ctx, args, strings.NewReader(""), &o, &e); code != want {
		t.Fatalf("discreet %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), code, want, o.String(), e.String())
	}
	return o.String(), e.String()
}

// say runs the command and returns what it says on standard error, or, where it
// was asked for JSON, on standard output.
func say(t *testing.T, ctx context.Context, args ...string) (said string, code int) {
	t.Helper()
	for _, name := range []string{"DISCREET_ANCHOR", "DISCREET_LEDGER_KEY_FILE", "DISCREET_MEMORY", "DISCREET_TEMP", "DISCREET_THREADS"} {
		t.Setenv(name, "")
	}
	var out, errOut bytes.Buffer
	code = Main(ctx, args, strings.NewReader(""), &out, &errOut)
	if errOut.Len() == 0 {
		return out.String(), code
	}
	return errOut.String(), code
}

// A reader that goes away does not end the command, which says what was paid.
func TestClosedPipe(t *testing.T) {
	catalog := folder(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	var talk bytes.Buffer
	c := exec.Command("discreet", "query", "--catalog", catalog, "--rho", "0.01", "SELECT count(*) FROM visits")
	c.Stdout, c.Stderr = w, &talk
	if err := c.Run(); err != nil || !strings.Contains(talk.String(), "cost: rho 0.01") {
		t.Errorf("%v: %s", err, talk.String())
	}
}

// An interrupt ends a command that waits for its statement.
func TestInterruptedWhileReading(t *testing.T) {
	catalog := folder(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var talk bytes.Buffer
	c := exec.Command("discreet", "query", "--catalog", catalog, "--rho", "0.01", "-")
	c.Stdin, c.Stderr = r, &talk
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// More than a pipe holds: it is written when the command reads.
	if _, err := w.WriteString(strings.Repeat(" ", 1<<18)); err != nil {
		t.Fatal(err)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err = c.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("ended with %v", err)
	}
	if exit.ExitCode() != diagnostic.ExitEngine || !strings.Contains(talk.String(), "D102") {
		t.Errorf("exit code %d: %s", exit.ExitCode(), talk.String())
	}
}

// The demo of all models, interrupted at any time, says what it was, and leaves no process and no
// folder. Nothing was reserved, and it does not say so.
func TestInterruptedDemo(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{600 * time.Millisecond, 3 * time.Second} {
		dir := t.TempDir()
		var talk bytes.Buffer
		c := exec.Command("discreet", "cluster", "demo", "--people", "3000")
		c.Stderr, c.Env = &talk, append(os.Environ(), "TMPDIR="+dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		<-time.After(after)
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		err := c.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Fatalf("ended with %v: %s", err, talk.String())
		}
		if said := talk.String(); exit.ExitCode() != int(diagnostic.ExitEngine) || !strings.Contains(said, "the demo has stopped") || strings.Contains(said, "reserved") {
			t.Errorf("after %v: exit code %d: %s", after, exit.ExitCode(), said)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("after %v: %v is left, %v", after, left, err)
		}
	}
}

// A query that is given up at any moment leaves a whole ledger and a domain that
// answers the next one: when to give up is the analyst's choice, not the data's.
func TestGivenUpAtAnyMoment(t *testing.T) {
	catalog := folder(t)
	codes := map[int]int{}
	for i := range 12 {
		ctx, cancel := context.WithCancel(context.Background())
		timer := time.AfterFunc(time.Duration(i)*8*time.Millisecond, cancel)
		var out, talk bytes.Buffer
		code := Main(ctx, []string{"query", "--catalog", catalog, "--rho", "0.01", "SELECT count(*) FROM visits"}, nil, &out, &talk)
		timer.Stop()
		cancel()
		codes[code]++
		if code != diagnostic.ExitAnswered && (code != diagnostic.ExitEngine || !strings.Contains(talk.String(), "D102") || out.Len() > 0) {
			t.Errorf("after %d ms: exit code %d\n%s%s", 8*i, code, out.String(), talk.String())
		}
	}
	t.Logf("exit codes %v", codes)
	run(t, context.Background(), 0, "ledger", "verify", "--catalog", catalog)
	run(t, context.Background(), 0, "query", "--catalog", catalog, "--rho", "0.01", "SELECT count(*) FROM visits")
}

// Want of memory gives one constant error, keeps the charge, tells the owner in
// a file of the owner's, and stops the domain until it is acknowledged.
func TestEngineFailure(t *testing.T) {
	catalog := folder(t)
	query := []string{"query", "--catalog", catalog, "--rho", "0.01", "SELECT count(*) FROM visits"}
	declare(t, catalog, smallCatalog+"[resources]\nmemory = \"1KB\"\n")
	_, talk := run(t, context.Background(), diagnostic.ExitEngine, query...)
	const constant = `error[D100]: the answer could not be computed
  why:  the charge stays, and the owner has been told
  hint: the owner looks at the log beside the ledger and runs discreet ledger acknowledge DOMAIN
  more: discreet help D100
`
	if talk != constant {
		t.Errorf("said %q", talk)
	}
	log := filepath.Join(filepath.Dir(catalog), "discreet.ledger.log")
	info, err := os.Stat(log)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the owner's log has mode %v", info.Mode())
	}
	if text, err := os.ReadFile(log); err != nil || !strings.Contains(string(text), "memory limit") {
		t.Errorf("the owner's log says %q, %v", text, err)
	}
	if _, talk := run(t, context.Background(), diagnostic.ExitRefused, query...); !strings.Contains(talk, "D077") {
		t.Errorf("the domain is not suspended: %s", talk)
	}
	out, _ := run(t, context.Background(), 0, "budget", "--catalog", catalog)
	for _, want := range []string{"spent   rho 0.01,", "1 charged without an answer", "suspended until", "(no answer)"} {
		if !strings.Contains(out, want) {
			t.Errorf("the budget does not say %q:\n%s", want, out)
		}
	}
	run(t, context.Background(), 0, "ledger", "acknowledge", "patient", "--catalog", catalog, "--note", "more memory")
	declare(t, catalog, smallCatalog)
	run(t, context.Background(), 0, query...)
	if out, _ := run(t, context.Background(), 0, "budget", "--json", "--catalog", catalog); !strings.Contains(out, `"note":"more memory"`) {
		t.Errorf("the note is not in the history")
	}
}
