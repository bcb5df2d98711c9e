package privacy

import (
	"encoding/json"
	"math/big"
	"testing"
)

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

func eps(s string) Epsilon {
	e, err := ParseEpsilon(s)
	if err != nil {
		panic(err)
	}
	return e
}

func del(s string) Delta {
	d, err := ParseDelta(s)
	if err != nil {
		panic(err)
	}
	return d
}

func TestEventForms(t *testing.T) {
	rho, err := ParseRho("0.125")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		event      Event
		text, json string
	}{
		{DiscreteLaplace{rat("2"), rat("1")}, "discrete_laplace(2, sensitivity=1)", `{"discrete_laplace":{"b":2,"sensitivity":1}}`},
		{Laplace{rat("1/3"), rat("1/2")}, "laplace(1/3, sensitivity=0.5)", `{"laplace":{"b":"1/3","sensitivity":0.5}}`},
		{DiscreteGaussian{rat("123.4"), rat("8")}, "discrete_gaussian(sqrt(123.4), sensitivity=sqrt(8))", `{"discrete_gaussian":{"sigma":"sqrt(123.4)","sensitivity":"sqrt(8)"}}`},
		{Gaussian{rat("1.21"), rat("4")}, "gaussian(1.1, sensitivity=2)", `{"gaussian":{"sigma":1.1,"sensitivity":2}}`},
		{Selection{eps("0.5"), del("1e-9")}, "selection(0.5, 1e-9)", `{"selection":{"eps":0.5,"delta":1e-9}}`},
		{Pure{eps("1")}, "pure(1)", `{"pure":{"eps":1}}`},
		{Approx{eps("1"), del("0")}, "approx(1, 0)", `{"approx":{"eps":1,"delta":0}}`},
		{ZCDP{rho}, "zcdp(0.125)", `{"zcdp":{"rho":0.125}}`},
		{Repeat{8, Selection{eps("0.5"), del("1e-9")}}, "8*selection(0.5, 1e-9)", `{"repeat":{"count":8,"event":{"selection":{"eps":0.5,"delta":1e-9}}}}`},
		{Repeat{2, Repeat{3, Pure{eps("1")}}}, "2*(3*pure(1))", `{"repeat":{"count":2,"event":{"repeat":{"count":3,"event":{"pure":{"eps":1}}}}}}`},
		{Repeat{2, Sum{[]Event{Repeat{3, Pure{eps("1")}}}}}, "2*(3*pure(1))", `{"repeat":{"count":2,"event":{"sum":[{"repeat":{"count":3,"event":{"pure":{"eps":1}}}}]}}}`},
		{Sum{[]Event{Pure{eps("1")}, Sum{[]Event{Pure{eps("2")}, Pure{eps("3")}}}}}, "pure(1) + (pure(2) + pure(3))", `{"sum":[{"pure":{"eps":1}},{"sum":[{"pure":{"eps":2}},{"pure":{"eps":3}}]}]}`},
		{Parallel{[]Event{Pure{eps("1")}, GDP{rat("1")}}}, "parallel(pure(1), gdp(1))", `{"parallel":[{"pure":{"eps":1}},{"gdp":{"mu":1}}]}`},
		{Exponential{eps("1")}, "exponential(1)", `{"exponential":{"eps":1}}`},
		{PermuteAndFlip{eps("1")}, "permute_and_flip(1)", `{"permute_and_flip":{"eps":1}}`},
		{NoisyMax{eps("1")}, "noisy_max(1)", `{"noisy_max":{"eps":1}}`},
		{SparseVector{eps("1")}, "sparse_vector(1)", `{"sparse_vector":{"eps":1}}`},
		{RandomizedResponse{rat("2/3"), 4}, "randomized_response(2/3, k=4)", `{"randomized_response":{"p":"2/3","k":4}}`},
		{RDP{[]*big.Rat{rat("2"), rat("4.5")}, []*big.Rat{rat("0.5"), rat("1/3")}}, "rdp(2: 0.5, 4.5: 1/3)", `{"rdp":{"orders":[2,4.5],"eps":[0.5,"1/3"]}}`},
		{Tree{Sigma: rat("1.5"), Sensitivity: rat("2"), Leaves: 8}, "tree(1.5, 8, sensitivity=2)", `{"tree":{"sigma":1.5,"leaves":8,"sensitivity":2}}`},
		{TruncatedPoisson{rat("0.01"), 1000, 20, Gaussian{rat("1"), rat("1")}}, "truncated_poisson(0.01, 1000, 20, gaussian(1, sensitivity=1))", `{"truncated_poisson":{"rate":0.01,"n":1000,"at_most":20,"event":{"gaussian":{"sigma":1,"sensitivity":1}}}}`},
		{Poisson{rat("0.01"), Gaussian{rat("2"), rat("1")}}, "poisson(0.01, gaussian(sqrt(2), sensitivity=1))", `{"poisson":{"rate":0.01,"event":{"gaussian":{"sigma":"sqrt(2)","sensitivity":1}}}}`},
		{WithoutReplacement{10, 100, Pure{eps("1")}}, "without_replacement(10, 100, pure(1))", `{"without_replacement":{"m":10,"n":100,"event":{"pure":{"eps":1}}}}`},
		{WithReplacement{10, 100, Pure{eps("1")}}, "with_replacement(10, 100, pure(1))", `{"with_replacement":{"m":10,"n":100,"event":{"pure":{"eps":1}}}}`},
		{Shuffled{100, Pure{eps("1")}}, "shuffled(100, pure(1))", `{"shuffled":{"n":100,"event":{"pure":{"eps":1}}}}`},
	} {
		if got := tc.event.String(); got != tc.text {
			t.Errorf("text is %s, want %s", got, tc.text)
		}
		data, err := json.Marshal(tc.event)
		if err != nil || string(data) != tc.json {
			t.Errorf("JSON of %v is %s, %v; want %s", tc.event, data, err, tc.json)
		}
		back, err := UnmarshalEvent(data)
		if err != nil || back.String() != tc.text {
			t.Errorf("%s reads back as %v, %v", data, back, err)
		}
	}
}

