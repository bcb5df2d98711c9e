package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/internal/cli/clitest"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/learn/pate/analysis"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// No label leaves before its charge, whenever the command is killed: what was printed is
// paid, and what is paid and was not printed is one query at most.
func TestKilledLabelling(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"votes.csv":     strings.Repeat("70,20,10\n", 5000),
		"discreet.toml": "[domains.person]\nmeasure = \"pure\"\nepsilon = 1000\n",
	})
	catalog := []string{"--catalog", filepath.Join(dir, "discreet.toml")}
	run(t, t.Context(), 0, append([]string{"ledger", "create"}, catalog...)...)
	paid := 0
	for kill := range 3 {
		c := exec.Command("discreet", append([]string{"label", "--votes", filepath.Join(dir, "votes.csv"), "--aggregator", "lnmax", "--gamma", "0.05", "--domain", "person"}, catalog...)...)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines, printed := bufio.NewScanner(out), -1 // but for the header
		for lines.Scan() {
			if printed++; printed == 3+20*kill {
				if err := c.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := c.Wait(); err == nil {
			t.Fatal("it was done before it was killed")
		}
		var tenths int
		if _, err := fmt.Sscanf(strings.ReplaceAll(tenth(spent(t, dir)), ".", ""), "%d", &tenths); err != nil {
			t.Fatal(err)
		}
		if now := tenths - paid; now < printed || now > printed+1 {
			t.Errorf("%d queries are paid for, and %d labels were printed", now, printed)
		}
		paid = tenths
		run(t, t.Context(), 0, append([]string{"ledger", "verify"}, catalog...)...)
	}
}

// Under a domain that adds up epsilon and delta a plan is charged once, before any label:
// its charge is no less than what the accountant says of the events in the output, and a
// run that is killed, whenever that is, has paid all of it or has released nothing.
func TestLabelPlan(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"votes.csv":     strings.Repeat("70,20,10\n", 300) + strings.Repeat("40,35,25\n", 300),
		"discreet.toml": "[domains.person]\nmeasure = \"approx\"\nepsilon = 100\ndelta = 1e-3\n",
	})
	catalog := []string{"--catalog", filepath.Join(dir, "discreet.toml")}
	run(t, t.Context(), 0, append([]string{"ledger", "create"}, catalog...)...)
	args := append([]string{"label", "--votes", filepath.Join(dir, "votes.csv"), "--aggregator", "confident", "--sigma", "20", "--threshold", "60", "--sigma-threshold", "30",
		"--delta", "1e-6", "--domain", "person"}, catalog...)
	for _, more := range [][]string{nil, {"--answers", "50"}, {"--target-epsilon", "1"}, {"--queries", "40"}} {
		before := spent(t, dir)
		text, _ := run(t, t.Context(), 0, append(append(args, "--json"), more...)...)
		var out struct {
			Labels          []json.RawMessage
			Asked, Answered int
			Stopped         *string
			Events          []json.RawMessage
			Reserved        *struct {
				Tests, Answers int
				Charged        json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(text), &out); err != nil || out.Reserved == nil {
			t.Fatalf("%v: %s", err, text)
		}
		charge, err := plan.UnmarshalEvent(out.Reserved.Charged)
		if err != nil {
			t.Fatal(err)
		}
		charged := charge.(privacy.Approx)
		var sum privacy.Sum
		for _, e := range out.Events {
			sum.Events = append(sum.Events, clitest.Must(plan.UnmarshalEvent(e)))
		}
		report, err := accountant.Epsilon(t.Context(), sum, 1e-6, accountant.Options{})
		if err != nil {
			t.Fatal(err)
		}
		best, ok := report.Best()
		if high := new(big.Rat).SetFloat64(best.Epsilon.High); !ok || high.Cmp(charged.Epsilon.Rat()) > 0 {
			t.Errorf("%v: the events cost %v, and %v was charged", more, best.Epsilon.High, charged)
		}
		if r := out.Reserved; out.Answered != len(out.Labels) || out.Answered > r.Answers || out.Asked != r.Tests || out.Asked > 600 {
			t.Errorf("%v: %d labels, %d asked, %d answered of %+v", more, len(out.Labels), out.Asked, out.Answered, r)
		}
		if more != nil && (more[0] == "--answers" && out.Reserved.Answers != 50 || more[0] == "--queries" && out.Reserved.Tests != 40) {
			t.Errorf("%v: reserved %+v", more, out.Reserved)
		}
		if got := clitest.Must(privacy.ParseEpsilon(strings.Fields(spent(t, dir))[0])).Rat(); got.Cmp(new(big.Rat).Add(charged.Epsilon.Rat(), clitest.Must(privacy.ParseEpsilon(strings.Fields(before)[0])).Rat())) != 0 {
			t.Errorf("%v: spent %s, and then %v after %v", more, before, got, charged)
		}
	}
	one := append(args, "--target-epsilon", "0.5")
	for kill := range 6 { // with no output, after some, and in between
		before := clitest.Must(privacy.ParseEpsilon(strings.Fields(spent(t, dir))[0])).Rat()
		c := exec.Command("discreet", one...)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines, printed := bufio.NewScanner(out), 0
		if kill < 3 {
			time.Sleep(time.Duration(kill*60) * time.Millisecond)
			_ = c.Process.Kill() // unless it is done
		}
		for lines.Scan() {
			if printed++; printed == 2 {
				_ = c.Process.Kill()
			}
		}
		_ = c.Wait()
		now := clitest.Must(privacy.ParseEpsilon(strings.Fields(spent(t, dir))[0])).Rat()
		paid, _ := new(big.Rat).Sub(now, before).Float64()
		if printed > 0 && !(paid > 0.45 && paid <= 0.5) || paid != 0 && !(paid > 0.45 && paid <= 0.5) {
			t.Errorf("%v is paid for %d lines", paid, printed)
		}
		run(t, t.Context(), 0, append([]string{"ledger", "verify"}, catalog...)...)
	}
	before := spent(t, dir)
	for _, wrong := range []struct {
		exit int
		code string
		args []string
	}{
		{diagnostic.ExitUsage, "D181", []string{"--answers", "100", "--target-epsilon", "0.01"}},
		{diagnostic.ExitBudget, "D076", []string{"--answers", "600", "--sigma", "2"}},
		{diagnostic.ExitUsage, "D115", []string{"--aggregator", "lnmax", "--answers", "5"}},
	} {
		command := append(slices.Clone(args), wrong.args...)
		if wrong.code == "D115" {
			command = append([]string{"label", "--votes", filepath.Join(dir, "votes.csv"), "--gamma", "0.1", "--domain", "person"}, append(catalog, wrong.args...)...)
		}
		if _, talk := run(t, t.Context(), wrong.exit, command...); !strings.Contains(talk, wrong.code) || spent(t, dir) != before {
			t.Errorf("%v: spent %s after %s, %s", wrong.args, spent(t, dir), before, talk)
		}
	}
}

