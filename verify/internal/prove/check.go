package prove

import (
	"context"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/smt"
	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/linear"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// A decider says whether a formula has no model.
type decider func(context.Context, linear.Formula) (bool, error)

// Check proves the claim by the certificate. It starts no solver.
func Check(ctx context.Context, f *p.Function, c *claim.Claim, cert *Certificate) error {
	return check(ctx, f, c, cert, func(ctx context.Context, f linear.Formula) (bool, error) {
		r, err := linear.Unsat(ctx, f, linear.Limits{})
		return r.Verdict == linear.Refuted, err
	})
}

// CheckWith is Check by a solver.
func CheckWith(ctx context.Context, s smt.Solver, o smt.Options, f *p.Function, c *claim.Claim, cert *Certificate) error {
	process, err := smt.Start(ctx, s, o)
	if err != nil {
		return fmt.Errorf("check certificate: %w", err)
	}
	defer process.Close() //nolint:errcheck // it is killed
	return check(ctx, f, c, cert, func(ctx context.Context, f linear.Formula) (bool, error) {
		if f.IsFalse() {
			return true, nil
		}
		script, err := linear.Script(f)
		if err != nil {
			return false, err
		}
		process.Command("(reset)\n" + strings.TrimSuffix(script, "(check-sat)\n"))
		a, err := process.CheckSat(ctx)
		return a == smt.Unsat, err
	})
}

func check(ctx context.Context, f *p.Function, c *claim.Claim, cert *Certificate, unsat decider) error {
	proofs, err := replay(ctx, f, c, cert)
	if err != nil {
		return fmt.Errorf("check certificate: %w", err)
	}
	for _, r := range proofs {
		for _, o := range r.m.obligations {
			ok, err := unsat(ctx, r.m.refutation(o, r.inv))
			if err != nil {
				return fmt.Errorf("check certificate: %s: %w", r.m.describe(o), err)
			}
			if !ok {
				return fmt.Errorf("check certificate: %w: it does not show that %s", ErrCertificate, r.m.describe(o))
			}
		}
	}
	return nil
}

// A replayed proof is the obligations of one direction, with the invariants from
// which they are to follow; or, without an orientation, those of the units.
type replayed struct {
	m           *machine
	inv         invariants
	orientation *Orientation
}

// replay makes the obligations of a certificate anew.
func replay(ctx context.Context, f *p.Function, c *claim.Claim, cert *Certificate) ([]replayed, error) {
	if cert == nil || cert.Version != certificateVersion {
		return nil, fmt.Errorf("%w: it is of another version", ErrCertificate)
	}
	if cert.Program != Hash(f, c) {
		return nil, ErrStale
	}
	in, err := named(f, c, cert.Units)
	if err != nil {
		return nil, err
	}
	s, b, err := prepare(ctx, in)
	if err != nil {
		return nil, err
	}
	want := directions(c)
	if len(cert.Orientations) != len(want) {
		return nil, fmt.Errorf("%w: it is of %d directions, and %d are claimed", ErrCertificate, len(cert.Orientations), len(want))
	}
	var proofs []replayed
	for i, swapped := range want {
		o := cert.Orientations[i]
		if o.Direction != direction(swapped) {
			return nil, fmt.Errorf("%w: direction %q stands where %q is needed", ErrCertificate, o.Direction, direction(swapped))
		}
		r, err := s.replay(b, o, swapped)
		if err != nil {
			return nil, err
		}
		proofs = append(proofs, r)
	}
	if len(in.units) > 0 {
		m := in.justified(f, c)
		if m.err != nil {
			return nil, m.err
		}
		proofs = append(proofs, replayed{m: m})
	}
	return proofs, nil
}

func (s *static) replay(b *budget, o Orientation, swapped bool) (replayed, error) {
	c := s.in.c
	outcomes := s.outcomeVariables()
	vars := variables(s.in.before, outcomes)
	align := map[*p.Draw]p.Expression{}
	for _, a := range o.Alignment {
		if a.Draw < 0 || a.Draw >= len(s.draws) || align[s.draws[a.Draw]] != nil {
			return replayed{}, fmt.Errorf("%w: it aligns draw %d", ErrCertificate, a.Draw)
		}
		x, err := parseExpression(a.Expr, vars)
		if err == nil {
			x, err = s.in.shift(x, a.Draw)
		}
		if err != nil {
			return replayed{}, fmt.Errorf("%w: %w", ErrCertificate, err)
		}
		align[s.draws[a.Draw]] = x
	}
	m := newMachine(s, c, b, align, nil)
	part, ok := o.part()
	if !ok {
		return replayed{}, fmt.Errorf("%w: it is of the part %q of the cost", ErrCertificate, o.Part)
	}
	// Costs are sums of sizes: what is at most a part of the claimed cost is at most
	// that, which is not negative then.
	m.swapped, m.outcomes, m.goal = swapped, outcomes, part
	m.run()
	if m.err != nil {
		return replayed{}, m.err
	}
	inv := invariants{}
	for _, i := range o.Invariants {
		if i.Loop < 0 || i.Loop >= len(s.loops) || m.heads[s.loops[i.Loop]] == nil || len(i.Formula) > maxText {
			return replayed{}, fmt.Errorf("%w: it has an invariant of loop %d", ErrCertificate, i.Loop)
		}
		l := s.loops[i.Loop]
		// Only names of the head and of inputs: of anything else an invariant could
		// assume what is yet to be drawn.
		names := append([]linear.Var(nil), m.heads[l].names...)
		for v := range m.fixed {
			names = append(names, v)
		}
		formula, err := linear.ParseFormula(i.Formula, unique(names)...)
		if err != nil {
			return replayed{}, fmt.Errorf("%w: %w", ErrCertificate, err)
		}
		if !m.speakable(m.heads[l], formula) {
			return replayed{}, fmt.Errorf("%w: the invariant %s is of other things than the loop's variables", ErrCertificate, i.Formula)
		}
		inv[l.Name] = append(inv[l.Name], formula)
	}
	return replayed{m, inv, &o}, nil
}

// unique drops what is there twice: a variable that still is its input.
func unique(vs []linear.Var) []linear.Var {
	seen := map[linear.Var]bool{}
	var out []linear.Var
	for _, v := range vs {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

func direction(swapped bool) string {
	if swapped {
		return "backward"
	}
	return "forward"
}

// An Obligation is a formula that has no model if the proof is right.
type Obligation struct {
	Name string
	// SMT is a whole SMT-LIB script; a solver must answer unsat.
	SMT string
}

// Obligations are what a certificate's proof rests on.
func Obligations(f *p.Function, c *claim.Claim, cert *Certificate) ([]Obligation, error) {
	proofs, err := replay(context.Background(), f, c, cert)
	if err != nil {
		return nil, fmt.Errorf("write obligations: %w", err)
	}
	var all []Obligation
	for _, r := range proofs {
		for _, o := range r.m.obligations {
			script, err := linear.Script(r.m.refutation(o, r.inv))
			if err != nil {
				return nil, fmt.Errorf("write obligations: %w", err)
			}
			name := r.m.describe(o)
			if r.orientation != nil && len(cert.Orientations) > 1 {
				name = r.orientation.Direction + ": " + name
			}
			all = append(all, Obligation{name, script})
		}
	}
	return all, nil
}
