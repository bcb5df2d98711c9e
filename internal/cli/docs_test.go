//go:build cgo

package cli

import (
	"bytes"
	"errors"
	"flag"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/noise"
	"github.com/discreet-dp/discreet/internal/postgrestest"
	"github.com/discreet-dp/discreet/internal/trinotest"
	"github.com/discreet-dp/discreet/ledger"
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

// A page is one document while it is executed.
type page struct {
	*testing.T
	dir  string // a clone, where the reader stands
	cwd  string // below dir, after its cd's
	run  string // what sql blocks are given to
	data string // DISCREET_DATA
	env  []string

	tenth bool // of the images alone: see fewerImages

	books string // DISCREET_LEDGER
}

var fileLine = regexp.MustCompile(`^// (\w+\.go)$`)

var directive = regexp.MustCompile(`^<!-- run: (.*) -->$`)

// execute runs the page's blocks and returns the page with the outputs of this
// run in place of those that are out of date.
func (p *page) execute(text string) string {
	var out []string
	var output string // of the last sql block
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		out = append(out, line)
		if m := directive.FindStringSubmatch(line); m != nil {
			p.run = m[1]
		}
		kind, ok := strings.CutPrefix(line, "```")
		if !ok {
			continue
		}
		end := i + 1
		for end < len(lines) && lines[end] != "```" {
			end++
		}
		if end == len(lines) {
			p.Fatalf("line %d: the block does not end", i+1)
		}
		body := lines[i+1 : end]
		switch kind {
		case "console":
			body = p.console(body)
		case "sql":
			var err error
			if output, err = p.sql(body); err != nil && !showsOutput(lines[end+1:]) {
				p.Errorf("line %d: %v\n%s", i+1, err, output)
			}
		case "toml":
			if _, err := catalog.Parse(filepath.Join(p.dir, "page.toml"), strings.Join(body, "\n")); err != nil {
				p.Errorf("line %d: %v", i+1, err)
			}
		case "c":
			if text, err := os.ReadFile("../../sandbox/testdata/c/mapper.c"); err != nil || !strings.Contains(string(text), strings.Join(body, "\n")) {
				p.Errorf("line %d: this does not stand in mapper.c (%v)", i+1, err)
			}
		case "go":
			if m := fileLine.FindStringSubmatch(body[0]); m != nil {
				if err := os.WriteFile(filepath.Join(p.dir, p.cwd, m[1]), []byte(strings.Join(body[1:], "\n")+"\n"), 0o600); err != nil {
					p.Fatal(err)
				}
				break
			}
			examples, err := os.ReadFile("../../mechanism/example_test.go")
			if err != nil {
				p.Fatal(err)
			}
			claimed, err := os.ReadFile("../../verify/testdata/right/threshold.go")
			if err != nil {
				p.Fatal(err)
			}
			code := "() {\n" + strings.ReplaceAll("\t"+strings.Join(body, "\n\t"), "\n\t\n", "\n\n") + "\n}\n"
			if !strings.Contains(string(examples), code) && !strings.Contains(string(claimed), strings.Join(body, "\n")+"\n") {
				p.Errorf("line %d: this is neither a function's body in mechanism/example_test.go nor stands in verify/testdata/right/threshold.go", i+1)
			}
		case "text", "text shape":
			if output != "" && !equal(body, output, true, kind == "text shape") {
				body = p.stale(body, output)
			}
			output = ""
		default:
			p.Errorf("line %d: a block of kind %q", i+1, kind)
		}
		out = append(append(out, body...), "```")
		i = end
	}
	return strings.Join(out, "\n")
}

// stale returns the fresh output if it may be written.
func (p *page) stale(old []string, fresh string) []string {
	if !*Rewrite {
		p.Errorf("the page shows\n%s\nand the command printed\n%s", strings.Join(old, "\n"), fresh)
		return old
	}
	if fresh == "" {
		return nil
	}
	return strings.Split(fresh, "\n")
}

