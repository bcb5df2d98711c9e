package catalog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/datafile/datafiletest"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// sourceNames are sources that are one: by all names that the file can have, of each
// format, and of a DuckDB file by all names that the table can have.
func sourceNames(t *testing.T) (dir string, sets map[string][]string) {
	t.Helper()
	dir = t.TempDir()
	sets = map[string][]string{}
	for _, name := range []string{"visits.csv", "visits.csv.gz", "visits.jsonl", "visits.parquet", "clinic.duckdb"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("id\n1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, s := range datafiletest.Spellings(t, path) {
			tables := []string{""}
			if name == "clinic.duckdb" {
				tables = []string{"#visits", "#VISITS", "#Visits"}
			}
			for _, table := range tables {
				sets[name] = append(sets[name], s.Path+table)
			}
		}
	}
	return dir, sets
}

// A role is how the second table over a source is declared, beside a first that is
// private, of domain p and unit id.
var roles = []struct {
	text    string
	refused string // "" if it may be
}{
	{`domain = "p", unit = "id"`, ""},
	{`public = true`, "both private and public"},
	{`domain = "q", unit = "id"`, "bound to two domains"},
	{`domain = "q", unit = "row"`, "bound to two domains"},
	{`domain = "p", unit = "row"`, "with two units"},
	{`domain = "p", unit = "other"`, "with two units"},
	{`domain = "q", unit = "id", also_in = ["p"]`, ""},
	{`domain = "q", unit = "row", also_in = ["p"]`, ""},
	{`domain = "q", unit = "row", also_in = ["r"]`, "bound to two domains"},
}

func twoTables(first, second, role string) string {
	columns := `columns = { id = { type = "text" }, other = { type = "text" } }`
	return fmt.Sprintf("[domains]\n"+`p = { measure = "pure", epsilon = 1 }
q = { measure = "pure", epsilon = 1 }
r = { measure = "pure", epsilon = 1 }
[tables]
a = { source = %q, domain = "p", unit = "id", %s }
b = { source = %q, %s, %s }
`, first, columns, second, role, columns)
}

// Attack I1: whatever a source is called, it has one domain, one unit, one role.
func TestI1SourceByEveryName(t *testing.T) {
	dir, sets := sourceNames(t)
	tried := 0
	for _, names := range sets {
		for i, first := range names {
			for j, second := range names {
				if i != 0 && j != 0 && i != j { // each with the plain name, both ways, and with itself
					continue
				}
				for _, role := range roles {
					tried++
					c, err := Parse(filepath.Join(dir, "discreet.toml"), twoTables(first, second, role.text))
					switch {
					case role.refused == "" && err != nil:
						t.Errorf("%s and %s, %s: %v", first, second, role.text, err)
					case role.refused == "" && !c.Tables[0].SameSource(c.Tables[1]):
						t.Errorf("%s and %s are taken for two sources", first, second)
					case role.refused == "":
					case err == nil || !strings.Contains(err.Error(), role.refused):
						t.Errorf("%s and %s, %s: %v, want %q", first, second, role.text, err, role.refused)
					}
				}
			}
		}
	}
	if tried < 500 {
		t.Errorf("tried %d pairs only", tried)
	}
}

// Sources that are two stay two.
func TestSourcesApart(t *testing.T) {
	dir, sets := sourceNames(t)
	if err := os.WriteFile(filepath.Join(dir, "copy.csv"), []byte("id\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := []string{"copy.csv", "missing.csv", "clinic.duckdb#bills"}
	for _, names := range sets {
		plain = append(plain, names[0])
	}
	for i, first := range plain {
		for _, second := range plain[:i] {
			if c, err := Parse(filepath.Join(dir, "discreet.toml"), twoTables(first, second, "public = true")); err != nil {
				t.Errorf("%s and %s: %v", first, second, err)
			} else if c.Tables[0].SameSource(c.Tables[1]) {
				t.Errorf("%s and %s are taken for one source", first, second)
			}
		}
	}
}

// Attack I3: sources that were two when the catalog was loaded, and one when they are
// read.
func TestI3SourcesThatBecomeOne(t *testing.T) {
	become := map[string]func(from, to string) error{
		"a symbolic link": os.Symlink,
		"a hard link":     os.Link,
		"its folder":      func(from, to string) error { return os.Rename(from, to) },
	}
	for how, link := range become {
		for _, role := range []string{`public = true`, `domain = "p", unit = "id"`, `domain = "q", unit = "row"`} {
			for _, missing := range []bool{false, true} {
				dir := t.TempDir()
				a, b := filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.csv")
				for _, path := range []string{a, b} {
					if err := os.WriteFile(path, []byte("id\n1\n"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if missing {
					must(t, os.Remove(b))
				}
				c, err := Parse(filepath.Join(dir, "discreet.toml"), twoTables("a.csv", "b.csv", role))
				must(t, err)
				if err := c.Recheck("a", "b"); err != nil {
					t.Errorf("%s: before anything changed: %v", how, err)
				}
				if !missing {
					must(t, os.Remove(b))
				}
				must(t, link(a, b))
				if how == "its folder" { // a's file under b's name is no second one
					if err := c.Recheck("a", "b"); err != nil {
						t.Errorf("%s: %v", how, err)
					}
					continue
				}
				for _, named := range [][]string{{"a"}, {"b"}, {"a", "b"}} {
					var d *diagnostic.Diagnostic
					if err := c.Recheck(named...); !errors.As(err, &d) || d.Code != "D087" {
						t.Errorf("%s, %s: a statement that reads %v: %v", how, role, named, err)
					}
				}
				// A catalog that is loaded now says it in its own words, or knows them for one.
				c, err = Parse(filepath.Join(dir, "discreet.toml"), twoTables("a.csv", "b.csv", role))
				if role == `domain = "p", unit = "id"` {
					must(t, err)
					must(t, c.Recheck("a", "b"))
				} else if err == nil {
					t.Errorf("%s, %s: loaded", how, role)
				}
			}
		}
	}
}

// A file that took another's place is the same source: refreshed data.
func TestRecheckRefreshed(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "b.csv", "new"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("id\n1\n"), 0o600))
	}
	c, err := Parse(filepath.Join(dir, "discreet.toml"), twoTables("a.csv", "b.csv", "public = true"))
	must(t, err)
	must(t, os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "a.csv")))
	must(t, c.Recheck("a", "b"))
}

