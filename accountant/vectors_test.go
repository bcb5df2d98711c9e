package accountant

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/privacy/plan"
	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/privacy"
)

// A vector is a figure of somebody else's, with its source.
type vector struct {
	ID        string
	Expected  any
	Tolerance any
	Source    string
}

func vectors(t *testing.T) map[string]vector {
	t.Helper()
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []vector
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	byID := map[string]vector{}
	for _, v := range list {
		byID[v.ID] = v
	}
	return byID
}

func parse(t rapid.TB, text string) privacy.Event {
	t.Helper()
	p, err := plan.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	e, err := p.Event()
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e
}

func integers(from, to int) (orders []float64) {
	for i := from; i <= to; i++ {
		orders = append(orders, float64(i))
	}
	return orders
}

// Each vector as a plan and what one accountant must say of it. Want stands where
// the vector's tolerance is not ours, or where its figure is known to be wrong.
func TestVectors(t *testing.T) {
	const replace = privacy.ReplaceOne
	thousandths := make([]float64, 0)
	for i := 1; i < 100000; i++ {
		thousandths = append(thousandths, 1+float64(i)*0.001)
	}
	for _, tc := range []struct {
		id, plan   string
		accountant Name
		eps, delta float64 // what is given; the other is 0
		o          Options
		tolerance  float64 // relative; 0 is the vector's own, absolute
	}{
		{id: "gauss-delta-1", accountant: "gdp", plan: "gaussian(1)", eps: 1},
		{id: "gauss-delta-4", accountant: "gdp", plan: "gaussian(5, sensitivity=5)", eps: 2},
		{id: "gauss-delta-go-2", accountant: "gdp", plan: "gaussian(10, sensitivity=5)", eps: math.Log(3)},
		{id: "gauss-delta-go-3", accountant: "gdp", plan: "gaussian(0.5)", eps: 0},
		{id: "gauss-delta-tiny", accountant: "gdp", plan: "gaussian(500, sensitivity=10)", eps: 0.5, tolerance: 1e-9},
		{id: "gauss-delta-replace", accountant: "gdp", plan: "gaussian(1)", eps: 1, o: Options{Neighbours: replace}},
		{id: "pld-gauss-3x", accountant: "gdp", plan: "3*gaussian(sqrt(3))", eps: 1},
		{id: "agm-eps-sigma1", accountant: "gdp", plan: "gaussian(1)", delta: 1e-5},
		{id: "classic-gauss-invalid", accountant: "gdp", plan: "gaussian(sqrt(2*ln(1.25/1e-5))/10)", eps: 10},
		{id: "blog-gauss-wrong", accountant: "gdp", plan: "gaussian(sqrt(sqrt(2*ln(1.25/1e-5))/0.5))", eps: 0.5},
		{id: "kov-1", accountant: "optimal", plan: "30*pure(1)", delta: 0},
		{id: "kov-100", accountant: "optimal", plan: "100*pure(0.1)", delta: 1e-6},
		{id: "kov-hs-1", accountant: "optimal", plan: "10*pure(1)", eps: 5},
		{id: "kov-hs-2", accountant: "optimal", plan: "100*pure(0.1)", eps: 1},
		{id: "adv-tanh-350", accountant: "advanced", plan: "350*pure(0.5)", delta: 0.1},
		{id: "ibm-kov34", accountant: "advanced", plan: "700*pure(1/512)", delta: 1. / (1 << 25)},
		{id: "ibm-doc", accountant: "advanced", plan: "20*pure(0.05)", delta: 0.001},
		{id: "zcdp-delta-1", accountant: "zcdp", plan: "zcdp(0.05)", eps: 0.25},
		{id: "zcdp-delta-2", accountant: "zcdp", plan: "zcdp(0.5)", eps: 0},
		{id: "zcdp-delta-tiny", accountant: "zcdp", plan: "zcdp(5e-30)", eps: 1e-13, tolerance: 1e-9},
		{id: "zcdp-eps", accountant: "zcdp", plan: "zcdp(0.03125)", delta: 0.001},
		{id: "zcdp-readme-1", accountant: "zcdp", plan: "zcdp(0.025)", delta: 1e-6},
		{id: "rdp-gauss-conv", accountant: "rdp", plan: "gaussian(4.530877117)", delta: 1e-6, o: Options{Orders: thousandths}},
		{id: "tfp-1", accountant: "rdp", plan: "6000*poisson(150/60000, gaussian(1.3))", delta: 1e-5},
		{id: "tfp-2", accountant: "rdp", plan: "30000*poisson(100/100000, gaussian(1))", delta: 1e-7},
		{id: "tfp-3", accountant: "rdp", plan: "ceil(1e9/1024)*poisson(1024/1e8, gaussian(0.1))", delta: 1e-7, o: Options{Orders: []float64{1.25}}, tolerance: 1e-6},
		{id: "mnist-cks", accountant: "rdp", plan: "14062*poisson(256/60000, gaussian(1.1))", delta: 1e-5, o: Options{Orders: integers(2, 64)}},
		{id: "tfp-old-2", accountant: "moments", plan: "30000*poisson(100/100000, gaussian(1))", delta: 1e-7, tolerance: 1e-6},
		{id: "mnist-tutorial", accountant: "moments", plan: "14062*poisson(256/60000, gaussian(1.1))", delta: 1e-5},
		{id: "mnist-15ep", accountant: "moments", plan: "ceil(15*60000/256)*poisson(256/60000, gaussian(1.3))", delta: 1e-5},
		{id: "mnist-45ep", accountant: "moments", plan: "ceil(45*60000/256)*poisson(256/60000, gaussian(0.7))", delta: 1e-5},
		{id: "abadi-100", accountant: "moments", plan: "10000*poisson(0.01, gaussian(4))", delta: 1e-5},
		{id: "opacus-gdp", accountant: "gdp", plan: "2249*poisson(0.04, gaussian(1.5))", delta: 1e-5},
		{id: "sherpa-wor", accountant: "basic", plan: "without_replacement(50, 100, pure(1))", delta: 0, o: Options{Neighbours: replace}, tolerance: 1e-15},
	} {
		v, ok := vectors(t)[tc.id]
		if !ok {
			t.Errorf("%s: no such vector", tc.id)
			continue
		}
		tc.o.Accountant = tc.accountant
		var (
			r   *Report
			err error
		)
		question := v.ID
		if strings.Contains(tc.id, "delta") || strings.Contains(tc.id, "-hs-") || tc.eps > 0 {
			r, err = Delta(t.Context(), parse(t, tc.plan), tc.eps, tc.o)
		} else {
			r, err = Epsilon(t.Context(), parse(t, tc.plan), tc.delta, tc.o)
		}
		if err != nil {
			t.Errorf("%s: %v", question, err)
			continue
		}
		want, tolerance := v.Expected.(float64), tc.tolerance*v.Expected.(float64)
		if tc.tolerance == 0 {
			tolerance = v.Tolerance.(float64)
		}
		got := r.Bounds[0].value()
		if !(math.Abs(got.Estimate-want) <= tolerance) {
			t.Errorf("%s: %s says %v of %s, want %v", tc.id, tc.accountant, got, tc.plan, want)
		}
	}
}
