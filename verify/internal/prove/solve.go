package prove

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/smt"
	"github.com/discreet-dp/discreet/verify/internal/linear"
)

// questionLimit is for one question: what takes longer is not found this way.
const questionLimit = 2 * time.Second

// A solver is z3, told of variables as they come up.
type solver struct {
	process  *smt.Process
	declared map[linear.Var]bool
}

func startSolver(ctx context.Context, o smt.Options) (*solver, error) {
	if o.Limit == 0 {
		o.Limit = questionLimit
	}
	process, err := smt.Start(ctx, smt.Z3, o)
	if err != nil {
		return nil, fmt.Errorf("search for a proof: %w", err)
	}
	process.Command("(set-option :global-declarations true)")
	process.Command("(set-option :produce-unsat-cores true)")
	return &solver{process, map[linear.Var]bool{}}, nil
}

func (s *solver) close() { s.process.Close() } //nolint:errcheck // it is killed

func (s *solver) declare(es ...linear.Expr) error {
	for _, v := range linear.Vars(es...) {
		if s.declared[v] {
			continue
		}
		s.declared[v] = true
		text, err := linear.Declare(v)
		if err != nil {
			return err
		}
		s.process.Command(strings.TrimSpace(text))
	}
	return nil
}

func (s *solver) assert(f linear.Formula) error {
	if err := s.declare(f); err != nil {
		return err
	}
	text, err := f.SMT(linear.Bool)
	if err != nil {
		return err
	}
	s.process.Assert(text)
	return nil
}

// under is a model of what was asserted and of more, over the variables of known.
func (s *solver) under(ctx context.Context, known linear.Formula, more ...linear.Formula) (linear.Model, smt.Answer, error) {
	s.process.Push()
	defer s.process.Pop()
	for _, f := range more {
		if err := s.assert(f); err != nil {
			return nil, smt.Unknown, err
		}
	}
	a, err := s.process.CheckSat(ctx)
	if err != nil || a != smt.Sat {
		return nil, a, err
	}
	m, err := s.values(ctx, linear.Vars(known))
	return m, a, err
}

func (s *solver) values(ctx context.Context, vars []linear.Var) (linear.Model, error) {
	if len(vars) == 0 {
		return linear.Model{}, nil
	}
	names := make([]string, len(vars))
	for i, v := range vars {
		name, err := linear.Symbol(v.Name)
		if err != nil {
			return nil, err
		}
		names[i] = name
	}
	text, err := s.process.Values(ctx, names...)
	if err != nil {
		return nil, err
	}
	return linear.ParseValues(text, vars...)
}

// core is a least set of the formulas that, with the given ones, has no model; nil
// and false if all of them have one, or the solver does not know.
func (s *solver) core(ctx context.Context, given linear.Formula, fs []linear.Formula) ([]int, bool, error) {
	s.process.Push()
	defer s.process.Pop()
	if err := s.assert(given); err != nil {
		return nil, false, err
	}
	all := make([]int, len(fs))
	for i, f := range fs {
		all[i] = i
		v := linear.Var{Name: fmt.Sprintf("use!%d", i), Sort: linear.Bool}
		if err := s.assert(linear.Implies(v.Formula(), f)); err != nil {
			return nil, false, err
		}
		if err := s.declare(v.Formula()); err != nil {
			return nil, false, err
		}
	}
	try := func(set []int) (bool, error) {
		var b strings.Builder
		for _, i := range set {
			fmt.Fprintf(&b, " use!%d", i)
		}
		out, err := s.process.Ask(ctx, "(check-sat-assuming ("+b.String()+"))")
		return out == "unsat", err
	}
	ok, err := try(all)
	if err != nil || !ok {
		return nil, false, err
	}
	text, err := s.process.Ask(ctx, "(get-unsat-core)")
	if err != nil {
		return nil, false, err
	}
	var set []int
	for _, word := range strings.Fields(strings.Trim(strings.TrimSpace(text), "()")) {
		var i int
		if _, err := fmt.Sscanf(word, "use!%d", &i); err != nil || i < 0 || i >= len(fs) {
			return nil, false, fmt.Errorf("search for a proof: %w: %q", smt.ErrOutput, word)
		}
		set = append(set, i)
	}
	for i := 0; i < len(set); {
		less := append(append([]int(nil), set[:i]...), set[i+1:]...)
		ok, err := try(less)
		if err != nil {
			return nil, false, err
		}
		if ok {
			set = less
		} else {
			i++
		}
	}
	return set, true, nil
}