// Attack I4: what code makes of a table is of the same records, however often.
func TestI4MappedTableIsItsOwnSource(t *testing.T) {
	dir, sets := sourceNames(t)
	for _, names := range sets {
		for _, name := range names {
			c, err := Parse(filepath.Join(dir, "discreet.toml"), twoTables(names[0], name, `domain = "p", unit = "id"`))
			must(t, err)
			for _, of := range []string{"a", "b"} {
				c, err = c.Map(MapOptions{Name: "of_" + of, Of: of, Columns: []string{"id"}, Upper: 1, Outputs: 3})
				must(t, err)
			}
			for _, x := range c.Tables {
				for _, y := range c.Tables {
					if !x.SameSource(y) {
						t.Errorf("%s: %s and %s are taken for two sources", name, x.Name, y.Name)
					}
				}
			}
		}
	}
}

// Attack I9: PrivateFile knows a private table's file by every name, and no other file.
func TestI9PrivateFile(t *testing.T) {
	dir, sets := sourceNames(t)
	must(t, os.WriteFile(filepath.Join(dir, "copy.csv"), nil, 0o600))
	for _, names := range sets {
		c, err := Parse(filepath.Join(dir, "discreet.toml"), twoTables(names[0], "copy.csv", "public = true"))
		must(t, err)
		for _, name := range append(names, "copy.csv") {
			file, _, _ := strings.Cut(name, "#")
			if !filepath.IsAbs(file) {
				file = filepath.Join(dir, file)
			}
			found, err := c.PrivateFile(file)
			if want := name != "copy.csv"; err != nil || (len(found) == 1) != want {
				t.Errorf("%s: %d tables, %v", name, len(found), err)
			}
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// patterns are names of files of the folder that TestI10 makes, and whether they have the
// private file visits/2025/a.csv.
var patterns = map[string]bool{
	"visits/2025/a.csv": true, "visits/*/*.csv": true, "visits/*/a.csv": true, "visits/**/*.csv": true, "visits/[2]025/?.csv": true,
	"./visits/../visits/*/a.csv": true, "links/*.csv": true, "folders/*/*.csv": true, "hard*.csv": true,
	"visits/2025/b.csv": false, "visits/2024/*.csv": false, "visits/*/b.csv": false, "missing/*.csv": false, "copies/*.csv": false,
}

// Attack I10: patterns that name the same file, by whatever ways, are one source.
func TestI10PatternsThatOverlap(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"visits/2025/a.csv", "visits/2025/b.csv", "visits/2024/b.csv", "copies/a.csv", "links/x", "folders/x"} {
		must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("id\n1\n"), 0o600))
	}
	must(t, os.Symlink("../visits/2025/a.csv", filepath.Join(dir, "links/l.csv")))
	must(t, os.Symlink("../visits/2025", filepath.Join(dir, "folders/l")))
	must(t, os.Link(filepath.Join(dir, "visits/2025/a.csv"), filepath.Join(dir, "hard.csv")))
	for name, has := range patterns {
		for _, role := range roles {
			for _, order := range [][2]string{{"visits/2025/a.csv", name}, {name, "visits/2025/a.csv"}, {name, name}} {
				if order[0] == order[1] && !has {
					continue
				}
				c, err := Parse(filepath.Join(dir, "discreet.toml"), twoTables(order[0], order[1], role.text))
				switch {
				case !has && err != nil:
					t.Errorf("%s, %s: %v", order, role.text, err)
				case !has && err == nil && c.Tables[0].SameSource(c.Tables[1]):
					t.Errorf("%s are taken for one source", order)
				case has && role.refused == "" && (err != nil || !c.Tables[0].SameSource(c.Tables[1])):
					t.Errorf("%s are taken for two sources: %v", order, err)
				case has && role.refused != "" && (err == nil || !strings.Contains(err.Error(), role.refused)):
					t.Errorf("%s, %s: %v, want %q", order, role.text, err, role.refused)
				}
			}
		}
		c, err := Parse(filepath.Join(dir, "discreet.toml"), twoTables(name, "nothing.csv", "public = true"))
		must(t, err)
		for _, spelling := range []string{"visits/2025/a.csv", "links/l.csv", "hard.csv", "folders/l/a.csv"} {
			if found, err := c.PrivateFile(filepath.Join(dir, spelling)); err != nil || (len(found) == 1) != has {
				t.Errorf("%s, known by %s: %d tables, %v", name, spelling, len(found), err)
			}
		}
	}
	var d *diagnostic.Diagnostic
	if _, err := Parse(filepath.Join(dir, "discreet.toml"), twoTables("**/a.csv", "nothing.csv", "public = true")); err != nil {
		t.Errorf("a file and its copy: %v", err)
	}
	if _, err := Parse(filepath.Join(dir, "discreet.toml"), twoTables("**/[ah]*.csv", "nothing.csv", "public = true")); !errors.As(err, &d) || d.Code != "D087" {
		t.Errorf("a file and its hard link in one pattern: %v", err)
	}
}

