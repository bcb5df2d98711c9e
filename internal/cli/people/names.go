package people

import (
	"context"
	"os"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
)

// Names lists what an argument may be, by its name in a verb's Arguments: an ACCOUNT, a
// GROUP, a HOLDER of rules (either), a TOKEN of the account that stands before it, or an
// APPROVAL that waits. The ledger is open. It makes no file of accounts.
func Names(ctx context.Context, w *workplace.Workplace, value string, before []string) (names []string) {
	o := w.Accounts()
	if _, err := os.Stat(o.Path); err != nil && !ledger.IsURL(o.Path) {
		return nil
	}
	a, err := people.Open(ctx, o)
	if err != nil {
		return nil
	}
	defer a.Close() //nolint:errcheck // it was read
	if value == "APPROVAL" {
		waiting, err := a.Approvals(ctx, false)
		if err != nil {
			return nil
		}
		for _, w := range waiting {
			names = append(names, strconv.FormatInt(w.ID, 10))
		}
		return names
	}
	all, err := a.List(ctx)
	if err != nil {
		return nil
	}
	var groups []string
	for _, l := range all {
		groups = append(groups, l.Groups...)
		if l.Role == "" { // a group with rules, as rules name it
			groups = append(groups, l.Name[len("group:"):])
			continue
		}
		switch {
		case value == "ACCOUNT", value == "HOLDER":
			names = append(names, l.Name)
		case value == "TOKEN" && len(before) > 0 && l.Name == before[0]:
			for _, t := range l.Tokens {
				names = append(names, t.ID)
			}
		}
	}
	slices.Sort(groups)
	for _, g := range slices.Compact(groups) {
		switch value {
		case "GROUP":
			names = append(names, g)
		case "HOLDER":
			names = append(names, "group:"+g)
		}
	}
	return names
}
