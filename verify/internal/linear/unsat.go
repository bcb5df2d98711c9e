package linear

import (
	"context"
	"errors"
	"fmt"
	"math/big"
)

// A Verdict is what Unsat finds.
type Verdict uint8

const (
	Undecided Verdict = iota // by the limits
	Refuted                  // the formula has no model: proved
	Satisfied                // it has one
)

// String is the verdict in SMT-LIB.
func (v Verdict) String() string {
	return [...]string{"unknown", "unsat", "sat"}[min(v, 2)]
}

// Limits bound the work on a formula; 0 is a default.
type Limits struct {
	Conflicts int // of the search: 20000
	Branches  int // over integers: 200
}

// A Result is a verdict with its reasons.
type Result struct {
	Verdict Verdict
	Model   Model  // if Satisfied: the formula is true in it
	Reason  string // if Undecided
	Steps   int    // of the proof, if Refuted
}

// Unsat decides whether a formula has no model. The error is that the formula is
// none, that the context ended, or that a fault of this package was found.
func Unsat(ctx context.Context, f Formula, limits Limits) (Result, error) {
	r, err := unsat(ctx, f, limits)
	if err != nil {
		return Result{}, fmt.Errorf("decide formula: %w", err)
	}
	return r, nil
}

func unsat(ctx context.Context, f Formula, limits Limits) (Result, error) {
	if err := f.Err(); err != nil {
		return Result{}, err
	}
	if f.size() > maxSize {
		return Result{Reason: fmt.Sprintf("more than %d parts", maxSize)}, nil
	}
	if limits.Conflicts == 0 {
		limits.Conflicts = 20000
	}
	if limits.Branches == 0 {
		limits.Branches = 200
	}
	if err := oneSort(Vars(f)); err != nil {
		return Result{}, err
	}
	conjuncts, order := eliminate(f.Conjuncts())
	problem := clausify(conjuncts)
	s := &search{problem: problem}
	columns, truths, err := s.run(ctx, limits)
	switch {
	case errors.Is(err, errConflicts) || errors.Is(err, errBranches):
		return Result{Reason: err.Error()}, nil
	case err != nil:
		return Result{}, err
	case columns == nil:
		if err := check(&problem.problem, s.proof); err != nil {
			return Result{}, fmt.Errorf("check proof: %w", err)
		}
		return Result{Verdict: Refuted, Steps: len(s.proof)}, nil
	}
	m := Model{}
	for i, b := range problem.columns {
		if b.ite == nil {
			m[b.v] = columns[i].rat()
		}
	}
	for i, v := range problem.truths {
		if v.Sort == Bool {
			m[v] = big.NewRat(int64(max(truths[i], 0)), 1)
		}
	}
	if err := m.complete(order); err != nil {
		return Result{}, err
	}
	if ok, err := f.Eval(m); err != nil || !ok {
		return Result{}, errors.Join(errors.New("the model that was found is none"), err)
	}
	return Result{Verdict: Satisfied, Model: m}, nil
}

// oneSort refuses two variables of one name, which text could not tell apart.
func oneSort(vars []Var) error {
	sorts := map[string]Sort{}
	for _, v := range vars {
		if s, ok := sorts[v.Name]; ok {
			return fmt.Errorf("%s is declared twice, of sort %v and of sort %v", v.Name, s, v.Sort)
		}
		sorts[v.Name] = v.Sort
	}
	return nil
}
