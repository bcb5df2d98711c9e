package accountant

import (
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

// replaced returns the pld bound of ε at delta under replacement.
func replaced(t *testing.T, plan string, delta float64) Bound {
	t.Helper()
	r, err := Epsilon(t.Context(), parse(t, plan), delta, Options{Neighbours: privacy.ReplaceOne})
	if err != nil {
		t.Fatalf("%s: %v", plan, err)
	}
	for _, b := range r.Bounds {
		if b.Accountant == "pld" {
			return b
		}
	}
	t.Fatalf("%s: no pld bound: %+v", plan, r)
	return Bound{}
}

// The authors' README of clones 2021 (github.com/apple/ml-shuffling-amplification, commit
// 993d285) gives 0.1675385583317841 and 0.172790550755978 as bounds of this.
func TestShuffledIsTheFullCloneSum(t *testing.T) {
	b := replaced(t, "shuffled(100000, pure(4))", 1e-6)
	if b.Epsilon.High < 0.1675385583317841 || b.Epsilon.High > 0.172790550755978 || b.Epsilon.Low < 0.08 {
		t.Errorf("%+v", *b.Epsilon)
	}
	for _, want := range []string{"clones 2021", "closed 2021: 0.5378040242"} {
		if !strings.Contains(b.Note, want) {
			t.Errorf("note %q lacks %q", b.Note, want)
		}
	}
	if strings.Contains(b.Note, "stronger") {
		t.Errorf("the bound of 2023 is not proved for every randomizer: %q", b.Note)
	}
	if b := replaced(t, "shuffled(100000, randomized_response(0.9))", 1e-6); !strings.Contains(b.Note, "stronger 2023") {
		t.Errorf("it is for randomized response: %q", b.Note)
	}
}

// Repetitions of a shuffled event lie between one of them and the sum of all.
func TestShuffledComposes(t *testing.T) {
	one := replaced(t, "shuffled(10000, pure(1))", 1e-6).Epsilon.High
	ten := replaced(t, "10 * shuffled(10000, pure(1))", 1e-6).Epsilon.High
	share := replaced(t, "shuffled(10000, pure(1))", 1e-7).Epsilon.High
	if ten < one*math.Sqrt(9) || ten > 10*share {
		t.Errorf("one %v, ten %v, sum %v", one, ten, 10*share)
	}
}

func TestShuffledRefusesRandomizersWithADelta(t *testing.T) {
	for _, plan := range []string{"shuffled(1000, approx(1, 1e-9))", "shuffled(1000, gaussian(1))"} {
		if r, err := Epsilon(t.Context(), parse(t, plan), 1e-6, Options{Neighbours: privacy.ReplaceOne}); err == nil {
			t.Errorf("%s: %+v", plan, r.Bounds)
		}
	}
}

// Draws that cannot repeat a unit are draws without replacement; others cost more.
func TestWithReplacement(t *testing.T) {
	for _, event := range []string{"gaussian(2)", "laplace(3)", "pure(0.5)", "approx(0.5, 1e-8)", "zcdp(0.1)"} {
		once := replaced(t, "with_replacement(1, 50, "+event+")", 1e-6)
		single, err := Epsilon(t.Context(), parse(t, "without_replacement(1, 50, "+event+")"), 1e-6, Options{Neighbours: privacy.ReplaceOne})
		if err != nil {
			t.Fatal(err)
		}
		best, _ := single.Best()
		if math.Abs(once.Epsilon.High/best.Epsilon.High-1) > 1e-3 && !strings.Contains(event, "zcdp") && !strings.Contains(event, "laplace") {
			t.Errorf("%s: one draw %v, without replacement %v", event, once.Epsilon.High, best.Epsilon.High)
		}
	}
	without := replaced(t, "100 * without_replacement(64, 10000, gaussian(6))", 1e-6).Epsilon.High
	with := replaced(t, "100 * with_replacement(64, 10000, gaussian(6))", 1e-6).Epsilon.High
	if with < without || with > 1.3*without {
		t.Errorf("with replacement %v, without %v", with, without)
	}
	whole := replaced(t, "with_replacement(1, 1, gaussian(6))", 1e-6).Epsilon.High
	if base := replaced(t, "gaussian(6)", 1e-6).Epsilon.High; math.Abs(whole/base-1) > 1e-9 {
		t.Errorf("one draw from one unit: %v, want %v", whole, base)
	}
}

// Rényi divergence of with-replacement samples of a pure event: no more than all
// draws being the unit's, no less than nothing.
func TestWithReplacementRDP(t *testing.T) {
	r, err := Epsilon(t.Context(), parse(t, "1000 * with_replacement(64, 10000, pure(0.2))"), 1e-6, Options{Neighbours: privacy.ReplaceOne})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, b := range r.Bounds {
		if b.Accountant == "rdp" {
			found = b.Epsilon.High > 0 && b.Epsilon.High < 1000*64*0.2
		}
	}
	if !found {
		t.Errorf("%+v", r.Bounds)
	}
}

// Reports of any local ε have a bound by shuffling, however little it amplifies.
func TestShuffledLaplaceOfGreatEpsilon(t *testing.T) {
	for _, scale := range []string{"0.03", "0.02", "0.0199", "0.01", "0.007", "0.001"} {
		plan := "shuffled(1000, laplace(" + scale + "))"
		for _, name := range []Name{PLD, Basic} {
			r, err := Epsilon(t.Context(), parse(t, plan), 1e-6, Options{Neighbours: privacy.ReplaceOne, Accountant: name})
			if err != nil {
				t.Errorf("%s of %s: %v", name, plan, err)
				continue
			}
			if note := r.Bounds[0].Note; strings.Contains(note, "fallback") {
				t.Errorf("%s of %s: %s", name, plan, note)
			}
		}
	}
}
