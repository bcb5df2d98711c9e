package query

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/trino"
	"github.com/discreet-dp/discreet/internal/clinic"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/pgsql"
	"github.com/discreet-dp/discreet/privacy"
)

// Demo is discreet demo.
func Demo() *command.Command {
	c := &command.Command{
		UsageLine: "demo [--dir DIR] [--files] [--engine postgres|trino]",
		For:       command.Anyone,
		Short:     "make a demo data set, ask five questions, show the budget falling",
		Long: `It makes 200,000 visits that 20,000 patients paid to a clinic (synthetic: nobody
in them lives), a catalog and a ledger in a folder, and asks five questions. The
folder stays, for questions of your own. Running it again starts it afresh, unless
its catalog was changed. With --files it makes the data and the catalog alone.

With --engine the visits are in the database whose URL DISCREET_ENGINE holds, in a schema
discreet_demo of its own, and that database answers; of a Trino cluster, in the first
of its Iceberg catalogs.`,
		Examples: [2]string{"discreet demo", "discreet demo --engine postgres --dir /tmp/clinic"},
	}
	dir := c.Flags.String("dir", "discreet-demo", "make it in `DIR`")
	files := c.Flags.Bool("files", false, "make the data and the catalog, no ledger, and ask nothing")
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	kind := string(catalog.Embedded)
	c.Flags.Func("engine", "make it in a database that is there: `postgres|trino`", func(text string) error {
		return command.OneOf(&kind, text, slices.Sorted(maps.Keys(makers())))
	})
	var w workplace.Workplace
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := command.None(c, args); err != nil {
			return err
		}
		if workplace.EngineName == workplace.NoEngine {
			return workplace.ErrNoEngine
		}
		d := demo{Terminal: t, dir: *dir, quiet: *wantJSON, kind: catalog.Kind(kind), Workplace: &w}
		if *files {
			return d.files(ctx)
		}
		return d.run(ctx)
	}
	return c
}

// A demo is one run of the command.
type demo struct {
	*terminal.Terminal
	*workplace.Workplace
	dir   string
	quiet bool // JSON alone
	kind  catalog.Kind
}

// A maker makes the data set where an engine has it, and a catalog over it in a folder: its path,
// and where the data are.
type maker func(ctx context.Context, dir string) (path, where string, err error)

// makers are those of the engines, by their names in a catalog.
func makers() map[string]maker {
	return map[string]maker{string(catalog.Embedded): inFiles, string(catalog.PostgreSQL): inPostgres, string(catalog.Trino): inTrino}
}

func inFiles(_ context.Context, dir string) (path, where string, err error) {
	path, err = clinic.Write(dir)
	return path, dir, err
}

func inPostgres(ctx context.Context, dir string) (path, where string, err error) {
	url, err := workplace.EngineURL(catalog.PostgreSQL, workplace.EngineVariable)
	if err != nil {
		return "", "", err
	}
	name, err := pgsql.Name(url)
	if err == nil {
		path, err = clinic.WritePostgres(ctx, dir, url, workplace.EngineVariable)
	}
	switch {
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case errors.Is(err, clinic.ErrSchema):
		return "", "", diagnostic.New("D116", diagnostic.Span{}, "%v", err).
			Because("demo replaces that schema, with all that is in it").Try("name another database in $%s, or rename the schema", workplace.EngineVariable)
	case err != nil:
		return "", "", diagnostic.New("D101", diagnostic.Span{}, "the demo's data cannot be written: %v", err).
			Try("$%s names a database in which its role may make a schema", workplace.EngineVariable)
	}
	return path, "schema " + clinic.Schema + " of " + name, nil
}

func inTrino(ctx context.Context, dir string) (path, where string, err error) {
	url, err := workplace.EngineURL(catalog.Trino, workplace.EngineVariable)
	if err != nil {
		return "", "", err
	}
	to, err := trino.NewWriter(url, workplace.EngineVariable)
	if err != nil {
		return "", "", err
	}
	path, schema, err := clinic.WriteTrino(ctx, dir, workplace.EngineVariable, to.Run)
	switch {
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case errors.Is(err, clinic.ErrSchema):
		return "", "", diagnostic.New("D116", diagnostic.Span{}, "%v", err).
			Because("demo replaces the tables of that schema").Try("rename the schema, or drop it")
	case errors.Is(err, clinic.ErrNoLake):
		return "", "", diagnostic.New("D101", diagnostic.Span{}, "the demo's data cannot be written").Because("%v", err).
			Try("$%s names a cluster with one, and a user who may make a schema in it", workplace.EngineVariable)
	case err != nil:
		return "", "", err
	}
	return path, "schema " + schema + " of " + to.Address(), nil
}