func TestEventsRefused(t *testing.T) {
	for _, e := range []Event{
		DiscreteLaplace{}, DiscreteLaplace{rat("0"), rat("1")}, DiscreteLaplace{rat("1"), rat("-1")}, Laplace{rat("-2"), rat("1")},
		DiscreteGaussian{rat("1"), nil}, Gaussian{nil, rat("1")}, Gaussian{rat("1"), rat("0")},
		Selection{}, Pure{}, Approx{}, ZCDP{}, Repeat{}, Repeat{0, Pure{eps("1")}}, Repeat{-1, Pure{eps("1")}}, Repeat{2, Pure{}},
		Approx{eps("1"), del("0.6").Add(del("0.6"))},
		RandomizedResponse{}, RandomizedResponse{rat("1"), 2}, RandomizedResponse{rat("0.5"), 1}, RDP{}, RDP{[]*big.Rat{rat("2")}, nil},
		RDP{[]*big.Rat{rat("1")}, []*big.Rat{rat("1")}}, RDP{[]*big.Rat{rat("2"), rat("2")}, []*big.Rat{rat("1"), rat("1")}}, GDP{}, GDP{rat("-1")},
		Tree{}, Tree{Sigma: rat("1"), Sensitivity: rat("1")}, Poisson{}, Poisson{rat("2"), Pure{eps("1")}}, Poisson{rat("0.5"), nil},
		WithoutReplacement{3, 2, Pure{eps("1")}}, WithReplacement{1, MaxCount + 1, Pure{eps("1")}}, Shuffled{0, Pure{eps("1")}}, Shuffled{1, nil},
		Sum{}, Sum{[]Event{nil}}, Parallel{}, Parallel{[]Event{Pure{}}}, Repeat{MaxCount + 1, Pure{eps("1")}},
	} {
		if err := e.Validate(); err == nil {
			t.Errorf("%#v is valid", e)
		}
		if data, err := json.Marshal(e); err == nil {
			t.Errorf("%#v is written as %s", e, data)
		}
		_ = e.String() // must not panic: it stands in error messages
	}
	for _, in := range []string{
		`{}`, `[]`, `null`, `1`, `{"pure":{"eps":1},"zcdp":{"rho":1}}`, `{"unknown":{}}`, `{"pure":{"eps":-1}}`, `{"pure":{"eps":"NaN"}}`,
		`{"pure":{"eps":1,"delta":0.1}}`, `{"pure":{"epsilon":1}}`, `{"approx":{"eps":1}}`, `{"approx":{"eps":1,"delta":1}}`,
		`{"laplace":{"sigma":1}}`, `{"gaussian":{"b":1}}`, `{"laplace":{"b":1,"sigma":1}}`, `{"gaussian":{"sigma":-1}}`,
		`{"gaussian":{"sigma":"sqrt(2"}}`, `{"gaussian":{"sigma":"sqrt(-2)"}}`, `{"laplace":{}}`,
		`{"repeat":{"count":1.5,"event":{"pure":{"eps":1}}}}`, `{"repeat":{"count":1}}`,
	} {
		if e, err := UnmarshalEvent([]byte(in)); err == nil {
			t.Errorf("%s is read as %v", in, e)
		}
	}
	if e, err := UnmarshalEvent([]byte(`{"gaussian":{"sigma":1.1}}`)); err != nil || e.String() != "gaussian(1.1, sensitivity=1)" {
		t.Errorf("a sensitivity left out is read as %v, %v", e, err)
	}
}
