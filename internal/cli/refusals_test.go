//go:build cgo

package cli

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/clinic"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// docs/refusals.md is the catalogue of refusals with what the command prints
// for each example: every entry's example is refused with the entry's code.
func TestRefusalsPage(t *testing.T) {
	const path = "../../docs/refusals.md"
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(path)
	if err != nil && !*Rewrite {
		t.Fatal(err)
	}
	got := refusalsPage(t, root)
	if t.Failed() || got == string(want) {
		return
	}
	if !*Rewrite {
		t.Fatal("docs/refusals.md is out of date: make golden writes it anew")
	}
	if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
		t.Fatal(err)
	}
}

const refusalsHead = `# Refusals

What is not provably safe is refused, before private data is touched and before anything is charged, with a code, the
place, the reason and the way out; ` + "`discreet help CODE`" + ` explains a code. A refusal is made from the statement, the catalog
and the state of the budget, never from data. What fails after the charge (D100, D102) keeps it, and a failure that
could depend on the data is D100, always in the same words.

This page is written by ` + "`make golden`" + ` from the catalogue of codes in ` + "`internal/diagnostic`" + ` and from what the command
prints; a test fails when it is out of date. The statements speak of the catalog
` + "`internal/stability/testdata/catalog.toml`" + `, those that need data or a ledger of the demo's.
`

// refusalsPage runs all examples.
func refusalsPage(t *testing.T, root string) string {
	var table, page strings.Builder
	group := ""
	demo := t.TempDir()
	if _, err := clinic.Write(demo); err != nil {
		t.Fatal(err)
	}
	for _, e := range diagnostic.Entries() {
		if g := stage(e.Code); g != group {
			group = g
			fmt.Fprintf(&page, "\n## %s\n", g)
			fmt.Fprintf(&table, "\n%s:\n\n| Code | |\n|---|---|\n", g)
		}
		anchor := strings.ToLower(e.Code) + "-" + headingID(e.Title)
		fmt.Fprintf(&table, "| [%s](#%s) | %s |\n", e.Code, anchor, e.Title)
		fmt.Fprintf(&page, "\n### %s %s\n\n%s\n", e.Code, e.Title, terminal.Wrap(e.Explain, 120))
		t.Run(e.Code, func(t *testing.T) {
			x := exampleOf(e)
			if x.kind == "" {
				return
			}
			printed := x.execute(t, root, demo)
			if !strings.Contains(printed, "error["+e.Code+"]") && !strings.Contains(printed, `"code":"`+e.Code+`"`) {
				t.Errorf("%s\nis not refused with %s:\n%s", x.text, e.Code, printed)
			}
			fmt.Fprintf(&page, "\n```%s\n%s\n```\n\n```text\n%s\n```\n", x.kind, presentable(x.shown()), presentable(printed))
		})
	}
	return refusalsHead + table.String() + page.String()
}

// stage names the codes of one hundred's part.
func stage(code string) string {
	n, _ := strconv.Atoi(code[1:])
	switch {
	case n < 10:
		return "The text of a statement"
	case n < 40:
		return "Names and types"
	case n < 70:
		return "What would break the guarantee"
	case n < 80:
		return "Cost, budget and ledger"
	case n < 100:
		return "The catalog and the owner's commands"
	case n < 110:
		return "The engine and the system"
	case n < 120:
		return "The command line"
	case n < 130:
		return "Accounting"
	case n < 140:
		return "Audits"
	case n < 145:
		return "Noise from scripts"
	case n < 150:
		return "Untrusted code"
	case n < 160:
		return "Proofs about Go code"
	case n >= 263:
		return "Answers of the books"
	case n >= 260:
		return "An error in the place of a cost"
	case n >= 210:
		return "The server"
	}
	return "Learning"
}

// headingID is how a renderer of Markdown names a heading.
func headingID(title string) string {
	kept := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(title), "")
	return strings.ReplaceAll(kept, " ", "-")
}

// open is a command line before an example.
const (
	open = "chmod go+w discreet.toml"
	seal = "sed -i 's/^cost .*{/& mapped = false,/' discreet.toml"
)

