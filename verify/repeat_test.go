package verify_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify"
)

const twice = `package p

import "github.com/discreet-dp/discreet/noise"

//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Twice(x, eps float64, src *noise.Source) (float64, float64) {
	return x + src.Laplace(1/eps), x + src.Laplace(1/eps)
}
`

// What was refuted is refuted again by what is stored, without a search; a counterexample that does
// not refute the claim as it is now is not believed.
func TestRefutationsAreRepeated(t *testing.T) {
	dir := module(t, map[string]string{"p.go": twice})
	first := run(t, verify.Options{Dir: dir})
	if len(first.Stored) != 1 || first.Results[0].Verdict != verify.Refuted || first.Results[0].Certificate == "" {
		t.Fatalf("%+v", first)
	}
	again := run(t, verify.Options{Dir: dir, Check: true}).Results[0]
	x, y := first.Results[0].Counterexample, again.Counterexample
	if again.Verdict != verify.Refuted || y == nil || x.Event != y.Event || x.P != y.P || x.Q != y.Q || x.Epsilon != y.Epsilon {
		t.Errorf("%+v\nand by --check\n%+v", x, y)
	}

	proofs := filepath.Join(dir, "discreet.proofs.json")
	kept, err := os.ReadFile(proofs)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"-1"`, `"-2"`},          // no neighbours
		{`"-1"`, `"0"`},           // the same
		{`"1/64"`, `"-1/64"`},     // another event
		{`"-1"`, `"1e999999999"`}, // more digits than there is memory
		{`"-1"`, `"1/0"`},
		{`"-1"`, `""`},
		{`"-1"`, `-1`},
		{`"x"`, `"y"`},
		{`"event"`, `"evening"`},
		{`"Low"`, `"Elements"`},
	} {
		text := strings.Replace(string(kept), change[0], change[1], 1)
		if text == string(kept) {
			t.Fatalf("no %s in %s", change[0], kept)
		}
		write(t, proofs, text)
		r := run(t, verify.Options{Dir: dir, Check: true}).Results[0]
		if r.Verdict != verify.Unknown || len(r.Problems) == 0 || r.Problems[0].Kind != verify.Certificate {
			t.Errorf("with %s for %s: %+v", change[1], change[0], r)
		}
	}
	// A right program is not refuted by the counterexample of a wrong one.
	write(t, proofs, string(kept))
	write(t, filepath.Join(dir, "p.go"), strings.ReplaceAll(twice, "1/eps", "2/eps"))
	if r := run(t, verify.Options{Dir: dir, Check: true}).Results[0]; r.Verdict == verify.Refuted {
		t.Errorf("mended, by --check: %+v", r)
	}
	if r := run(t, verify.Options{Dir: dir}); !r.Proved() || len(r.Stored) != 1 {
		t.Errorf("mended: %+v", r)
	}
}

// A cost that exceeds its claim by a factor says by which.
func TestExcessIsAFactor(t *testing.T) {
	dir := module(t, map[string]string{"p.go": twice + `
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Counts(rows []string, eps float64, src *noise.Source) (float64, float64) {
	n := 0.0
	for _, r := range rows {
		if r == "a" {
			n++
		}
	}
	return n + src.Laplace(1/eps), n + src.Laplace(0.5/eps)
}
`})
	r := run(t, verify.Options{Dir: dir, NoStore: true, Check: true})
	text := ""
	for _, p := range r.Results[1].Problems {
		text += p.Text + "\n"
	}
	if !strings.Contains(text, "which is not known to be at most eps: 3 times that;") {
		t.Error(text)
	}
}
