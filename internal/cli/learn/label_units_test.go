package learn

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/cli/clitest"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/pate"
)

// All records of a unit go to one teacher, and without that unit the parts of all other
// teachers are what they were, to the last bit: of a table whose unit is a column, of
// one whose records are units, and of a CSV file, in whatever order records come.
func TestOneUnitOfATableChangesOneTeacher(t *testing.T) {
	if workplace.EngineName == workplace.NoEngine {
		t.Skip("this build has no engine")
	}
	text := clitest.PeopleCSV(3000, 1) // two records of each id
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	lines[len(lines)-1] += "\n"
	head, rows := lines[0], lines[1:]
	const gone = 700 // the unit's two rows are 1400 and 1401
	byColumn := strings.NewReplacer(`unit = "row"`, "unit = \"id\"\nmax_groups_per_unit = 1\nmax_rows_per_group = 2", "[tables.people.columns]", "[tables.people.columns]\nid = { type = \"bigint\" }").Replace(clitest.PeopleCatalog)
	for name, test := range map[string]struct {
		catalog string
		args    []string
		rows    int // of a unit
		named   bool
	}{
		"table":         {byColumn, []string{"--table", "people"}, 2, true},
		"table of rows": {clitest.PeopleCatalog, []string{"--table", "people"}, 1, false},
		"file":          {clitest.PeopleCatalog, []string{"--unit", "id", "--columns", "age=18..90,job=clerk|nurse|judge"}, 2, true},
		"file of rows":  {clitest.PeopleCatalog, []string{"--columns", "age=18..90,job=clerk|nurse|judge"}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			read := func(rows []string) *example.Set {
				dir := t.TempDir()
				writeTable(t, dir, map[string]string{"people.csv": head + strings.Join(rows, ""), "drawn.csv": head + strings.Join(rows, ""), "discreet.toml": test.catalog})
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

// private reads the private examples of a command line as label does.
func private(t *testing.T, args ...string) *example.Set {
	t.Helper()
	c := &command.Command{UsageLine: "label"}
	l := &labelling{command: c}
	l.define(&c.Flags)
	if _, err := c.Parse(append([]string{"--target", "income", "--teachers", "7", "--save-ensemble", "x", "--domain", "person"}, args...)); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var out, talk bytes.Buffer
	d := &ensembleData{}
	if err := l.describe(t.Context(), terminal.New(strings.NewReader(""), &out, &talk), d); err != nil {
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

func writeTable(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