// A shownRefusal is run in a folder of its own.
type shownRefusal struct {
	kind   string // of its block: "sql", "toml" or "sh"; "" if nothing can be shown
	text   string
	clinic bool     // with the demo's files and a ledger; else with the catalog of the statements
	damage bool     // with a damaged data file
	proofs bool     // with a file of proofs that was merged with conflicts
	before []string // command lines that make the situation
	stop   bool     // interrupted at once
	lent   bool     // by sudo
	ask    bool     // a statement that is queried: explain asks the engine nothing
}

// exampleOf returns an entry's example, or the one that is too long, or takes
// too much before it, for the catalogue.
func exampleOf(e diagnostic.Entry) shownRefusal {
	const count = `discreet query --rho 0.01 'SELECT count(*) FROM visits'`
	switch e.Code {
	case "D056":
		var list []string
		for age := range 201 {
			list = append(list, fmt.Sprintf("count(*) FILTER (WHERE age = %d)", age))
		}
		return shownRefusal{kind: "sql", text: "SELECT " + strings.Join(list, ", ") + " FROM visits"}
	case "D076":
		return shownRefusal{kind: "sh", text: e.Example, clinic: true}
	case "D077":
		return shownRefusal{kind: "sh", text: count, clinic: true, damage: true, before: []string{count}}
	case "D079":
		return shownRefusal{kind: "sh", text: `discreet query --rho 0.01 --key monday 'SELECT sum(cost) FROM visits'`, clinic: true,
			before: []string{`discreet query --rho 0.01 --key monday 'SELECT count(*) FROM visits'`}}
	case "D095":
		return shownRefusal{kind: "sh", text: "discreet init departments.csv", clinic: true}
	case "D098", "D142", "D144", "D166", "D183", "D192", "D193":
		return shownRefusal{kind: "sh", text: e.Example, clinic: true}
	case "D099":
		return shownRefusal{kind: "sh", text: count, clinic: true, before: []string{open}}
	case "D100":
		return shownRefusal{kind: "sh", text: count, clinic: true, damage: true}
	case "D101":
		return shownRefusal{kind: "sh", text: count, before: []string{"discreet ledger create"}}
	case "D102":
		return shownRefusal{kind: "sh", text: count, stop: true}
	case "D103":
		return shownRefusal{kind: "sql", clinic: true, ask: true,
			text: "SELECT count(*) FROM visits WHERE " + strings.Repeat("date_trunc('month', ", 180) + "seen_at" + strings.Repeat(")", 180) + " > '2025-06-01'"}
	case "D108":
		return shownRefusal{kind: "sh", text: e.Example}
	case "D109":
		return shownRefusal{kind: "sh", text: "discreet ledger create --ledger nowhere/discreet.ledger"}
	case "D130":
		return shownRefusal{kind: "sh", text: e.Example, clinic: true}
	case "D148":
		return shownRefusal{kind: "sh", text: e.Example, clinic: true, before: []string{seal}}
	case "D152":
		return shownRefusal{kind: "sh", text: e.Example, proofs: true}
	case "D118":
		return shownRefusal{kind: "sh", text: e.Example, lent: true}
	case "D106", "D107":
		return shownRefusal{} // it takes a server
	case "D117":
		return shownRefusal{} // it takes another build
	case "D263":
		return shownRefusal{} // it takes an owner at just that moment
	}
	switch {
	case e.Code >= "D210" && e.Code < "D260": // it takes a server
		return shownRefusal{}
	case strings.HasPrefix(e.Example, "discreet "):
		return shownRefusal{kind: "sh", text: e.Example}
	case e.Code >= "D080" && e.Code < "D100", e.Code == "D104", e.Code == "D105":
		return shownRefusal{kind: "toml", text: strings.TrimSuffix(e.Example, "\n")}
	}
	return shownRefusal{kind: "sql", text: e.Example}
}

// shown is the example as the page has it.
func (x shownRefusal) shown() string {
	lines := append(slices.Clone(x.before), x.text)
	if x.damage {
		lines = slices.Insert(lines, 0, "# visits.parquet has been damaged")
	}
	if x.lent {
		lines = slices.Insert(lines, 0, "# by a sudo rule")
	}
	if x.proofs {
		lines = slices.Insert(lines, 0, "# discreet.proofs.json was merged with conflicts")
	}
	return strings.Join(lines, "\n")
}

