package people

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
)

// An Approval is a statement that waits for an owner, or that one has decided on, with
// what the owner decides by. Nothing of it comes of data.
type Approval struct {
	ledger.Approval
	// Remaining is what is left of the domain's budget now.
	Remaining filter.Amounts
	// Holding is what the analyst's account may spend of the domain, and has spent.
	Holding ledger.Holding
}

// Ask asks an owner for a statement of an account that the ledger refused with
// ledger.ErrLimit. canonical is the statement as it was understood, for owners to read. It
// returns the approval of that request, also one that there was: a repeated question is one.
func (a *Accounts) Ask(ctx context.Context, r ledger.Request, canonical string) (ledger.Approval, error) {
	return a.options.Ledger.Ask(ctx, r, canonical, a.options.Pending)
}

// Approvals returns what was asked, the oldest first: only what is pending, or all.
func (a *Accounts) Approvals(ctx context.Context, all bool) (out []Approval, err error) {
	defer wrap(&err, "list approvals")
	asked, err := a.options.Ledger.Approvals(ctx)
	if err != nil {
		return nil, err
	}
	for _, one := range asked {
		if !all && one.Status != ledger.Pending {
			continue
		}
		b, err := a.options.Ledger.Balance(ctx, one.Domain)
		if err != nil {
			return nil, err
		}
		h, err := a.options.Ledger.Holding(ctx, subject(one.Analyst), one.Domain)
		if err != nil {
			return nil, err
		}
		one.Statement, one.Canonical, one.Why = Shown(one.Statement), Shown(one.Canonical), Shown(one.Why)
		out = append(out, Approval{one, b.Remaining, h})
	}
	return out, nil
}

// Grant lets a statement be charged once, when its asker sends it again.
func (a *Accounts) Grant(ctx context.Context, by string, id int64) error {
	return a.options.Ledger.Decide(ctx, id, true, by, "", a.now())
}

// Deny refuses a statement, with a reason that the asker is told.
func (a *Accounts) Deny(ctx context.Context, by string, id int64, why string) error {
	return a.options.Ledger.Decide(ctx, id, false, by, why, a.now())
}

// Shown escapes characters that are invisible or appear in another place: control characters except
// line ends and tabs, marks of direction, and characters that no font has.
func Shown(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || r == '\t' || r != unicode.ReplacementChar && unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u{%X}`, r)
		}
	}
	return b.String()
}
