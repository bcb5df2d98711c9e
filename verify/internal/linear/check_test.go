package linear

import (
	"maps"
	"slices"
	"testing"
)

// refuted returns problems that have no model, with proofs of it.
func refuted(t *testing.T, formulas int) (problems []*clausifier, proofs [][]step) {
	t.Helper()
	try := func(f Formula) {
		conjuncts, _ := eliminate(f.Conjuncts())
		s := &search{problem: clausify(conjuncts)}
		columns, _, err := s.run(t.Context(), Limits{Conflicts: 5000, Branches: 50})
		if err == nil && columns == nil {
			problems, proofs = append(problems, s.problem), append(proofs, s.proof)
		}
	}
	for _, o := range allObligations() {
		try(o.f)
	}
	for seed := range formulas {
		f, _ := newGenerator(seed).conjunction()
		try(f)
	}
	return problems, proofs
}

// with is the problem with other clauses; a search may add bounds to it.
func (c *clausifier) with(clauses [][]literal) *clausifier {
	d := *c
	d.clauses, d.bounds, d.truths, d.rows = clauses, slices.Clone(c.bounds), slices.Clone(c.truths), slices.Clone(c.rows)
	d.rowOf, d.boundOf = maps.Clone(c.rowOf), maps.Clone(c.boundOf)
	return &d
}

func TestCheckAcceptsWhatTheSearchProves(t *testing.T) {
	problems, proofs := refuted(t, 200)
	for i, p := range problems {
		if err := check(&p.problem, proofs[i]); err != nil {
			t.Errorf("problem %d: %v", i, err)
		}
	}
	if len(problems) < 40 {
		t.Errorf("only %d problems are refuted", len(problems))
	}
}

