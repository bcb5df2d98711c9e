package rounds_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/rewritetest"
	"github.com/discreet-dp/discreet/verify/internal/rounds"
)

// Where rounds share what is private, or may be more than their count, there are none.
func TestApart(t *testing.T) {
	for _, u := range rewritetest.Load(t, "./testdata/apart") {
		if r, ok := rounds.Of(u.Function, u.Claim); ok {
			t.Errorf("%s: taken apart:\n%s", u.Name, program.Print(r.Function))
		}
	}
}

var roundLine = regexp.MustCompile(`round: (.*)`)

// A round is given what rounds share, as a public input, and reveals what it sets of that;
// it costs the claim divided by their count.
func TestTaken(t *testing.T) {
	for _, u := range rewritetest.Load(t, "./testdata/taken") {
		before := program.Print(u.Function)
		r, ok := rounds.Of(u.Function, u.Claim)
		if !ok {
			t.Errorf("%s: no rounds", u.Name)
			continue
		}
		var words []string
		for _, v := range r.Function.Inputs {
			if !slices.Contains(u.Function.Inputs, v) {
				words = append(words, v.Name)
			}
		}
		words = append(words, "->")
		last := r.Function.Body[len(r.Function.Body)-1].(program.Return)
		for _, x := range last.Values {
			words = append(words, x.String())
		}
		if got, want := strings.Join(words, " "), roundLine.FindStringSubmatch(u.Decl.Doc.Text())[1]; got != want {
			t.Errorf("%s: %s, want %s\n%s", u.Name, got, want, program.Print(r.Function))
		}
		set := map[*program.Variable]bool{}
		program.Each(r.Function.Body, func(s program.Statement) { set[program.Written(s)] = true })
		program.Each(r.Function.Body, func(s program.Statement) {
			program.Reads(s, func(v *program.Variable) {
				if !set[v] && !slices.Contains(r.Function.Inputs, v) {
					t.Errorf("%s: %s is neither given nor set\n%s", u.Name, v.Name, program.Print(r.Function))
				}
			})
		})
		if cost := r.Claim.Cost.Epsilon.String(); cost != "eps / real("+r.Count.String()+")" {
			t.Errorf("%s: a round costs %s", u.Name, cost)
		}
		if program.Print(u.Function) != before {
			t.Errorf("%s was changed", u.Name)
		}
	}
}
