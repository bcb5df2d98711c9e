package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/pate"
	"github.com/discreet-dp/discreet/learn/pate/analysis"
)

// private reads the private examples of a command line as label does.
func private(t *testing.T, args ...string) *example.Set {
	t.Helper()
	c := &Command{UsageLine: "label"}
	l := &labelling{command: c}
	l.define(&c.Flags)
	if _, err := c.parse(append([]string{"--target", "income", "--teachers", "7", "--save-ensemble", "x", "--domain", "person"}, args...)); err != nil {
		t.Fatal(err)
	}
	defer l.close()
	var out, talk bytes.Buffer
	d := &ensembleData{}
	if err := l.describe(t.Context(), newTerminal(strings.NewReader(""), &out, &talk), d); err != nil {
		t.Fatal(err)
	}
	set, err := l.readPrivate(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Validate(); err != nil {
		t.Fatal(err)
	}
	return set
}

// All records of a unit go to one teacher, and without that unit the parts of all other
// teachers are what they were, to the last bit: of a table whose unit is a column, of
// one whose records are units, and of a CSV file, in whatever order records come.
func TestOneUnitOfATableChangesOneTeacher(t *testing.T) {
	if engineName == noEngine {
		t.Skip("this build has no engine")
	}
	text := peopleCSV(3000, 1) // two records of each id
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	lines[len(lines)-1] += "\n"
	head, rows := lines[0], lines[1:]
	const gone = 700 // the unit's two rows are 1400 and 1401
	byColumn := strings.NewReplacer(`unit = "row"`, "unit = \"id\"\nmax_groups_per_unit = 1\nmax_rows_per_group = 2", "[tables.people.columns]", "[tables.people.columns]\nid = { type = \"bigint\" }").Replace(peopleCatalog)
	for name, test := range map[string]struct {
		catalog string
		args    []string
		rows    int // of a unit
		named   bool
	}{
		"table":         {byColumn, []string{"--table", "people"}, 2, true},
		"table of rows": {peopleCatalog, []string{"--table", "people"}, 1, false},
		"file":          {peopleCatalog, []string{"--unit", "id", "--columns", "age=18..90,job=clerk|nurse|judge"}, 2, true},
		"file of rows":  {peopleCatalog, []string{"--columns", "age=18..90,job=clerk|nurse|judge"}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			read := func(rows []string) *example.Set {
				dir := t.TempDir()
				writeFiles(t, dir, map[string]string{"people.csv": head + strings.Join(rows, ""), "drawn.csv": head + strings.Join(rows, ""), "discreet.toml": test.catalog})
				args := append([]string{"--catalog", filepath.Join(dir, "discreet.toml")}, test.args...)
				if strings.HasPrefix(name, "file") {
					args = append(args, "--target", "income=high|low", "--csv", filepath.Join(dir, "drawn.csv"))
				}
				return private(t, args...)
			}
			with := read(rows)
			without := slices.Delete(slices.Clone(rows), 2*gone, 2*gone+test.rows)
			slices.Reverse(without)
			neighbour := read(without)
			if with.Len() != 3000 || neighbour.Len() != 3000-test.rows || (with.Names != nil) != test.named {
				t.Fatalf("%d and %d examples, named %v", with.Len(), neighbour.Len(), with.Names != nil)
			}
			a, err := pate.NewAssignment(40)
			if err != nil {
				t.Fatal(err)
			}
			before, after := a.Parts(with), a.Parts(neighbour)
			changed, owners := 0, map[string]int{}
			for i := range before {
				if !slices.Equal(before[i].Features, after[i].Features) || !slices.Equal(before[i].Labels, after[i].Labels) || !slices.Equal(before[i].Units, after[i].Units) {
					changed++
				}
				for _, unit := range before[i].Names {
					owners[unit]++
				}
			}
			if changed != 1 {
				t.Errorf("the parts of %d teachers change", changed)
			}
			for unit, n := range owners {
				if n > 1 {
					t.Fatalf("unit %q has %d teachers", unit, n)
				}
			}
			if test.named && len(owners) != 1500 {
				t.Errorf("%d units", len(owners))
			}
		})
	}
}

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
		said, _ := run(t, t.Context(), exitUsage, append(command, args...)...)
		if !strings.Contains(said, "D112") {
			t.Errorf("%v: %s", args, said)
		}
		if after, again := os.ReadFile(args[1]); !bytes.Equal(before, after) || (err == nil) != (again == nil) {
			t.Errorf("%v was written to", args)
		}
	}
}
