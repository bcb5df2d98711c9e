package owner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/privacy"
)

// A finding holds the flags of discreet bounds.
type finding struct {
	workplace.Workplace
	spend       discreet.Spend
	by          []string
	find, again bool
	json        bool
}

// Bounds is discreet bounds.
func Bounds() *command.Command {
	c := &command.Command{
		UsageLine: "bounds [flags] [TABLE | TABLE.COLUMN]",
		For:       command.Owner,
		Short:     "show and find the bounds that the catalog calls \"auto\" (owner)",
		Long: `Where the catalog has bounds = "auto" or contribution = "auto", tighter bounds than the
declared ones can be found privately. It prints which were found and, for free, what finding
the others costs. With --find it finds them: each search is a statement that is charged
to the domain, once; what it found is kept in the ledger, bounds every statement from then on,
and costs nothing again. Where a search was interrupted after its charge, --again alone pays for
a new one. A server uses what was found when it next starts or reads its catalog again.

A bound cuts off about one unit in a hundred, and more where few units make the noise large.
Where noise could well hide that one in ten is cut off, the declared bound stays.

TABLE.COLUMN names the bounds of a column, TABLE what a unit contributes to an answer
that is grouped by the columns of --by; without a name all are meant.`,
		Examples:  [2]string{"discreet bounds", "discreet bounds --find --rho 0.001 visits --by department"},
		Arguments: []string{"TABLE"},
	}
	var f finding
	f.Define(&c.Flags)
	c.Flags.Func("epsilon", "spend `E` on each search: pure, or approximate with --delta", workplace.Amount(&f.spend.Epsilon, privacy.ParseEpsilon))
	c.Flags.Func("delta", "spend `D` too", workplace.Amount(&f.spend.Delta, privacy.ParseDelta))
	c.Flags.Func("rho", "spend `R` of zero-concentrated differential privacy on each search (default of all: the catalog's)", workplace.Amount(&f.spend.Rho, privacy.ParseRho))
	c.Flags.Func("by", "the grouping columns `A,B,...` for which a table's contribution is found", func(text string) error {
		for name := range strings.SplitSeq(text, ",") {
			f.by = append(f.by, strings.TrimSpace(name))
		}
		return nil
	})
	c.Flags.BoolVar(&f.find, "find", false, "find what was not found yet, and pay for it")
	c.Flags.BoolVar(&f.again, "again", false, "with --find: find all that is meant anew, and pay again")
	c.PrintsTables()
	c.Flags.BoolVar(&f.json, "json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if len(args) > 1 {
			return diagnostic.New("D113", diagnostic.Span{}, "name one table or column, or none").Try("discreet %s", c.UsageLine)
		}
		if f.again && !f.find {
			return diagnostic.New("D115", diagnostic.Span{}, "--again needs --find")
		}
		if err := f.Load(); err != nil {
			return err
		}
		defer f.Close()
		return f.run(ctx, t, strings.Join(args, ""))
	}
	return c
}

func (f *finding) run(ctx context.Context, t *terminal.Terminal, name string) error {
	if f.find {
		if err := f.OpenGuarding(ctx); err != nil {
			return err
		}
	} else if err := f.OpenLedgerToRead(ctx); err != nil {
		t.Say("note: what was found is not known: %v", err)
	}
	db, err := f.Database(ctx)
	if err != nil {
		return err
	}
	meant, err := f.meant(ctx, db, name)
	if err != nil {
		return err
	}
	for i, b := range meant {
		switch {
		case f.find:
			meant[i], err = db.Find(ctx, b, f.spend, f.again)
		case b.Record == 0:
			var cost discreet.Cost
			cost, err = db.Price(ctx, b, f.spend)
			meant[i].Cost = &cost
		}
		if err != nil {
			writeBounds(t, meant[:i]) // what is paid for is told
			return err
		}
	}
	if f.json {
		return t.WriteJSON(map[string]any{"bounds": meant})
	}
	writeBounds(t, meant)
	return nil
}

// meant are the bounds that the arguments name.
func (f *finding) meant(ctx context.Context, db *discreet.Database, name string) ([]discreet.Bound, error) {
	known, err := db.Bounds(ctx)
	if err != nil {
		return nil, err
	}
	var named []discreet.Bound
	table, column, isColumn := strings.Cut(name, ".")
	switch {
	case name == "" && f.by != nil:
		return nil, diagnostic.New("D115", diagnostic.Span{}, "--by needs a table").Try("name the table whose rows are grouped")
	case name == "":
		return known, nil
	case isColumn && f.by != nil:
		return nil, diagnostic.New("D115", diagnostic.Span{}, "--by and a column exclude each other").Because("a column's bounds are the same for all groups")
	case isColumn:
		named, err = db.ColumnBounds(table, column)
	default:
		named, err = db.Contribution(table, f.by)
	}
	if err != nil {
		return nil, err
	}
	for i, b := range named {
		if at := slices.IndexFunc(known, b.Same); at >= 0 {
			named[i] = known[at]
		}
	}
	return named, nil
}

// writeBounds prints bounds for people.
func writeBounds(t *terminal.Terminal, all []discreet.Bound) {
	if len(all) == 0 {
		fmt.Fprintln(t.Out, `the catalog calls no bound "auto"`)
		return
	}
	g := terminal.Grid{{Title: "of"}, {Title: "bound"}, {Title: "declared"}, {Title: "found"}, {Title: "cost"}}
	for _, b := range all {
		of := b.Table
		if b.Column != "" {
			of += "." + b.Column
		}
		if len(b.By) > 0 {
			of += " by " + strings.Join(b.By, ", ")
		}
		found, cost := "not yet", ""
		if b.Cost != nil {
			cost = terminal.ChargeText(b.Cost.Amounts) + ", if it is found"
		}
		if b.Record > 0 {
			found, cost = b.Found, terminal.ChargeText(b.Cost.Amounts)+fmt.Sprintf(", in record %d", b.Record)
			if b.Found == "" {
				found = "too few units: as declared"
			}
			if b.Later {
				found += "; the data have a later version"
			}
		}
		for j, cell := range []string{of, b.Of, b.Declared, found, cost} {
			g[j].Cells = append(g[j].Cells, cell)
		}
	}
	g.Write(t.Out)
}
