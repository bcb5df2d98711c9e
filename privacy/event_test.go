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