// console runs a block's commands.
func (p *page) console(body []string) []string {
	var out []string
	for i := 0; i < len(body); {
		line, ok := strings.CutPrefix(body[i], "$ ")
		if !ok {
			p.Fatalf("want a command, not %q", body[i])
		}
		out = append(out, body[i])
		command := line
		for i++; i < len(body) && strings.HasPrefix(body[i], "> "); i++ {
			out = append(out, body[i])
			command += "\n" + body[i][2:]
		}
		shown := body[i:]
		if n := slices.IndexFunc(shown, func(l string) bool { return strings.HasPrefix(l, "$ ") }); n >= 0 {
			shown = shown[:n]
		}
		i += len(shown)
		fresh, _ := p.shell(command)
		same := equal(shown, fresh, noisy.MatchString(command), false)
		if verifies.MatchString(command) {
			same = equal(strings.Split(verdictsOf(strings.Join(shown, "\n")), "\n"), verdictsOf(fresh), false, false)
		}
		if !same {
			shown = p.stale(shown, fresh)
		}
		out = append(out, shown...)
	}
	return out
}

var noisy = regexp.MustCompile(`(discreet (query|map|demo|budget|noise|local (report|answer|simulate)|train|evaluate|predict|model inspect|label|pate analyze .*--publish|audit (difference|average|threshold|reconstruct|sensitivity$)|shuffle (simulate|report|enrol|result)|multiparty collect|cluster (up|status|down|kill|restart|demo))|make demo)\b`)

var (
	verifies = regexp.MustCompile(`^discreet verify\b`)
	seconds  = regexp.MustCompile(`(?m) {2,}\d+\.\d\d$`)
	found    = regexp.MustCompile(`(?m)^(  (?:inputs|neighbour|event|probability|epsilon|rho)) .*$`)
	falseFor = regexp.MustCompile(`(?m)^  false for .*\n`)
)

// verdictsOf masks how long each claim took, and which of its counterexamples was
// found: that hangs on what a solver proposes.
func verdictsOf(text string) string {
	text = seconds.ReplaceAllString(text, "  #")
	return found.ReplaceAllString(falseFor.ReplaceAllString(text, ""), "$1 #")
}

// shell runs a line line in the page's folder and returns what it printed.
func (p *page) shell(line string) (output string, err error) {
	// make demo compiles, and then does this.
	line = strings.ReplaceAll(line, "make demo", "discreet demo")
	if p.tenth {
		line = strings.ReplaceAll(line, "-n 10000 ", "-n 1000 ")
	}
	cmd := exec.Command("bash", "-c", "cd \"$PAGE_CWD\"\n"+line+"\ncode=$?; pwd > \"$PAGE_DIR/.cwd\"; exit $code")
	cmd.Env = append(os.Environ(), "PAGE_DIR="+p.dir, "PAGE_CWD="+filepath.Join(p.dir, p.cwd), "DISCREET_DATA="+p.data,
		"DISCREET_ANCHOR=", "DISCREET_LEDGER="+p.books, "DISCREET_LEDGER_KEY_FILE=", "DISCREET_MEMORY=", "DISCREET_TEMP=", "DISCREET_THREADS=", "NO_COLOR=1", "TZ=UTC")
	cmd.Env = append(cmd.Env, p.env...)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.Fatal(err)
	}
	cwd, readErr := os.ReadFile(filepath.Join(p.dir, ".cwd"))
	if readErr != nil {
		p.Fatalf("%s: %v\n%s", line, readErr, &b)
	}
	if p.cwd, readErr = filepath.Rel(p.dir, strings.TrimSpace(string(cwd))); readErr != nil {
		p.Fatal(readErr)
	}
	printed := b.String()
	if p.tenth {
		printed = regexp.MustCompile(`(?m)^for the owner alone: warning: .*\n`).ReplaceAllString(printed, "")
	}
	if p.books != "" {
		printed = strings.ReplaceAll(printed, ledger.Named(p.books), "postgres://books.example.org:5432/discreet")
	}
	if strings.HasPrefix(line, "discreet budget") { // whoever runs the tests is the owner
		printed = regexp.MustCompile(`\b`+regexp.QuoteMeta(command.UserOf(os.Geteuid()).String())+`\b`).ReplaceAllString(printed, "owner")
	}
	return strings.TrimRight(printed, "\n"), err
}

// showsOutput reports whether the next thing of a page is a text block.
func showsOutput(lines []string) bool {
	i := slices.IndexFunc(lines, func(l string) bool { return l != "" })
	return i >= 0 && strings.HasPrefix(lines[i], "```text")
}

