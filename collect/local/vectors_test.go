package local

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
)

// A vector is a value of the literature's formulas, checked against other libraries; the file
// names their sources.
type vector struct {
	ID        string
	Params    map[string]any
	Expected  map[string]any
	Tolerance float64
}

func vectors(t *testing.T) (all []vector) {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// holds compares each expected number with that of the same name.
func (v vector) holds(t *testing.T, got map[string]any) {
	t.Helper()
	for name, want := range v.Expected {
		var x float64
		switch g := got[name].(type) {
		case int:
			x = float64(g)
		case uint64:
			x = float64(g)
		case float64:
			x = g
		default:
			t.Errorf("%s: there is no %s", v.ID, name)
			continue
		}
		if w := want.(float64); math.Abs(x-w) > max(v.Tolerance, 1e-12)*max(1, math.Abs(w)) {
			t.Errorf("%s: %s is %v, want %v", v.ID, name, x, w)
		}
	}
}

func (v vector) number(name string, otherwise float64) float64 {
	if x, ok := v.Params[name].(float64); ok {
		return x
	}
	return otherwise
}

func TestFrequencyVectors(t *testing.T) {
	of := map[string]Protocol{"grr": GRR, "sue": SUE, "oue": OUE, "olh": OLH, "ss": Subset, "the": THE, "she": SHE, "hadamard1bit": Hadamard}
	seen := 0
	for _, v := range vectors(t) {
		parts := strings.Split(v.ID, ".")
		p, ok := of[parts[1]]
		if !ok {
			continue
		}
		seen++
		f := must(NewFrequency(FrequencyOptions{Protocol: p, Values: int(v.number("k", 2)), Epsilon: eps(jsonNumber(v.Params["eps"]))}))
		v.holds(t, f.Describe(1).Values)
		if got := f.Describe(4).Values["variance"].(float64); math.Abs(4*got-f.Variance(0)) > 1e-12*f.Variance(0) {
			t.Errorf("%s: variance %v of 4 reports, %v of one", v.ID, got, f.Variance(0))
		}
	}
	if seen < 20 {
		t.Errorf("%d vectors", seen)
	}
}

// RAPPOR with f = 1/2, p = 1/2, q = 3/4 and two hash functions, which is what its ε∞ makes.
func TestRAPPORVector(t *testing.T) {
	for _, v := range vectors(t) {
		if v.ID != "ldp.rappor.eps" {
			continue
		}
		f := must(NewFrequency(FrequencyOptions{Protocol: RAPPOR, Values: 5, Epsilon: eps(jsonNumber(v.Expected["eps_inf"]))}))
		got := f.Describe(1).Values
		v.holds(t, got)
		for name := range v.Params {
			v.Expected = map[string]any{name: v.Params[name]}
			v.holds(t, got)
		}
	}
}

func jsonNumber(x any) string { return string(must(json.Marshal(x))) }