// execute runs the example and returns what the command says on standard error. In demo are
// the demo's files.
func (x shownRefusal) execute(t *testing.T, root, demo string) string {
	t.Chdir(t.TempDir())
	if x.clinic {
		if err := os.CopyFS(".", os.DirFS(demo)); err != nil {
			t.Fatal(err)
		}
		if _, code := say(t, t.Context(), "ledger", "create"); code != 0 {
			t.Fatal("there is no ledger")
		}
	} else if err := os.CopyFS(".", os.DirFS(filepath.Join(root, "internal/stability/testdata"))); err != nil {
		t.Fatal(err)
	} else if err := os.Rename("catalog.toml", "discreet.toml"); err != nil {
		t.Fatal(err)
	}
	if x.damage { // whatever lies between the file's head and the list of its columns
		data, err := os.ReadFile("visits.parquet")
		if err != nil {
			t.Fatal(err)
		}
		copy(data[1000:len(data)/2], bytes.Repeat([]byte{0xff}, len(data)))
		if err := os.WriteFile("visits.parquet", data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if x.proofs {
		writeModule(t, root, ".")
		writeFiles(t, ".", map[string]string{"pick.go": pickProgram, "discreet.proofs.json": "<<<<<<< HEAD\n"})
	}
	for _, line := range x.before {
		if line == open {
			if err := os.Chmod("discreet.toml", 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if line == seal {
			text, err := os.ReadFile("discreet.toml")
			if err == nil {
				err = os.WriteFile("discreet.toml", regexp.MustCompile(`(?m)^cost .*\{`).ReplaceAll(text, []byte("$0 mapped = false,")), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		say(t, t.Context(), words(line)[1:]...)
	}
	if x.lent {
		t.Setenv("SUDO_UID", strconv.Itoa(os.Geteuid()+1))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if x.stop {
		cancel()
	}
	var printed string
	switch x.kind {
	case "sh":
		printed, _ = say(t, ctx, words(x.text)[1:]...)
	case "toml":
		if err := os.WriteFile("discreet.toml", []byte(x.text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		printed, _ = say(t, ctx, "explain", "SELECT 1")
	case "sql":
		if err := os.WriteFile("statement.sql", []byte(x.text), 0o600); err != nil {
			t.Fatal(err)
		}
		command := "explain"
		if x.ask {
			command = "query"
		}
		printed, _ = say(t, ctx, command, "--rho", "0.01", "-f", "statement.sql")
	}
	return strings.TrimRight(printed, "\n")
}

// words splits a command line at blanks outside single quotes.
func words(line string) (out []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}

// presentable cuts lines that are too long for a page and makes UTF-8 of what
// is none.
func presentable(text string) string {
	var out []string
	for line := range strings.SplitSeq(strings.ToValidUTF8(text, "\ufffd"), "\n") {
		runes := []rune(strings.TrimRight(line, " "))
		if len(runes) > 160 {
			if strings.Trim(string(runes), " |^") == "" {
				continue // its caret lies beyond the cut
			}
			runes = append(runes[:120], []rune(" ...")...)
		}
		out = append(out, string(runes))
	}
	return strings.Join(out, "\n")
}

var isCode = regexp.MustCompile(`^D\d{3}$`)

// Every code that the sources use has an entry, and every entry is used.
func TestCodesAreInTheCatalogue(t *testing.T) {
	used := map[string]string{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() != ".." && strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(filepath.Base(path), "codes_") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if code := strings.Trim(l.Value, "\"`"); isCode.MatchString(code) {
					used[code] = path
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var entries []string
	for _, e := range diagnostic.Entries() {
		if entries = append(entries, e.Code); used[e.Code] == "" {
			t.Errorf("nothing refuses with %s", e.Code)
		}
		if e.Title == "" || e.Explain == "" {
			t.Errorf("%s is not explained", e.Code)
		}
	}
	for code, path := range used {
		if !slices.Contains(entries, code) {
			t.Errorf("%s refuses with %s, which is not in the catalogue", path, code)
		}
	}
	if !slices.IsSorted(entries) || len(slices.Compact(slices.Clone(entries))) != len(entries) {
		t.Error("a code has two entries")
	}
}
