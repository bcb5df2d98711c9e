package verify

import (
	"context"
	"go/types"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/sensitivity"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// compose proves what calls other functions from what those claim, as far as that was
// proved before: again and again, until nothing more is. A claim is never used for its
// own proof, as only what has a verdict is used.
func (r *runner) compose(ctx context.Context, jobs []*job) {
	for progress := true; progress; {
		progress = false
		program := r.program(jobs, func(j *job) bool { return j.result.Verdict == Proved })
		for _, j := range jobs {
			if j.result.Verdict != Unknown || j.unit.Claim == nil || !pure(j.unit.Claim) {
				continue
			}
			d := r.decision(j)
			d.syntax, d.result.Claim = program, j.unit.Claim.Text
			decided := false
			within, cancel := context.WithTimeout(ctx, r.options.Timeout-j.spent)
			d.guarded(func() { decided = d.static(within) })
			cancel()
			if decided && d.result.Verdict != Unknown {
				j.result, j.postponed, progress = d.result, false, true
			}
		}
	}
}

// program is all that was loaded, with the claims of some functions for their calls.
// They are those of functions that the front end has read, which write to nothing that
// they are given, and are given nothing but numbers, slices of them, and sources.
func (r *runner) program(jobs []*job, use func(*job) bool) *sensitivity.Program {
	claims := map[string]*claim.Claim{}
	whole := map[string]bool{}
	for _, j := range jobs {
		fn, ok := j.unit.Info.Defs[j.unit.Decl.Name].(*types.Func)
		if !ok || j.unit.Function == nil || j.unit.Claim == nil || !pure(j.unit.Claim) || !plainly(fn) || !use(j) {
			continue
		}
		claims[fn.FullName()] = j.unit.Claim
		over, _ := source.Exactness(j.unit.Function, j.unit.Claim)
		whole[fn.FullName()] = Over(over) == Integers
	}
	p := sensitivity.New(r.packages, claims)
	for name, ok := range whole {
		if ok {
			p.Whole(name)
		}
	}
	return p
}

// plainly reports that a function is given nothing through which it could leave
// something.
func plainly(fn *types.Func) bool {
	if fn.Signature().Recv() != nil {
		return false
	}
	for v := range fn.Signature().Params().Variables() {
		t := v.Type()
		if s, ok := t.Underlying().(*types.Slice); ok {
			t = s.Elem()
		}
		_, number := t.Underlying().(*types.Basic)
		if !number && !strings.HasPrefix(strings.TrimPrefix(v.Type().String(), "*"), "github.com/discreet-dp/discreet/noise.") {
			return false
		}
	}
	return true
}

// waits reports that the claim would hold if those of what is called do: then these
// come first, and no search begins.
func (d *decision) waits(ctx context.Context) bool {
	fn, ok := d.unit.Info.Defs[d.unit.Decl.Name].(*types.Func)
	if !ok || d.assumed == nil || !pure(d.unit.Claim) || len(d.unit.Claim.Sensitivities) > 0 {
		return false
	}
	r := d.assumed.Cost(ctx, fn.FullName(), d.unit.Claim)
	d.postponed = r.Proved && len(r.Uses) > 0
	return d.postponed
}
