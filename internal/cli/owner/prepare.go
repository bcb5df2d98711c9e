package owner

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A preparation holds the flags of discreet prepare.
type preparation struct {
	workplace.Workplace
	list, remove, json bool
}

// Prepare is discreet prepare.
func Prepare() *command.Command {
	c := &command.Command{
		UsageLine: "prepare [flags] [TABLE...]",
		For:       command.Owner,
		Short:     "lay tables out in the order of their units, so that answers come sooner (owner)",
		Long: `It writes a copy of each table, or of those that are named, into the folder that the
catalog calls copies: values cast as the catalog declares them, rows in the order of
their units. Statements then read the copy. What they answer and cost stays the same.
The copy of a table whose units are found by a reference holds them: it is of the files
of all tables on the way.

A copy is as private as the file that it is of. It is read for the bytes alone that it
was made of, and by the build that made it: where the file or its declaration has
changed, statements read the file, as before, until it is prepared again. A server uses
new copies when it next starts or reads its catalog.

--list says which tables have a copy, --remove removes copies. Tables of a database or
of a DuckDB file are read where they are.`,
		Examples:  [2]string{"discreet prepare", "discreet prepare --list visits"},
		Arguments: []string{"TABLE"},
	}
	var p preparation
	p.DefineCatalog(&c.Flags)
	c.Flags.BoolVar(&p.list, "list", false, "say which tables have a copy, and make none")
	c.Flags.BoolVar(&p.remove, "remove", false, "remove the copies")
	c.PrintsTables()
	c.Flags.BoolVar(&p.json, "json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if p.list && p.remove {
			return diagnostic.New("D115", diagnostic.Span{}, "--list and --remove exclude each other")
		}
		if err := p.Load(); err != nil {
			return err
		}
		defer p.Close()
		return p.run(ctx, t, args)
	}
	return c
}

func (p *preparation) run(ctx context.Context, t *terminal.Terminal, names []string) error {
	all := len(names) == 0
	for _, table := range p.Catalog.Tables {
		if all {
			names = append(names, table.Name)
		}
	}
	for _, name := range names {
		if _, ok := p.Catalog.Table(name); !ok {
			return p.NoTable("D010", name)
		}
	}
	copier, err := p.Copier(ctx)
	if err != nil {
		return err
	}
	if p.remove && all { // also what no table is of any more
		if _, err := copier.RemoveCopies(""); err != nil {
			return err
		}
	}
	var tables []string
	for i, name := range names {
		err := p.do(ctx, t, copier, name, i, len(names))
		var not *engine.Uncopied
		switch {
		case errors.As(err, &not) && all && not.Elsewhere:
			continue
		case errors.As(err, &not):
			return diagnostic.New("D108", diagnostic.Span{}, "table %q is not prepared: %s", not.Table, not.Why).Try("%s", not.Hint)
		case err != nil:
			return err
		}
		tables = append(tables, name)
	}
	// What was made first may have had to make room for what was made last.
	copies := []engine.Copy{}
	for _, table := range tables {
		now, err := copier.CopiesOf(table)
		if err != nil {
			return err
		}
		if copies = append(copies, now...); !p.list && !p.remove && now[0].State != engine.Copied {
			return diagnostic.New("D108", diagnostic.Span{}, "table %q is not prepared: its copy made room for the others", table).
				Try("set copies_size in [resources] to more")
		}
	}
	if p.json {
		return t.WriteJSON(map[string]any{"copies": copies})
	}
	writeCopies(t, copies)
	return nil
}

// do does with one table, of so many, what is asked.
func (p *preparation) do(ctx context.Context, t *terminal.Terminal, copier engine.Copier, name string, i, of int) (err error) {
	switch {
	case p.list:
		_, err = copier.CopiesOf(name)
		return err
	case p.remove:
		_, err = copier.RemoveCopies(name)
		return err
	}
	what := "preparing " + terminal.Printable(name)
	if of > 1 {
		what += fmt.Sprintf(", table %d of %d", i+1, of)
	}
	done := t.Busy(ctx, what)
	defer done()
	_, err = copier.MakeCopy(ctx, name)
	return err
}

// writeCopies prints for people which tables have a copy.
func writeCopies(t *terminal.Terminal, copies []engine.Copy) {
	if len(copies) == 0 {
		fmt.Fprintln(t.Out, "no table of the catalog is in files that are copied")
		return
	}
	g := grid("table", "copy", "size", "made")
	g[1].Right, g[3].Right = false, false
	for _, copy := range copies {
		size, made := "", ""
		if copy.State != engine.NoCopy {
			size, made = fmt.Sprintf("%.1f MB", float64(copy.Bytes)/1e6), copy.Made.Format("2006-01-02 15:04 MST")
		}
		add(g, copy.Table, copyState(copy), size, made)
	}
	g.Write(t.Out)
}

// copyText says it in a line.
func copyText(c engine.Copy) string {
	if c.State == engine.NoCopy {
		return copyState(c)
	}
	return fmt.Sprintf("%s, %.1f MB, %s", copyState(c), float64(c.Bytes)/1e6, c.Made.Format("2006-01-02 15:04 MST"))
}

// copyState says what a copy is good for.
func copyState(c engine.Copy) string {
	switch c.State {
	case engine.Copied:
		if c.WithoutUnits {
			return "prepared, without units"
		}
		return "prepared"
	case engine.OldCopy:
		return "outdated, not read"
	}
	return "none"
}
