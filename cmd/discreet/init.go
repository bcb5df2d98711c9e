package main

import (
	"context"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/propose"
)

func initCommand() *Command {
	c := &Command{
		UsageLine: "init [flags] FILE...",
		Files:     true,
		For:       owner,
		Short:     "propose a catalog for files (owner)",
		Long: `It writes the names and types of the files' columns to a new catalog: .csv, .jsonl,
.parquet, or .duckdb, or one table as FILE.duckdb#TABLE. What depends on the data
or on judgement (guessed types, the privacy unit, bounds, domains, budgets) is
marked "?", and every other command refuses the catalog until the owner has
decided. No value of the data goes into it. It never overwrites a file.`,
		Examples: [2]string{"discreet init visits.parquet departments.csv", "discreet init --catalog clinic.toml clinic.duckdb"},
	}
	var w workplace
	w.defineCatalog(&c.Flags)
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal, args []string) error {
		if len(args) == 0 {
			return diagnostic.New("D113", diagnostic.Span{}, "no files").Try("discreet %s", c.UsageLine)
		}
		owner, err := w.openOwner(ctx)
		if err != nil {
			return err
		}
		defer w.close()
		done := t.busy(ctx, "reading columns")
		text, err := propose.Catalog(ctx, owner, w.catalogPath, args)
		done()
		if err != nil {
			return err
		}
		if err := propose.Create(w.catalogPath, text); err != nil {
			return err
		}
		if *wantJSON {
			return t.writeJSON(map[string]string{"catalog": w.catalogPath})
		}
		t.say("wrote %s", w.catalogPath)
		t.say("next: decide what is marked \"?\" in it, then discreet check, then discreet ledger create")
		return nil
	}
	return c
}