// Attack I10: a folder that is named as a pattern. DuckDB opens what matches the path, which
// may be a file of another folder, and of another table.
func TestI10FolderNamedAsAPattern(t *testing.T) {
	for _, folder := range []string{"[x]", "a*", "x?"} {
		at := filepath.Join(t.TempDir(), folder, "discreet.toml")
		for source, refused := range map[string]bool{"a.parquet": true, "v/year=*/*.parquet": true, "a.csv": false, "v/*.csv": false, "a.duckdb#t": false} {
			_, err := Parse(at, twoTables(source, "b.csv", "public = true"))
			var d *diagnostic.Diagnostic
			if (err != nil) != refused || refused && (!errors.As(err, &d) || d.Code != "D087") {
				t.Errorf("%s in %s: %v", source, folder, err)
			}
		}
	}
}

// Attack I11: a pattern that grows. What matches it later is not read before the catalog is
// loaded again, and is nobody else's meanwhile.
func TestI11PatternThatGrows(t *testing.T) {
	for _, grow := range []struct {
		how     string
		do      func(dir string) error
		refused string
	}{
		{"a file more", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "visits/c.csv"), []byte("id\n2\n"), 0o600)
		}, ""},
		{"a file less", func(dir string) error { return os.Remove(filepath.Join(dir, "visits/b.csv")) }, ""},
		{"a FIFO more", func(dir string) error { return os.Mkdir(filepath.Join(dir, "visits/f.csv"), 0o700) }, ""},
		{"a link to one of its files", func(dir string) error { return os.Symlink("a.csv", filepath.Join(dir, "visits/c.csv")) }, "have become one"},
		{"a file that becomes another", func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "visits/b.csv")), os.Symlink("a.csv", filepath.Join(dir, "visits/b.csv")))
		}, "have become one"},
		{"another source's file", func(dir string) error { return os.Symlink("../b.csv", filepath.Join(dir, "visits/c.csv")) }, "have become one"},
		{"another source that is a new file of it", func(dir string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "visits/c.csv"), nil, 0o600), os.Remove(filepath.Join(dir, "b.csv")), os.Symlink("visits/c.csv", filepath.Join(dir, "b.csv")))
		}, "have become one"},
	} {
		dir := t.TempDir()
		must(t, os.Mkdir(filepath.Join(dir, "visits"), 0o700))
		for _, name := range []string{"visits/a.csv", "visits/b.csv", "b.csv"} {
			must(t, os.WriteFile(filepath.Join(dir, name), []byte("id\n1\n"), 0o600))
		}
		c, err := Parse(filepath.Join(dir, "discreet.toml"), twoTables("visits/*.csv", "b.csv", "public = true"))
		must(t, err)
		must(t, c.Recheck("a", "b"))
		must(t, grow.do(dir))
		for _, named := range [][]string{{"a"}, {}} {
			err := c.Recheck(named...)
			if (err != nil) != (grow.refused != "") || err != nil && !strings.Contains(err.Error(), grow.refused) {
				t.Errorf("%s: %v, want %q", grow.how, err, grow.refused)
			}
		}
		l, err := c.Tables[0].Files()
		if err != nil || len(l.Files) != 2 {
			t.Errorf("%s: %v, %v", grow.how, l, err)
		}
	}
}
