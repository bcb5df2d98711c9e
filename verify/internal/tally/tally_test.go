package tally_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/source"
	"github.com/discreet-dp/discreet/verify/internal/tally"
)

var wantLine = regexp.MustCompile(`(?m)^want: (.*)$`)

// Counts of records have the distances that what one record adds says, and loops that do more
// than to count are left alone.
func TestLoops(t *testing.T) {
	all, err := source.Load(t.Context(), "", "./testdata/loops")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, u := range all[0].Units {
		m := wantLine.FindStringSubmatch(u.Decl.Doc.Text())
		if m == nil || u.Function == nil || u.Claim == nil {
			t.Errorf("%s: %v", u.Name, u.Refusals)
			continue
		}
		seen++
		before := program.Print(u.Function)
		got := "none"
		c, ok := tally.Of(u.Function, u.Claim)
		if ok {
			got = distances(c.Claim)
		}
		if got != m[1] {
			t.Errorf("%s: %s, want %s", u.Name, got, m[1])
		}
		if ok && strings.Contains(program.Print(c.Function), "len(rows)") {
			t.Errorf("%s: the records are left:\n%s", u.Name, program.Print(c.Function))
		}
		if program.Print(u.Function) != before {
			t.Errorf("%s: the given function is changed", u.Name)
		}
	}
	if seen != 63 {
		t.Errorf("%d loops were seen", seen)
	}
}

// distances are those of a claim, in words.
func distances(c *claim.Claim) string {
	var all []string
	for _, a := range c.Adjacent {
		how := map[claim.Relation]string{claim.Each: "each ", claim.One: "one "}[a.Relation]
		low := "-" + a.High.(program.Number).Value.RatString()
		all = append(all, fmt.Sprintf("%s%s %s..%s", how, a.Input.Name, low, a.High.(program.Number).Value.RatString()))
	}
	return strings.Join(all, ", ")
}

// There are as many sums as rounds, or bins, and none of fewer than none: a length that cannot be
// would leave out inputs that the given claim is of.
func TestLengths(t *testing.T) {
	all, err := source.Load(t.Context(), "", "./testdata/loops")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"PerRound":    "len(n·all1) == max(k, 0)",
		"Histogram":   "len(counts·all1) == max(k, 0)",
		"OtherLength": "len(counts·all1) == max(k, 0)",
		"Grid":        "len(n·all1) == len(grid)",
	}
	for _, u := range all[0].Units {
		w, ok := want[u.Name]
		if !ok {
			continue
		}
		delete(want, u.Name)
		var got []string
		if c, ok := tally.Of(u.Function, u.Claim); ok {
			for _, r := range c.Claim.Requires {
				got = append(got, r.String())
			}
		}
		if !slices.Contains(got, w) {
			t.Errorf("%s requires %q, want %s", u.Name, got, w)
		}
	}
	if len(want) > 0 {
		t.Errorf("not seen: %v", want)
	}
}
