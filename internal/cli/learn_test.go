package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/cli/clitest"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/rogpeppe/go-internal/testscript"
)

// people makes a table of people who were drawn for it: their age, hours, job, whether
// they are members, and an income that depends on all of it.
//
//	people FILE ROWS
func people(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: people FILE ROWS")
	}
	n := 0
	_, err := fmt.Sscan(args[1], &n)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(clitest.PeopleCSV(n, 1)), 0o600))
}

// town is a folder with people, their catalog and a ledger.
func town(t *testing.T, n int) string {
	t.Helper()
	if workplace.EngineName == workplace.NoEngine {
		t.Skip("this build has no engine")
	}
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"people.csv": clitest.PeopleCSV(n, 1), "discreet.toml": clitest.PeopleCatalog})
	run(t, t.Context(), 0, "ledger", "create", "--catalog", filepath.Join(dir, "discreet.toml"))
	return dir
}

func spent(t *testing.T, dir string) string {
	t.Helper()
	out, _ := run(t, t.Context(), 0, "budget", "--json", "--catalog", filepath.Join(dir, "discreet.toml"))
	var b struct {
		Domains []struct {
			Spent struct{ Epsilon, Delta json.Number }
		}
	}
	if err := json.Unmarshal([]byte(out), &b); err != nil || len(b.Domains) == 0 {
		t.Fatalf("%v: %s", err, out)
	}
	return b.Domains[0].Spent.Epsilon.String() + " at " + b.Domains[0].Spent.Delta.String()
}

// What is refused is refused in the same words for any two tables, and costs nothing.
func TestRefusalsDoNotDependOnRecords(t *testing.T) {
	for _, args := range [][]string{
		{"train", "--table", "people", "--target", "note", "--model", "logistic", "--target-epsilon", "1"},
		{"train", "--table", "people", "--target", "income", "--columns", "age,note", "--model", "logistic", "--target-epsilon", "1"},
		{"train", "--table", "people", "--target", "income", "--model", "linear", "--target-epsilon", "1"},
		{"train", "--table", "people", "--target", "income", "--model", "cnn", "--target-epsilon", "1"},
		{"train", "--table", "people", "--target", "income", "--model", "logistic", "--target-epsilon", "1e-9"},
		{"train", "--table", "people", "--target", "income", "--model", "logistic", "--target-epsilon", "7"},
		{"train", "--table", "people", "--target", "income", "--model", "logistic", "--target-epsilon", "1", "--checkpoint", "nowhere/run"},
	} {
		var said []string
		for _, text := range []string{clitest.PeopleCSV(300, 1), clitest.PeopleCSV(500, 2), "id,age,hours,job,member,pay,income,note\n"} {
			dir := town(t, 0)
			t.Chdir(dir)
			writeFiles(t, dir, map[string]string{"people.csv": text})
			var out, talk bytes.Buffer
			code := Main(t.Context(), args, strings.NewReader(""), &out, &talk)
			words := out.String() + talk.String()
			if code == 0 {
				t.Fatalf("%v is not refused", args)
			}
			if got := spent(t, dir); got != "0 at 0" {
				t.Errorf("%v cost %s", args, got)
			}
			said = append(said, words)
		}
		if said[0] != said[1] || said[0] != said[2] {
			t.Errorf("%v says\n%s", args, strings.Join(said, "\n"))
		}
	}
}

// A run that is killed is paid for once: whoever resumes it pays nothing, and whoever
// resumes an old copy pays for what is done again. The ledger is whole throughout.
func TestKilledTraining(t *testing.T) {
	dir := town(t, 4000)
	catalog := []string{"--catalog", filepath.Join(dir, "discreet.toml")}
	args := append([]string{"train", "--table", "people", "--target", "income", "--model", "mlp", "--hidden", "32",
		"--target-epsilon", "1", "-n", "4000", "--sampling", "0.5", "--steps", "600", "--out", filepath.Join(dir, "m.model")}, catalog...)
	c := exec.Command("discreet", append(args, "--checkpoint", filepath.Join(dir, "run"))...)
	talk, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(talk)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "charged ") { // it trains
			break
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		t.Fatal("it was done before it was killed")
	}
	paid := spent(t, dir)
	if !strings.Contains(paid, " at 0.00000166") || strings.HasPrefix(paid, "0 ") {
		t.Fatalf("spent %s", paid)
	}
	run(t, t.Context(), 0, append([]string{"ledger", "verify"}, catalog...)...)
	if _, err := os.Stat(filepath.Join(dir, "m.model")); err == nil {
		t.Error("a run that was killed has a model")
	}
	first, err := os.ReadFile(filepath.Join(dir, "run"))
	if err != nil {
		t.Fatal(err)
	}

	short := slices.Replace(slices.Clone(args), slices.Index(args, "600"), slices.Index(args, "600")+1, "601")
	said, _ := run(t, t.Context(), diagnostic.ExitRefused, append(short, "--resume", filepath.Join(dir, "run"), "--json")...)
	if !strings.Contains(said, "is not the checkpoint's") {
		t.Errorf("another run goes on: %s", said)
	}
	_, said = run(t, t.Context(), 0, append(args, "--resume", filepath.Join(dir, "run"))...)
	if got := spent(t, dir); got != paid {
		t.Errorf("spent %s, and %s after it went on\n%s", paid, got, said)
	}
	run(t, t.Context(), 0, append([]string{"ledger", "verify"}, catalog...)...)
	run(t, t.Context(), 0, "model", "inspect", filepath.Join(dir, "m.model"))

	// Going on from the same state a second time is another release.
	writeFiles(t, dir, map[string]string{"again": string(first)})
	run(t, t.Context(), 0, append(args, "--resume", filepath.Join(dir, "again"))...)
	if got := spent(t, dir); got == paid {
		t.Error("a second continuation cost nothing")
	}
}

// A file that lacks a column, or whose labels are none, is refused before anything is
// charged, by every learner.
func TestWhatIsNotThereCostsNothing(t *testing.T) {
	dir := town(t, 10)
	images := "\x00\x00\x08\x03\x00\x00\x00\x01\x00\x00\x00\x08\x00\x00\x00\x08" + strings.Repeat("\x01", 64)
	writeFiles(t, dir, map[string]string{"images": images, "two": "\x00\x00\x08\x01\x00\x00\x00\x02\x01\x02", "empty.csv": "", "drawn.csv": clitest.PeopleCSV(10, 1)})
	t.Chdir(dir)
	for _, args := range [][]string{
		{"--csv", "drawn.csv", "--columns", "nowhere=0..1", "--target", "income=high|low"},
		{"--csv", "drawn.csv", "--columns", "age=0..99", "--target", "nowhere=high|low"},
		{"--csv", "drawn.csv", "--columns", "age=0..99", "--target", "income=high|low", "--unit", "nobody"},
		{"--csv", "empty.csv", "--columns", "age=0..99", "--target", "income=high|low"},
		{"--train-images", "images", "--train-labels", "two"},
		{"--train-images", "images", "--train-labels", "drawn.csv"},
	} {
		for _, model := range []string{"tree", "logistic"} {
			said, _ := run(t, t.Context(), diagnostic.ExitRefused, append([]string{"train", "--json", "--model", model, "--target-epsilon", "1", "--domain", "person"}, args...)...)
			if !strings.Contains(said, "D161") {
				t.Errorf("%v: %s", args, said)
			}
			if got := spent(t, dir); got != "0 at 0" {
				t.Errorf("%v cost %s", args, got)
			}
		}
	}
}