// With a clause of the problem taken away, there may be a model; then no proof may
// pass, and that of the whole problem is as near to one as can be.
func TestCheckRejectsProofsOfWhatHasAModel(t *testing.T) {
	problems, proofs := refuted(t, 120)
	tried := 0
	for i, p := range problems {
		for k := range p.clauses {
			if len(p.clauses) > 100 && k%10 != 0 {
				continue
			}
			weaker := p.with(slices.Delete(slices.Clone(p.clauses), k, k+1))
			columns, _, err := (&search{problem: weaker}).run(t.Context(), Limits{Conflicts: 1000, Branches: 20})
			if err != nil || columns == nil {
				continue
			}
			tried++
			if check(&weaker.problem, proofs[i]) == nil {
				t.Errorf("problem %d has a model without clause %d, and a proof passes", i, k)
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d problems have a model", tried)
	}
}

// A lemma that is altered anywhere passes only if what it now says is true: its
// negation is refuted by another search.
func TestCheckRejectsFalseLemmas(t *testing.T) {
	problems, proofs := refuted(t, 120)
	rejected := 0
	for i, p := range problems {
		for _, s := range proofs[i] {
			if len(s.weights) == 0 {
				continue
			}
			if err := p.checkLemma(s); err != nil {
				t.Fatalf("problem %d: %v", i, err)
			}
			var faults []step
			alter := func(change func(*step)) {
				c := step{slices.Clone(s.clause), slices.Clone(s.weights)}
				change(&c)
				faults = append(faults, c)
			}
			for k := range s.clause {
				alter(func(c *step) { c.clause[k] = c.clause[k].not() })
				alter(func(c *step) { c.weights[k] = c.weights[k].add(whole(1)) })
				alter(func(c *step) { c.weights[k] = number{} })
				alter(func(c *step) { c.weights[k] = c.weights[k].neg() })
				alter(func(c *step) { c.clause = slices.Delete(c.clause, k, k+1) })
				alter(func(c *step) { c.clause, c.weights = slices.Delete(c.clause, k, k+1), slices.Delete(c.weights, k, k+1) })
				alter(func(c *step) { c.clause[k] = (c.clause[k] + 2) % literal(2*len(p.bounds)) })
			}
			for _, c := range faults {
				if p.checkLemma(c) != nil {
					rejected++
					continue
				}
				var negation [][]literal
				for _, l := range c.clause {
					negation = append(negation, []literal{l.not()})
				}
				columns, _, err := (&search{problem: p.with(negation)}).run(t.Context(), Limits{Conflicts: 1000, Branches: 100})
				if err == nil && columns != nil {
					t.Errorf("problem %d: the lemma %v passes and is false at %v", i, c, columns)
				}
			}
		}
	}
	if rejected < 1000 {
		t.Errorf("only %d lemmas are rejected", rejected)
	}
}

// No step may be taken on trust: a clause that the problem does not imply is
// refused wherever it stands.
func TestCheckRejectsClausesThatDoNotFollow(t *testing.T) {
	a, b := Var{"a", Bool}, Var{"b", Bool}
	p := clausify([]Formula{Or(a.Formula(), b.Formula())})
	la, lb := p.truthOf[a], p.truthOf[b]
	for _, proof := range [][]step{
		nil,
		{{}},
		{{clause: []literal{la}}, {}},
		{{clause: []literal{la, lb}}},
		{{clause: []literal{la}, weights: []number{whole(1)}}, {}},
		{{clause: []literal{}, weights: []number{}}},
		{{clause: []literal{la.not(), lb.not()}}, {clause: []literal{la, lb.not()}}, {}},
	} {
		if check(&p.problem, proof) == nil {
			t.Errorf("%v passes", proof)
		}
	}
}

// Bounds of integers are whole, so that the negation of x <= 3 is x >= 4.
func TestConstraintsOfLiterals(t *testing.T) {
	p := clausify(nil)
	for _, c := range []struct {
		f    Formula
		want constraint
	}{
		{Le(x.Term(), Number(3)), constraint{0, true, whole(3), false}},
		{Gt(x.Term(), Number(3)), constraint{0, false, whole(4), false}},
		{Lt(x.Term(), Number(3)), constraint{0, true, whole(2), false}},
		{Ge(x.Term(), Number(3)), constraint{0, false, whole(3), false}},
		{Le(r.Term(), Number(3)), constraint{1, true, whole(3), false}},
		{Gt(r.Term(), Number(3)), constraint{1, false, whole(3), true}},
		{Lt(r.Term(), Number(3)), constraint{1, true, whole(3), true}},
		{Ge(r.Term(), Number(3)), constraint{1, false, whole(3), false}},
		{Ge(x.Term().Sub(y.Term()), Number(3)), constraint{2, false, whole(3), false}},
		{Ge(y.Term().Sub(x.Term()), Number(3)), constraint{2, true, whole(-3), false}},
		{Lt(r.Term().Sub(x.Term()), Number(3)), constraint{3, true, whole(3), true}},
		{Lt(x.Term().Sub(r.Term()), Number(3)), constraint{3, false, whole(-3), true}},
	} {
		if got, ok := p.constraint(p.literal(c.f, false)); !ok || got != c.want {
			t.Errorf("%v: got %+v, want %+v", c.f, got, c.want)
		}
	}
}

func TestLemmas(t *testing.T) {
	p := clausify(nil)
	le := func(v Var, n int64) literal { return p.literal(Le(v.Term(), Number(n)), false) }
	lt := func(v Var, n int64) literal { return p.literal(Lt(v.Term(), Number(n)), false) }
	ge := func(v Var, n int64) literal { return lt(v, n).not() }
	sum := p.literal(Le(r.Term().Add(s.Term()), Number(0)), false)
	truth := p.literal(b.Formula(), false)
	for _, c := range []struct {
		name    string
		bounds  []literal // together contradictory, or not
		weights []int64
		want    bool
	}{
		{"below 0 and from 0", []literal{lt(r, 0), ge(r, 0)}, []int64{1, 1}, true},
		{"up to 0 and from 0", []literal{le(r, 0), ge(r, 0)}, []int64{1, 1}, false},
		{"up to 0 and from 1", []literal{le(r, 0), ge(r, 1)}, []int64{2, 2}, true},
		{"up to 1 and from 0", []literal{le(r, 1), ge(r, 0)}, []int64{1, 1}, false},
		{"unequal weights", []literal{le(r, 0), ge(r, 1)}, []int64{1, 2}, false},
		{"another variable", []literal{le(r, 0), ge(s, 1)}, []int64{1, 1}, false},
		{"a sum", []literal{sum, ge(r, 0), ge(s, 1)}, []int64{1, 1, 1}, true},
		{"half of a sum", []literal{sum, ge(r, 0)}, []int64{1, 1}, false},
		{"integers below 1 and from 1", []literal{lt(x, 1), ge(x, 1)}, []int64{1, 1}, true},
		{"a negative weight", []literal{le(r, 1), le(r, 3)}, []int64{1, -1}, false},
		{"strictness of no weight", []literal{le(r, 0), ge(r, 0), lt(s, 0)}, []int64{1, 1, 0}, false},
		{"what bounds nothing", []literal{le(r, 0), ge(r, 1), truth}, []int64{1, 1, 1}, false},
		{"no weights", []literal{le(r, 0), ge(r, 1)}, nil, false},
		{"nothing", nil, nil, false},
	} {
		st := step{}
		for _, l := range c.bounds {
			st.clause = append(st.clause, l.not())
		}
		for _, w := range c.weights {
			st.weights = append(st.weights, whole(w))
		}
		if err := p.checkLemma(st); (err == nil) != c.want {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}
