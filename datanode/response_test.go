package datanode

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// What rows say estimates what is true, and costs what the probabilities say.
// The share of 20,000 responses is within 6.5 standard deviations (at most 0.0036
// each) but with probability below 1e-9 for all together.
func TestResponses(t *testing.T) {
	const n, share = 20_000, 0.3
	x := make([]float64, n)
	for i := range x[:int(share*n)] {
		x[i] = 1
	}
	for _, test := range []struct {
		m       Mechanism
		epsilon float64
		yes     float64 // the share that says yes
	}{
		{RandomizedResponse{Truth: rat("3/4")}, math.Log(3), share*0.75 + (1-share)*0.25},
		{RandomizedResponse{Epsilon: eps("1")}, 1, (share*math.E + 1 - share) / (1 + math.E)},
		{TwoCoin{First: rat("1/2"), Second: rat("1/2")}, math.Log(3), share*0.75 + (1-share)*0.25},
		{TwoCoin{First: rat("1/4"), Second: rat("1/2")}, math.Log(7), share*0.875 + (1-share)*0.125}, // Sherpa says ln 3
		{BinaryResponse{No: rat("0.1"), Yes: rat("0.1")}, math.Log(9), share*0.1 + (1-share)*0.9},
	} {
		node := testNode(t, privacy.ReplaceOne)
		if err := node.Set("x", Vector(x)); err != nil {
			t.Fatal(err)
		}
		b := memory("study", filter.Budget{Measure: filter.Pure, Epsilon: eps("5"), Neighbours: privacy.ReplaceOne})
		if err := node.Configure(ctx, "x", Adaptive{Budget: b, Mechanism: test.m}); err != nil {
			t.Fatal(err)
		}
		a, err := node.Query(ctx, "x")
		if err != nil || len(a.Values) != n {
			t.Fatalf("%v: %v", test.m, err)
		}
		yes := 0.0
		for _, v := range a.Values {
			yes += v / n
		}
		if math.Abs(yes-test.yes) > 6.5*0.0036 {
			t.Errorf("%v: %v say yes, want %v", test.m, yes, test.yes)
		}
		if spent := must(b.Spent(ctx)).Epsilon.Float64(); math.Abs(spent-test.epsilon) > 1e-12 {
			t.Errorf("%v: spent %v, want %v", test.m, spent, test.epsilon)
		}
		added := testNode(t, privacy.AddRemove)
		if err := added.Configure(ctx, "x", test.m); err != nil {
			t.Fatal(err)
		}
		if _, err := added.Query(ctx, "x"); !errors.Is(err, ErrQuery) {
			t.Errorf("%v shows how many rows there are: %v", test.m, err)
		}
	}
}

// Permanent randomized response: asked a thousand times, a node says the same.
func TestPermanentResponse(t *testing.T) {
	node := testNode(t, privacy.ReplaceOne)
	if err := node.Set("b", Number(1)); err != nil {
		t.Fatal(err)
	}
	if err := node.Configure(ctx, "b", TwoCoin{First: rat("1/2"), Second: rat("1/2")}); err != nil {
		t.Fatal(err)
	}
	first := must(node.Query(ctx, "b")).Value()
	for range 1000 {
		if must(node.Query(ctx, "b")).Value() != first {
			t.Fatal("another answer")
		}
	}
}

func TestQuantiles(t *testing.T) {
	node := testNode(t, privacy.AddRemove)
	if err := node.Set("x", Vector(numbersTo(1001))); err != nil {
		t.Fatal(err)
	}
	b := pureBudget("study", "200")
	q := Quantiles{Lower: rat("0"), Upper: rat("1000"), Step: rat("1"), Quantiles: list("1/4", "1/2"), Epsilon: eps("100")}
	if err := node.Configure(ctx, "x", Adaptive{Budget: b, Mechanism: q}); err != nil {
		t.Fatal(err)
	}
	a, err := node.Query(ctx, "x")
	if err != nil || len(a.Values) != 2 || math.Abs(a.Values[0]-250) > 5 || math.Abs(a.Values[1]-500) > 5 || a.Labels[0] != "1/4" {
		t.Errorf("%v, %v", a, err)
	}
	if left := must(b.Left(ctx)).Epsilon.String(); left != "100" {
		t.Errorf("left: %v", left)
	}
	q.Quantiles = nil
	if err := node.Configure(ctx, "x", Adaptive{Mechanism: q}); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Query(ctx, "x"); err == nil {
		t.Error("no quantiles")
	}
}

func list(texts ...string) (rs []*big.Rat) {
	for _, s := range texts {
		rs = append(rs, rat(s))
	}
	return rs
}
