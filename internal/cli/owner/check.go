package owner

import (
	"context"

	"github.com/discreet-dp/discreet/internal/check"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// Check is discreet check.
func Check() *command.Command {
	c := &command.Command{
		UsageLine: "check [flags]",
		For:       command.Owner,
		Short:     "hold the catalog against the files (owner)",
		Long: `It reports rows outside bounds and domains, rows without a unit, duplicate keys,
how many rows and groups a unit has, and what the bounds make of that. The report
is exact and private: it is for the owner of the data alone. It never shows the
extremes of a column, and none of its figures should become a bound.

Exit codes: 0 nothing stands in the way of answers, 1 something does.`,
		Examples: [2]string{"discreet check", "discreet check --catalog clinic/discreet.toml --json > report.json"},
	}
	var w workplace.Workplace
	w.DefineCatalog(&c.Flags)
	c.PrintsTables()
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := command.None(c, args); err != nil {
			return err
		}
		if err := w.Load(); err != nil {
			return err
		}
		owner, err := w.OpenOwner(ctx)
		if err != nil {
			return err
		}
		defer w.Close()
		done := t.Busy(ctx, "checking")
		report, err := check.Run(ctx, w.Catalog, owner)
		done()
		if err != nil {
			return err
		}
		if !*wantJSON {
			writeReport(t, report)
		} else if err := t.WriteJSON(report); err != nil {
			return err
		}
		if !report.Sound() {
			return errFound
		}
		return nil
	}
	return c
}

// errFound ends a check that has reported problems.
var errFound = diagnostic.New("D097", diagnostic.Span{}, "the files are not as the catalog says").
	Try("the report's problems say where")
