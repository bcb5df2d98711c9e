package prove_test

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/prove"
)

// Of wrong programs no certificate is a proof, and not that without a shift: what is asked
// of a proof fails, each thing in one of these programs first.
func TestNothingIsShown(t *testing.T) {
	first := map[string]string{
		"PrivateCoin":   "the parameter of the noise is the same in both runs",
		"PrivateScale":  "the scale of this noise depends on q[0]",
		"BranchOnRaw":   "both runs take the same branch",
		"PrivateRounds": "both runs stay in loop",
		"PrivateLength": "out has the same length in both runs",
		"PrivatePlace":  "both runs write the same element of out",
		"PrivateValue":  "what out receives is the same in both runs",
		"Stored":        "what out receives is the same in both runs",
		"AsItIs":        "q is the same in both runs",
		"PrivateIndex":  "the result is the same in both runs",
		"BadPartialSum": "the result is the same in both runs",
		"WrongWinner":   "arg is result in the second run too",
		"Fraction":      "if the first run returns result, so does the second",
		"ChooseTwice":   "the cost is covered by the claim",
		"Difference":    "the cost(a) is covered by the claim",
		"Coarse":        "the scale 1 / eps is below 2^41",
		"Early":         "the scale of this noise depends on scale, which changes",
		"LastTruth":     "if the first run returns result, so does the second",
		"OneTruth":      "if the first run returns result, so does the second",
		"FirstTruth":    "both runs take the same branch",
		"Apart":         "it is of 1 directions, and 2 are claimed",
	}
	all := units(t, "./wrong", "./lyu", "../internal/prove/testdata/traps")
	for name, u := range all {
		if u.Function == nil || name == "Lyu1" || name == "Helped" { // they keep their claims
			continue
		}
		c := &prove.Certificate{Version: 1, Program: prove.Hash(u.Function, u.Claim), Orientations: []prove.Orientation{{Direction: "forward"}}}
		err := prove.Check(t.Context(), u.Function, u.Claim, c)
		if err == nil || !strings.Contains(err.Error(), first[name]) {
			t.Errorf("%s: the check says %v; want %q", name, err, first[name])
		}
		delete(first, name)
	}
	for name := range first {
		t.Errorf("there is no %s", name)
	}
}

// Noise that moves is no longer the same, after the loop as well.
func TestNoiseKept(t *testing.T) {
	u := units(t, "../internal/prove/testdata/traps")["NoiseKept"]
	c := &prove.Certificate{Version: 1, Program: prove.Hash(u.Function, u.Claim), Orientations: []prove.Orientation{{
		Direction:  "forward",
		Alignment:  []prove.Shift{{Draw: 0, Name: "k", Expr: "-diff(q[i])"}},
		Invariants: []prove.Invariant{{Loop: 0, Formula: "(<= cost (to_real i))"}},
	}}}
	if err := prove.Check(t.Context(), u.Function, u.Claim, c); err == nil || !strings.Contains(err.Error(), "the result is the same in both runs") {
		t.Errorf("the check says %v", err)
	}
}

// Of truths one may be another, or each: a count of them moves by one, if the invariants say that
// it has not moved before.
func TestTruthsMove(t *testing.T) {
	all := units(t, "../internal/prove/testdata/traps")
	within := []string{"(<= (- |diff(n)|) 1)", "(<= |diff(n)| 1)"}
	before := []string{"(or (<= (+ |at(bits)| (- i)) (- 1)) (<= |diff(n)| 0))", "(or (<= (+ |at(bits)| (- i)) (- 1)) (<= (- |diff(n)|) 0))"}
	for _, test := range []struct {
		name       string
		invariants []string
		fails      string // "" if it is a proof
	}{
		{"CountOfOne", append(before, within...), ""},
		{"CountOfOne", within, "invariant"},
		{"CountOfEach", within, "invariant"},
		{"CountOfEach", append(before, within...), "at(bits)"},
		{"BothTruths", nil, "the cost is covered by the claim"},
		{"OtherTruths", nil, "the cost is covered by the claim"},
	} {
		u := all[test.name]
		o := prove.Orientation{Direction: "forward", Alignment: []prove.Shift{{Draw: 0, Name: "k", Expr: "-diff(n)"}}}
		for _, f := range test.invariants {
			o.Invariants = append(o.Invariants, prove.Invariant{Loop: 0, Formula: f})
		}
		c := &prove.Certificate{Version: 1, Program: prove.Hash(u.Function, u.Claim), Orientations: []prove.Orientation{o}}
		err := prove.Check(t.Context(), u.Function, u.Claim, c)
		if (err == nil) != (test.fails == "") || err != nil && !strings.Contains(err.Error(), test.fails) {
			t.Errorf("%s with %q: the check says %v; want %q", test.name, test.invariants, err, test.fails)
		}
	}
}
