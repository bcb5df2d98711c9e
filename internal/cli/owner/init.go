// Package owner has the commands of data owners: init, check and ledger.
package owner

import (
	"context"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/propose"
)

// Init is discreet init.
func Init() *command.Command {
	c := &command.Command{
		UsageLine: "init [flags] FILE... | init --engine postgres|trino [TABLE...]",
		Files:     true,
		For:       command.Owner,
		Short:     "propose a catalog for files (owner)",
		Long: `It writes the names and types of the files' columns to a new catalog: .csv, .jsonl,
.parquet, or .duckdb, or one table as FILE.duckdb#TABLE. A folder, or a pattern in
quotes, is one table of all its files; folders such as year=2025 are partitions. What
depends on the data or on judgement (guessed types, the privacy unit, bounds, domains,
budgets) is marked "?", and every other command refuses the catalog until the owner
has decided. No value of the data goes into it. It never overwrites a file.

With --engine the tables are those of the database whose URL DISCREET_ENGINE holds, by
their names there, or all of schema public; of Trino, lake.clinic stands for all tables
of that schema. It looks at names and types, and at no row.`,
		Examples: [2]string{"discreet init visits.parquet departments.csv", "discreet init --engine postgres public.visits public.departments"},
	}
	var w workplace.Workplace
	w.DefineCatalog(&c.Flags)
	kind := ""
	c.Flags.Func("engine", "propose it for tables of a database: `postgres|trino`", func(text string) error {
		return command.OneOf(&kind, text, []string{string(catalog.PostgreSQL), string(catalog.Trino)})
	})
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if kind != "" { // the role is looked at when the catalog that is decided on is used
			w.Catalog = &catalog.Catalog{Path: w.CatalogPath, Engine: catalog.Engine{Kind: catalog.Kind(kind), Variable: workplace.EngineVariable, AcceptRole: true}}
		} else if len(args) == 0 {
			return diagnostic.New("D113", diagnostic.Span{}, "no files").Try("discreet %s", c.UsageLine)
		}
		owner, err := w.OpenOwner(ctx)
		if err != nil {
			return err
		}
		defer w.Close()
		done := t.Busy(ctx, "reading columns")
		var text string
		if w.Catalog != nil {
			text, err = propose.Database(ctx, owner, w.CatalogPath, w.Catalog.Engine, args)
		} else {
			text, err = propose.Catalog(ctx, owner, w.CatalogPath, args)
		}
		done()
		if err != nil {
			return err
		}
		if err := propose.Create(w.CatalogPath, text); err != nil {
			return err
		}
		if *wantJSON {
			return t.WriteJSON(map[string]string{"catalog": w.CatalogPath})
		}
		t.Say("wrote %s", w.CatalogPath)
		t.Say("next: decide what is marked \"?\" in it, then discreet check, then discreet ledger create")
		return nil
	}
	return c
}
