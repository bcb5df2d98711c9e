package privacy

import "testing"

// What plans mean: each reads as the event that prints so.
func TestPlans(t *testing.T) {
	for _, tc := range []struct{ plan, event string }{
		{"pure(0.1)", "pure(0.1)"},
		{" gaussian( 1.1 ) ", "gaussian(1.1, sensitivity=1)"},
		{"gaussian(sqrt(2), sensitivity=2)", "gaussian(sqrt(2), sensitivity=2)"},
		{"14063 * poisson(256/60000, gaussian(1.1))", "14063*poisson(8/1875, gaussian(1.1, sensitivity=1))"},
		{"ceil(60*60000/256) * pure(1)", "14063*pure(1)"},
		{"2*3*pure(1)", "6*pure(1)"},
		{"(2+3)*pure(1)", "5*pure(1)"},
		{"2*(3*pure(1))", "2*(3*pure(1))"},
		{"(((2)))*((pure(1)))", "2*pure(1)"},
		{"10/5*pure(1)", "2*pure(1)"},
		{"pure(1) + 2*zcdp(1/3) + gdp(1)", "pure(1) + 2*zcdp(1/3) + gdp(1)"},
		{"pure(1) + (pure(2) + pure(3))", "pure(1) + (pure(2) + pure(3))"},
		{"2*(pure(1) + pure(2))", "2*(pure(1) + pure(2))"},
		{"poisson(0.1, pure(1) + 2*pure(2))", "poisson(0.1, pure(1) + 2*pure(2))"},
		{"poisson(event=gaussian(sigma=1.1), rate=1e-2)", "poisson(0.01, gaussian(1.1, sensitivity=1))"},
		{"rdp(2: 0.5, 4: 1)", "rdp(2: 0.5, 4: 1)"},
		{"randomized_response(3/4)", "randomized_response(0.75, k=2)"},
		{"randomized_response(0.5, k=4)", "randomized_response(0.5, k=4)"},
		{"tree(2, 1024)", "tree(2, 1024, sensitivity=1)"},
		{"parallel(pure(1), pure(2))", "parallel(pure(1), pure(2))"},
		{"shuffled(1e6, randomized_response(0.75))", "shuffled(1000000, randomized_response(0.75, k=2))"},
		{"pure(-(1-3)*+1)", "pure(2)"},
		{"pure(ln(exp(0)) + 2)", "pure(2)"},
		{"gaussian(1/sqrt(2))", "gaussian(sqrt(0.5), sensitivity=1)"},
		{"gaussian(3*sqrt(2)/sqrt(8))", "gaussian(1.5, sensitivity=1)"},
		{`{"parallel": [{"pure": {"eps": "1/3"}}]}`, "parallel(pure(1/3))"},
		{`{"parallel": {"events": [{"pure": {"eps": 1}}]}}`, "parallel(pure(1))"},
	} {
		p, err := ParsePlan(tc.plan)
		if err != nil {
			t.Errorf("%s: %v", tc.plan, err)
			continue
		}
		e, err := p.Event()
		if err != nil || e.String() != tc.event {
			t.Errorf("%s reads as %v, %v; want %s", tc.plan, e, err, tc.event)
			continue
		}
		for _, text := range []string{p.String(), e.String()} {
			back, err := ParsePlan(text)
			if err != nil {
				t.Errorf("%s is printed as %s: %v", tc.plan, text, err)
			} else if e, err := back.Event(); err != nil || e.String() != tc.event {
				t.Errorf("%s is printed as %s, which reads as %v, %v", tc.plan, text, e, err)
			}
		}
	}
}