// sql runs a statement and returns what it printed.
func (p *page) sql(body []string) (output string, err error) {
	flags := ""
	if strings.HasPrefix(body[0], "-- --") {
		flags = body[0][3:]
	}
	if err := os.WriteFile(filepath.Join(p.dir, p.cwd, "statement.sql"), []byte(strings.Join(body, "\n")), 0o600); err != nil {
		p.Fatal(err)
	}
	return p.shell(p.run + " " + flags + " -f statement.sql")
}

// clone makes a folder that reads as the repository does, and can be written to.
func clone(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, e := range entries {
		if err := os.Symlink(filepath.Join(root, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// booksServer starts a database for a page whose ledger moves into one, and returns its URL.
func booksServer(t *testing.T) string {
	t.Helper()
	at := map[string]string{}
	for _, pair := range strings.Fields(postgrestest.Start(t, "fsync=on", "max_connections=40")) {
		k, v, _ := strings.Cut(pair, "=")
		at[k] = v
	}
	return "postgres://" + at["user"] + "@/" + at["dbname"] + "?host=" + url.QueryEscape(at["host"])
}

// needs skips a page for want of the data or the solver that it says it needs.
func (p *page) needs(text string) {
	if strings.Contains(text, "\"$DISCREET_DATA\"") {
		data := os.Getenv("DISCREET_DATA")
		if data == "" {
			p.Skip("skip: DISCREET_DATA does not name the folder of the real data")
		}
		var err error
		if p.data, err = filepath.Abs(data); err != nil {
			p.Fatal(err)
		}
		if strings.Contains(text, "-n 10000 ") && os.Getenv("DISCREET_SOAK") == "" && !*Rewrite {
			p.fewerImages()
		}
	}
	if strings.Contains(text, "\n$ psql") { // as the administrator of an empty database
		address := postgrestest.Start(p.T)
		host, _, _ := strings.Cut(strings.TrimPrefix(address, "host="), " ")
		p.env = []string{"PGHOST=" + host, "PGUSER=test", "PGDATABASE=postgres", "DISCREET_ENGINE=host=" + host + " user=discreet dbname=postgres"}
	}
	if strings.Contains(text, "\n$ trino") { // as the administrator of a cluster with an empty lake
		c := trinotest.Start(p.T)
		if _, err := c.Query("DROP SCHEMA IF EXISTS lake.clinic CASCADE"); err != nil { // of a run before
			p.Fatal(err)
		}
		config := filepath.Join(p.dir, ".trino")
		if err := os.WriteFile(config, []byte("server="+c.URL+"\nuser=owner\n"), 0o600); err != nil {
			p.Fatal(err)
		}
		tools, err := filepath.Abs("../../bench/peers/trino/bin")
		if err != nil {
			p.Fatal(err)
		}
		p.env = []string{"PATH=" + tools + string(os.PathListSeparator) + os.Getenv("PATH"), "TRINO_CONFIG=" + config, "DISCREET_ENGINE=" + c.As("discreet")}
	}
	if strings.Contains(text, "\n$ discreet ledger move") {
		p.books = booksServer(p.T)
	}
	if strings.Contains(text, "\n$ discreet verify") {
		if _, err := exec.LookPath("z3"); err != nil {
			p.Skip("skip: missing tool z3")
		}
	}
}

// fewerImages has a page train on a tenth of MNIST's test images. Of what it shows of models the
// numbers are not compared, and that a tenth is few for a network is not its matter.
func (p *page) fewerImages() {
	dir := filepath.Join(p.TempDir(), "mnist")
	if err := os.Mkdir(dir, 0o700); err != nil {
		p.Fatal(err)
	}
	for _, name := range []string{"t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(gzipped(p.T, part(p.T, name, 0, 1000))), 0o600); err != nil {
			p.Fatal(err)
		}
	}
	p.data, p.tenth = filepath.Dir(dir), true
}

var (
	number = regexp.MustCompile(`[-+]?\d[\d.,]*(e[-+]?\d+)?`)
	dashes = regexp.MustCompile(`--+`)
	gauges = regexp.MustCompile(`\[[#.]{30}\]`)
)

// equal compares what a page shows with what was printed. Of what is noisy
// numbers and order do not count, and rows neither if only the shape does.
func equal(shown []string, printed string, noisy, shape bool) bool {
	shown = clean(shown, noisy, shape)
	var got []string
	if printed != "" {
		got = clean(strings.Split(printed, "\n"), noisy, shape)
	}
	if noisy {
		slices.Sort(shown)
		slices.Sort(got)
	}
	i := slices.Index(shown, "...")
	if i < 0 {
		return slices.Equal(shown, got)
	}
	before, after := shown[:i], shown[i+1:]
	if noisy { // sorted, so that any line may be among those left out
		return !slices.ContainsFunc(slices.Concat(before, after), func(l string) bool { return !slices.Contains(got, l) })
	}
	return len(before)+len(after) <= len(got) && slices.Equal(before, got[:i]) && slices.Equal(after, got[len(got)-len(after):])
}

func clean(lines []string, noisy, shape bool) (out []string) {
	rows := false
	for i, line := range lines {
		line = strings.TrimRight(line, " ")
		rows = rows && !strings.Contains(line, ": ") // the talk after the table
		if rows && shape {
			continue
		}
		rows = rows || i == 1
		if noisy {
			line = gauges.ReplaceAllString(line, "[gauge]")
			line = number.ReplaceAllString(line, "#")
			line = strings.Join(strings.Fields(dashes.ReplaceAllString(line, "--")), " ")
			// Whether a computed value has an interval depends on the noise, and so
			// does the note that says where it has none.
			if line = strings.TrimSuffix(line, " [# #]"); strings.Contains(line, "has no interval in row") {
				continue
			}
		}
		out = append(out, line)
	}
	return out
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

// The comparison of pages is shown what differs and what does not.
func TestEqual(t *testing.T) {
	for _, test := range []struct {
		shown, printed string
		noisy, shape   bool
		want           bool
	}{
		{"a 1", "a 1", false, false, true},
		{"a 1", "a 2", false, false, false},
		{"a 1\n...\nz", "a 1\nb\nc\nz", false, false, true},
		{"a 1\n...\nz", "a 1\nb\nc\ny", false, false, false},
		{"n  [1, 2]\na  -3.5e-7", "a 4\nn [10, 20]", true, false, true},
		{"n  [1, 2]", "n NULL", true, false, false},
		{"n  3 [1, 2]", "n  3\nnote: x has no interval in row 1: why", true, false, true},
		{"n  3 [1, 2]", "n  NULL", true, false, false},
		{"n  [1, 2]\n...\nz", "z\na\nn [3, 4]", true, false, true},
		{"k  n\n-  -\na  1\nb  2\ncost: 1", "k  n\n-  -\nc  1\ncost: 2", true, true, true},
		{"k  n\n-  -\na  1\nb  2\ncost: 1", "k  n\n-  -\nc  1\ncost: 2", true, false, false},
		{"k  n\n-  -\na  1\nb  2\ncost: 1", "k  m\n-  -\nc  1\ncost: 2", true, true, false},
	} {
		if got := equal(strings.Split(test.shown, "\n"), test.printed, test.noisy, test.shape); got != test.want {
			t.Errorf("%q and %q: %v", test.shown, test.printed, got)
		}
	}
}

// Of a verdict neither the time counts nor which counterexample was found.
func TestVerdictsOf(t *testing.T) {
	const shown = "F  cost eps  refuted  reals    12.30\n\nrefuted: F (f.go:1)\n  inputs       q = [0]\n  epsilon      at least 2\n  false for    eps from 1 to 2, tried at each factor of 2"
	for _, test := range []struct {
		old, fresh string
		want       bool
	}{
		{"12.30", " 0.03", true},
		{"q = [0]", "q = [0, 1]", true},
		{"\n  false for    eps from 1 to 2, tried at each factor of 2", "\n", true},
		{"refuted  reals", "unknown  reals", false},
		{"refuted: F", "unknown: F", false},
		{"cost eps", "cost 2*eps", false},
		{"\n  inputs       q = [0]", "", false},
	} {
		fresh := strings.Replace(shown, test.old, test.fresh, 1)
		if got := strings.TrimSpace(verdictsOf(shown+"\n")) == strings.TrimSpace(verdictsOf(fresh+"\n")); got != test.want {
			t.Errorf("%q for %q: %v", test.fresh, test.old, got)
		}
	}
}