// tenth is "0.3 at 0" or "4 at 0" with one place.
func tenth(spent string) string {
	amount, _, _ := strings.Cut(spent, " ")
	if !strings.Contains(amount, ".") {
		amount += ".0"
	}
	return amount
}

// Exact votes are the owner's alone, also in a file that others could read before; what
// others can read of an ensemble is warned of.
func TestPrivateFilesAreTheOwners(t *testing.T) {
	dir := t.TempDir()
	votes, ensemble := filepath.Join(dir, "votes.csv"), filepath.Join(dir, "e")
	writeFiles(t, dir, map[string]string{"votes.csv": "1,2\n", "e": ""})
	for _, path := range []string{votes, ensemble} {
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	writeFiles(t, dir, map[string]string{
		"people.csv":    "age,income\n20,low\n60,high\n30,low\n70,high\n",
		"discreet.toml": "[domains.person]\nmeasure = \"pure\"\nepsilon = 10\n",
	})
	catalog := []string{"--catalog", filepath.Join(dir, "discreet.toml")}
	run(t, t.Context(), 0, append([]string{"ledger", "create"}, catalog...)...)
	ask := append([]string{"label", "--public", filepath.Join(dir, "people.csv"), "--aggregator", "lnmax", "--gamma", "0.1", "--private-votes", votes}, catalog...)
	_, talk := run(t, t.Context(), 0, append(ask, "--csv", filepath.Join(dir, "people.csv"), "--columns", "age=0..100", "--target", "income=low|high", "--domain", "person",
		"--teachers", "2", "--save-ensemble", ensemble)...)
	for _, path := range []string{votes, ensemble} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if strings.Contains(talk, "others can read") {
		t.Errorf("a false alarm: %s", talk)
	}
	f, err := os.Open(votes)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if v, err := analysis.ReadVotes(f); err != nil || v.Len() != 4 {
		t.Errorf("votes: %v", err)
	}
	curves := filepath.Join(dir, "curves.svg") // exact ones
	writeFiles(t, dir, map[string]string{"curves.svg": "<svg></svg>"})
	if err := os.Chmod(curves, 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, t.Context(), 0, append([]string{"train", "--csv", filepath.Join(dir, "people.csv"), "--columns", "age=0..100", "--target", "income=low|high", "--model", "logistic",
		"--target-epsilon", "5", "-n", "4", "--steps", "2", "--out", filepath.Join(dir, "m"), "--plot", curves}, catalog...)...)
	if info, err := os.Stat(curves); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, %v", curves, info.Mode(), err)
	}
	if err := os.Chmod(ensemble, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, talk := run(t, t.Context(), 0, append(ask, "--ensemble", ensemble)...); !strings.Contains(talk, "warning: others can read "+ensemble) {
		t.Errorf("no warning: %s", talk)
	}
}

// Neither votes nor an ensemble nor a plot are written over the records, a model or the
// ledger: with it would go what was charged.
func TestNothingElseIsWrittenOver(t *testing.T) {
	dir := t.TempDir()
	records, ledger := filepath.Join(dir, "people.csv"), filepath.Join(dir, "discreet.ledger")
	writeFiles(t, dir, map[string]string{
		"people.csv":    "age,income\n20,low\n60,high\n30,low\n70,high\n",
		"discreet.toml": "[domains.person]\nmeasure = \"pure\"\nepsilon = 10\n",
		"a.model":       "discreet model 1\n",
		"counts":        "3,4\n",
	})
	catalog := []string{"--catalog", filepath.Join(dir, "discreet.toml")}
	run(t, t.Context(), 0, append([]string{"ledger", "create"}, catalog...)...)
	ask := append([]string{"label", "--csv", records, "--columns", "age=0..100", "--target", "income=low|high", "--domain", "person", "--teachers", "2",
		"--public", records, "--aggregator", "lnmax", "--gamma", "0.1", "--json"}, catalog...)
	linked := filepath.Join(dir, "curves.svg")
	if err := os.Symlink(ledger, linked); err != nil {
		t.Fatal(err)
	}
	train := append([]string{"train", "--csv", records, "--columns", "age=0..100", "--target", "income=low|high", "--model", "logistic",
		"--target-epsilon", "5", "-n", "4", "--steps", "2", "--out", filepath.Join(dir, "m"), "--json"}, catalog...)
	for _, args := range [][]string{
		{"--plot", linked},
		{"--save-ensemble", records}, {"--private-votes", records}, {"--save-ensemble", ledger}, {"--private-votes", ledger},
		{"--save-ensemble", filepath.Join(dir, "a.model")}, {"--private-votes", filepath.Join(dir, "a.model")}, {"--save-ensemble", filepath.Join(dir, "counts")},
		{"--save-ensemble", filepath.Join(dir, "both"), "--private-votes", filepath.Join(dir, "both")},
	} {
		before, err := os.ReadFile(args[1])
		command := ask
		if args[0] == "--plot" {
			command = train
		}
		said, _ := run(t, t.Context(), diagnostic.ExitUsage, append(command, args...)...)
		if !strings.Contains(said, "D112") {
			t.Errorf("%v: %s", args, said)
		}
		if after, again := os.ReadFile(args[1]); !bytes.Equal(before, after) || (err == nil) != (again == nil) {
			t.Errorf("%v was written to", args)
		}
	}
}
