package owner

import (
	"context"
	"fmt"
	"sync/atomic"

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
		Short:     "compare the catalog with the files (owner)",
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
		if len(w.Catalog.Tables) == 0 {
			return diagnostic.New("D097", diagnostic.Span{}, "%s declares no table", w.CatalogPath).
				Because("there is nothing to compare with files").Try("discreet init FILE proposes tables; at least one is to be declared")
		}
		owner, err := w.OpenOwner(ctx)
		if err != nil {
			return err
		}
		defer w.Close()
		watch, done := watched(ctx, t, "checking")
		report, err := check.Run(ctx, w.Catalog, owner, watch)
		done()
		if err != nil {
			return err
		}
		if err := addCopies(ctx, &w, report); err != nil {
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

// addCopies adds to a report which tables have copies. It fails where statements would: they open the folder, too.
func addCopies(ctx context.Context, w *workplace.Workplace, report *check.Report) error {
	if w.Catalog.Resources.Copies == "" || w.Catalog.Engine.Remote() {
		return nil
	}
	copier, err := w.Copier(ctx)
	if err != nil {
		return err
	}
	for _, table := range report.Tables {
		if copies, err := copier.CopiesOf(table.Name); err == nil {
			table.Copies = copies
		}
	}
	return nil
}

// watched shows what a check is at.
func watched(ctx context.Context, t *terminal.Terminal, what string) (watch func(check.Progress), done func()) {
	if !t.People {
		return nil, func() {}
	}
	var last atomic.Pointer[check.Progress]
	return func(p check.Progress) { last.Store(&p) }, t.Watch(ctx, func() string {
		if p := last.Load(); p != nil {
			return what + " " + progressLine(*p)
		}
		return what
	})
}

// progressLine says what a check is at: bytes of a file, or steps.
func progressLine(p check.Progress) string {
	line := terminal.Printable(p.Table) + ": " + terminal.Printable(p.Doing)
	switch {
	case p.Bytes:
		line += " " + terminal.Bytes(p.Done, p.All)
	case p.All > 0:
		line += " " + terminal.Steps(p.Done, p.All)
	}
	if p.Tables > 1 {
		line += fmt.Sprintf(", table %d of %d", p.At, p.Tables)
	}
	return line
}

// errFound ends a check that has reported problems.
var errFound = diagnostic.New("D097", diagnostic.Span{}, "the files are not as the catalog says").
	Try("the report's problems say where")
