package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/check"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// look copies tables for the owner. The ledger records the purpose before anything is read.
func (a *auditing) look(ctx context.Context, tables []*catalog.Table, domain *catalog.Domain, what string) (*check.Parallel, error) {
	if err := a.FilesAlone("an audit of data"); err != nil {
		return nil, err
	}
	if err := a.OpenGuarding(ctx); err != nil {
		return nil, err
	}
	owner, err := a.OpenOwner(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.Ledger.Access(ctx, domain.ID, cmp.Or(a.analyst, workplace.DefaultAnalyst()), "audit "+a.verb+": "+what, time.Now()); err != nil {
		return nil, err
	}
	p, err := check.NewParallel(ctx, owner, tables)
	if err != nil {
		return nil, a.unread(ctx, "D131", err)
	}
	return p, nil
}

// unread tells the owner, in the engine's words, why the data cannot be read.
func (a *auditing) unread(ctx context.Context, code string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text, _, _ := strings.Cut(err.Error(), "\n\n")
	return diagnostic.New(code, diagnostic.Span{}, "%s", terminal.Printable(strings.Join(strings.Fields(text), " ")))
}

// secrets are the bits of the units of the table that was named, or nil.
func (a *auditing) secrets(ctx context.Context) ([]bool, error) {
	if a.table == "" {
		return nil, nil
	}
	if err := a.Load(); err != nil {
		return nil, err
	}
	t, ok := a.Catalog.Table(a.table)
	switch {
	case !ok:
		return nil, a.NoTable("D131", a.table)
	case t.Public:
		return nil, diagnostic.New("D131", diagnostic.Span{}, "table %q is public: it has no units to protect", t.Name)
	}
	p, err := a.look(ctx, []*catalog.Table{t}, t.Domain, t.Name+" where "+a.where)
	if err != nil {
		return nil, err
	}
	bits, err := p.Bits(ctx, t.Name, a.where, a.units)
	if err != nil {
		return nil, a.unread(ctx, "D131", err)
	}
	if len(bits) == 0 {
		return nil, diagnostic.New("D131", diagnostic.Span{}, "table %q has no units", t.Name)
	}
	return bits, nil
}

// statement measures how far a statement's answer moves when one unit is removed.
func (a *auditing) statement(ctx context.Context, t *terminal.Terminal, text string) error {
	if err := a.Load(); err != nil {
		return err
	}
	tables, domain, err := a.named(text)
	if err != nil {
		return err
	}
	step, done := t.Progress(ctx, "removing units", a.units+1)
	defer done()
	p, err := a.look(ctx, tables, domain, text)
	if err != nil {
		return err
	}
	r, err := a.measure(ctx, p, text, step)
	if err != nil {
		return err
	}
	done()
	if a.json {
		return t.WriteJSON(r)
	}
	r.write(t)
	return nil
}

// named returns the tables that a statement may read: those whose names occur in it.
// For the statement no others exist.
func (a *auditing) named(text string) (tables []*catalog.Table, domain *catalog.Domain, err error) {
	for _, t := range a.Catalog.Tables {
		if !mentions(text, t.Name) {
			continue
		}
		tables = append(tables, t)
		if t.Public {
			continue
		}
		if domain != nil && domain != t.Domain {
			return nil, nil, diagnostic.New("D131", diagnostic.Span{}, "the statement names tables of domains %q and %q", domain.ID, t.Domain.ID).
				Because("a guarantee protects the units of one domain")
		}
		domain = t.Domain
	}
	if domain == nil {
		return nil, nil, diagnostic.New("D131", diagnostic.Span{}, "the statement names no private table of the catalog").
			Try("without a statement, audit sensitivity shows how it works on made-up data")
	}
	return tables, domain, nil
}

// mentions reports whether a name occurs in a text as a word of its own.
func mentions(text, name string) bool {
	const other = `[^\pL\pN_]`
	return regexp.MustCompile(`(?i)(^|` + other + `)` + regexp.QuoteMeta(name) + `($|` + other + `)`).MatchString(text)
}

// measure removes one unit at a time.
func (a *auditing) measure(ctx context.Context, p *check.Parallel, text string, step func()) (*sensitivityReport, error) {
	units, all, err := p.Units(ctx, a.units)
	if err != nil {
		return nil, a.unread(ctx, "D131", err)
	}
	s, err := audit.Parallel(ctx, len(units), a.norm, func(ctx context.Context, i int) ([]float64, error) {
		defer step()
		without := ""
		if i >= 0 {
			without = units[i]
		}
		return p.Values(ctx, text, without)
	})
	if err != nil {
		d := a.unread(ctx, "D130", err)
		var refusal *diagnostic.Diagnostic
		if errors.As(d, &refusal) {
			refusal.Try("the engine's SQL, with a result of one row of numbers: a group by itself, by WHERE")
		}
		return nil, d
	}
	r := &sensitivityReport{Data: text, Private: true, Notice: auditPrivate, Units: all, Results: []sensitivityResult{{Query: text, SensitivityLowerBound: s}}}
	if s.Witness >= 0 {
		r.Results[0].Unit = fmt.Sprint(units[s.Witness])
	}
	return r, nil
}