func (d *demo) run(ctx context.Context) error {
	if err := d.build(ctx); err != nil {
		return err
	}
	defer d.Close()
	db, err := d.Database(ctx)
	if err != nil {
		return err
	}
	if _, err := d.Engine.Open(); err != nil { // before anything is charged
		return err
	}
	domain := d.Catalog.Domains[0]
	whole, err := d.Ledger.Balance(ctx, domain.ID)
	if err != nil {
		return fmt.Errorf("read balance: %w", err)
	}
	d.print("The clinic lets %s be spent in all: epsilon %v at delta %v, which is rho %s.\n",
		domain.ID+"s' privacy", domain.Epsilon, domain.Delta, terminal.Rounded(whole.Limit.Rho, terminal.Down))
	type asked struct {
		Title  string           `json:"title"`
		Answer *discreet.Answer `json:"answer"`
	}
	all := []asked{}
	for i, q := range clinic.Questions() {
		rho, err := privacy.ParseRho(q.Rho)
		if err != nil {
			return fmt.Errorf("read the question's cost: %w", err)
		}
		d.print("\n%s\n\n%s\n\n", d.bold(fmt.Sprintf("%d. %s", i+1, q.Title)), terminal.Indent(q.SQL, 3))
		a, err := db.Query(ctx, q.SQL, &discreet.QueryOptions{Spend: discreet.Spend{Rho: rho}, Analyst: "demo"})
		if err != nil {
			return err
		}
		all = append(all, asked{q.Title, a})
		var table bytes.Buffer
		terminal.AnswerGrid(a).Write(&table)
		d.print("%s\n", terminal.Indent(table.String(), 3))
		left, _ := a.Remaining.Rho.Rat().Float64()
		limit, _ := whole.Limit.Rho.Rat().Float64()
		d.print("\n   cost %s   left %s %s\n", costText(a.Cost), terminal.Gauge(left/limit), "rho "+terminal.Rounded(a.Remaining.Rho, terminal.Down))
	}
	if d.quiet {
		return d.WriteJSON(map[string]any{"directory": d.dir, "questions": all})
	}
	d.print("%s", d.farewell())
	return nil
}

// files makes what a page of the documentation begins with.
func (d *demo) files(ctx context.Context) error {
	if err := d.write(ctx); err != nil {
		return err
	}
	if d.quiet {
		return d.WriteJSON(map[string]any{"directory": d.dir, "questions": []string{}})
	}
	return nil
}

func (d *demo) print(format string, args ...any) {
	if !d.quiet {
		fmt.Fprintf(d.Out, format, args...)
	}
}

// bold is for people who read out itself.
func (d *demo) bold(s string) string {
	if !terminal.IsTerminal(d.Out.W) {
		return s
	}
	return d.Paint(terminal.Bold, s)
}

func (d *demo) farewell() string {
	return fmt.Sprintf(`
Each answer is off by some noise, so that no patient's visits show; the intervals
say by how much. What is spent does not come back. Next:

  cd %s
  discreet explain --rho 0.01 'SELECT sex, avg(age) FROM visits GROUP BY sex'
  discreet query   --rho 0.01 'SELECT sex, avg(age) FROM visits GROUP BY sex'
  discreet query   --rho 0.01 'SELECT patient_id, cost FROM visits'
  discreet budget
  discreet serve    # for psql, pandas, programs and agents; discreet user add NAME makes accounts
`, d.dir)
}

// marker is a file that says which folders demo made. It holds the hash of the
// catalog: a folder whose catalog was changed is somebody's work, and its
// ledger perhaps somebody's budget.
const marker = ".discreet-demo"

// build makes the data set and the ledger.
func (d *demo) build(ctx context.Context) error {
	if err := d.write(ctx); err != nil {
		return err
	}
	return d.CreateLedger(ctx)
}

// write makes the data set, and removes the ledger of an earlier run.
func (d *demo) write(ctx context.Context) error {
	again, err := d.mayWrite()
	if err != nil {
		return err
	}
	if again {
		d.print("Starting %s afresh.\n", d.dir)
	}
	done := d.Busy(ctx, "making 200,000 visits")
	var where string
	d.CatalogPath, where, err = makers()[string(d.kind)](ctx, d.dir)
	done()
	if err != nil {
		return err
	}
	hash, err := hashFile(d.CatalogPath)
	if err != nil {
		return fmt.Errorf("mark demo folder: %w", err)
	}
	if err := custody.Write(filepath.Join(d.dir, marker), []byte(hash+"\n")); err != nil {
		return fmt.Errorf("mark demo folder: %w", err)
	}
	if err := d.Load(); err != nil {
		return err
	}
	for _, old := range d.LedgerFiles() {
		if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the last demo's ledger: %w", err)
		}
	}
	d.print("Made 200,000 visits of 20,000 patients in %s (synthetic: nobody in them lives).\n", where)
	return nil
}

// mayWrite reports whether the folder is one that an earlier run made, and
// refuses one that is somebody else's.
func (d *demo) mayWrite() (again bool, err error) {
	entries, err := os.ReadDir(d.dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return false, nil
	}
	if err != nil {
		return false, d.refuse("cannot be used")
	}
	want, err := os.ReadFile(filepath.Join(d.dir, marker))
	if err != nil {
		return false, d.refuse("holds files that demo did not make")
	}
	if hash, err := hashFile(filepath.Join(d.dir, "discreet.toml")); err != nil || hash != strings.TrimSpace(string(want)) {
		return false, d.refuse("holds a catalog that was changed since demo made it")
	}
	return true, nil
}

func (d *demo) refuse(what string) error {
	return diagnostic.New("D116", diagnostic.Span{}, "the folder %s %s", d.dir, what).
		Because("demo replaces the data, the catalog and the ledger of its folder").
		Try("name another with --dir DIR")
}

func hashFile(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
