package main

import (
	"context"

	"github.com/discreet-dp/discreet/internal/check"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

func checkCommand() *Command {
	c := &Command{
		UsageLine: "check [flags]",
		For:       owner,
		Short:     "hold the catalog against the files (owner)",
		Long: `It reports rows outside bounds and domains, rows without a unit, duplicate keys,
how many rows and groups a unit has, and what the bounds make of that. The report
is exact and private: it is for the owner of the data alone. It never shows the
extremes of a column, and none of its figures should become a bound.

Exit codes: 0 nothing stands in the way of answers, 1 something does.`,
		Examples: [2]string{"discreet check", "discreet check --catalog clinic/discreet.toml --json > report.json"},
	}
	var w workplace
	w.defineCatalog(&c.Flags)
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal, args []string) error {
		if err := none(c, args); err != nil {
			return err
		}
		if err := w.load(); err != nil {
			return err
		}
		owner, err := w.openOwner(ctx)
		if err != nil {
			return err
		}
		defer w.close()
		done := t.busy(ctx, "checking")
		report, err := check.Run(ctx, w.catalog, owner)
		done()
		if err != nil {
			return err
		}
		if *wantJSON {
			err = t.writeJSON(report)
		} else {
			err = report.Write(t.out)
		}
		if err == nil && !report.Sound() {
			return errFound
		}
		return err
	}
	return c
}

// errFound ends a check whose report says what is wrong.
var errFound = diagnostic.New("D097", diagnostic.Span{}, "the files are not as the catalog says").
	Try("the report's problems say where")
