//go:build cgo && unix

package cli

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/cli/noise"
)

var Rewrite = flag.Bool("rewrite", false, "write anew what the pages show of a run, where it is out of date")

// The pages whose blocks are run from top to bottom, by a reader who stands in a clone
// of the repository with discreet installed, and has nothing but what the page shows.
// Each has a clone of its own. A block is fenced and of one of these kinds:
//
//	console      commands after "$ " with their output; "> " continues a command,
//	             and "..." stands for any lines of output
//	sql          a statement, given to the command that the last
//	             <!-- run: discreet ... --> names, with the flags of its first line
//	             if that is a comment "-- --rho 0.1"; a text block that follows
//	             is its output
//	toml         a catalog, whole
//	c            a part of sandbox/testdata/c/mapper.c
//	go           a file, if its first line is "// NAME.go"; else the body of a function of
//	             mechanism/example_test.go, which go test runs
//	text         what no command prints
//
// A page that names $DISCREET_DATA is skipped where that is not set, and its 10,000 images are
// 1,000 but with DISCREET_SOAK or -rewrite. One of proofs is skipped
// where there is no solver. The output of what draws noise or tells the time is
// compared without its numbers and the order of its lines; after "text shape"
// without its rows; that of discreet verify without its seconds and the numbers of
// its counterexamples. All else is compared as it is.
var executed = []string{"README.md", "docs/tour.md", "docs/sql.md", "docs/shell.md", "docs/catalog.md", "docs/engines.md", "docs/lake.md", "docs/ledger.md", "docs/servers.md", "docs/cli.md", "docs/accounting.md", "docs/amplification.md",
	"docs/people.md", "docs/operate.md", "docs/map.md", "docs/sandbox.md", "docs/audit.md", "docs/verify.md", "docs/verify/tutorial.md", "docs/verify/gallery.md", "docs/learn.md", "docs/learn/adult.md", "docs/learn/mnist.md", "docs/learn/pate.md", "docs/collect/local.md", "docs/collect/gap.md", "docs/collect/multiparty.md", "docs/collect/shuffle.md", "docs/collect/federated.md", "docs/collect/models.md"}

// executedPages adds the pages of mechanisms, one each.
func executedPages(t *testing.T) []string {
	mechanisms, err := filepath.Glob("../../docs/mechanisms/*.md")
	if err != nil || len(mechanisms) == 0 {
		t.Fatalf("no pages of mechanisms: %v", err)
	}
	pages := append(slices.Clone(executed), "docs/collect/prio.md")
	for _, path := range mechanisms {
		pages = append(pages, strings.TrimPrefix(path, "../../"))
	}
	return pages
}

func TestDocs(t *testing.T) {
	for _, name := range executedPages(t) {
		t.Run(strings.TrimPrefix(name, "docs/"), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("..", "..", name)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			p := &page{T: t, dir: clone(t)}
			p.needs(string(text))
			fresh := p.execute(string(text))
			if fresh == string(text) || t.Failed() {
				return
			}
			if !*Rewrite {
				t.Fatal("the page is out of date: make golden writes it anew")
			}
			if err := os.WriteFile(path, []byte(fresh), 0o666); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Other pages have nothing that would have to be run.
func TestOtherPagesShowNoCommands(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	deeper, err := filepath.Glob("../../docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	executed := executedPages(t)
	for _, path := range slices.Concat(pages, deeper) {
		name := strings.TrimPrefix(path, "../../")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "```console") && !slices.Contains(executed, name) {
			t.Errorf("%s shows commands that no test runs", name)
		}
	}
}

// The table of mechanisms has a row for each page, each constructor and each verb of
// discreet noise.
func TestMechanismsAreListed(t *testing.T) {
	text, err := os.ReadFile("../../docs/mechanisms/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, page := range executedPages(t) {
		if name, ok := strings.CutPrefix(page, "docs/mechanisms/"); ok && name != "README.md" {
			names = append(names, "]("+name+") | ")
		}
	}
	sources, err := filepath.Glob("../../mechanism/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		code, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range constructor.FindAllSubmatch(code, -1) {
			names = append(names, "`"+string(m[1]))
		}
	}
	for _, v := range noise.Command().Verbs {
		if v.Private {
			names = append(names, "`"+v.Name())
		}
	}
	for _, name := range names {
		if !strings.Contains(string(text), name) {
			t.Errorf("docs/mechanisms/README.md has no %s", name)
		}
	}
}

var constructor = regexp.MustCompile(`(?m)^func ((?:New|Choose)\w+)[(\[]`)

// docs/cli.md names every command and every flag.
func TestDocumentedFlags(t *testing.T) {
	text, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range withVerbs(commands()) {
		if !strings.Contains(string(text), "\n  "+c.Name()+" ") {
			t.Errorf("docs/cli.md does not name %s", c.Title())
		}
		c.Flags.VisitAll(func(f *flag.Flag) {
			name := "--" + f.Name
			if len(f.Name) == 1 {
				name = "-" + f.Name
			}
			if !regexp.MustCompile("`" + name + "[` ]").Match(text) {
				t.Errorf("docs/cli.md does not name %s of %s", name, c.Title())
			}
		})
	}
}

// The recipe for Adult, without what fetches it, makes the files that the tests read of
// the files as their publisher writes them.
func TestAdultRecipe(t *testing.T) {
	data := os.Getenv("DISCREET_DATA")
	if data == "" {
		t.Skip("skip: DISCREET_DATA is not set")
	}
	text, err := os.ReadFile("../../docs/data.md")
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(text), "\nheader=")
	if at < 0 {
		t.Fatal("docs/data.md has no recipe for Adult")
	}
	recipe, _, _ := strings.Cut(string(text[at:]), "```")
	dir := t.TempDir()
	want := map[string]string{}
	for published, made := range map[string]string{"adult.data": "adult-train.csv", "adult.test": "adult-test.csv"} {
		file, err := os.ReadFile(filepath.Join(data, made))
		if err != nil {
			t.Fatal(err)
		}
		want[made] = string(file)
		_, records, _ := strings.Cut(string(file), "\n")
		records = strings.ReplaceAll(records, ",", ", ")
		if published == "adult.test" {
			records = "|1x3 Cross validator\n" + strings.ReplaceAll(records, "\n", ".\n")
		}
		if err := os.WriteFile(filepath.Join(dir, published), []byte(records+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("bash", "-ec", recipe)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for made, file := range want {
		if got, err := os.ReadFile(filepath.Join(dir, made)); err != nil || string(got) != file {
			t.Errorf("%s is not the file of the tests (%v)", made, err)
		}
	}
}
