//go:build cgo && unix

package cli

import (
	"bytes"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/postgrestest"
	"github.com/discreet-dp/discreet/internal/trinotest"
	"github.com/discreet-dp/discreet/ledger"
)

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

	ports ports
	group *syscall.SysProcAttr // of its commands
}

var fileLine = regexp.MustCompile(`^// (\w+\.go)$`)
var directive = regexp.MustCompile(`^<!-- run: (.*) -->$`)

// execute runs the page's blocks and returns the page with the outputs of this
// run in place of those that are out of date.
func (p *page) execute(text string) string {
	p.ports = freePorts(p.T, text)
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

// shell runs a line line in the page's folder and returns what it printed.
func (p *page) shell(line string) (output string, err error) {
	// make demo compiles, and then does this.
	line = strings.ReplaceAll(line, "make demo", "discreet demo")
	if p.tenth {
		line = strings.ReplaceAll(line, "-n 10000 ", "-n 1000 ")
	}
	if p.group == nil {
		p.group = ended(p.T)
	}
	cmd := exec.Command("bash", "-c", "cd \"$PAGE_CWD\"\n"+p.ports.give(line)+"\ncode=$?; pwd > \"$PAGE_DIR/.cwd\"; exit $code")
	cmd.Env = append(os.Environ(), "PAGE_DIR="+p.dir, "PAGE_CWD="+filepath.Join(p.dir, p.cwd), "DISCREET_DATA="+p.data,
		"DISCREET_ANCHOR=", "DISCREET_LEDGER="+p.books, "DISCREET_LEDGER_KEY_FILE=", "DISCREET_MEMORY=", "DISCREET_TEMP=", "DISCREET_THREADS=", "NO_COLOR=1", "TZ=UTC")
	cmd.Env = append(cmd.Env, p.env...)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = &b, &b, p.group
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
	printed := p.ports.show(b.String())
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
