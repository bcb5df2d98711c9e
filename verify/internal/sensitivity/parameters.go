package sensitivity

import (
	"go/types"
	"slices"
)

// leaves reports what a function leaves in what it was given: private data there are
// seen by its caller.
func (a *analysis) leaves(st *state, params []*types.Var, args []value, private map[string]bool) *Refusal {
	for i, v := range args {
		if v.kind != ref {
			continue
		}
		at := nodeAt(params[i].Pos())
		if o := a.settled(st.heap[v.obj]); !private[params[i].Name()] && (len(o.env[l1]) > 0 || len(o.keys) > 0) {
			return a.why(at, "a result", "private data are written to %s, where the caller sees them", params[i].Name())
		}
	}
	return nil
}

// sole refuses a function that writes to a parameter and has another that may lead there.
func (p *Program) sole(d declared) *Refusal {
	k := p.keeper(d)
	if k.refusal != nil || len(k.writes) == 0 {
		return k.refusal
	}
	params := slices.Collect(d.fn.Signature().Params().Variables())
	if recv := d.fn.Signature().Recv(); recv != nil {
		params = append(params, recv)
	}
	n := 0
	for _, v := range params {
		t := v.Type()
		if ptr, ok := t.Underlying().(*types.Pointer); ok {
			t = ptr.Elem()
		}
		_, function := t.Underlying().(*types.Signature)
		if leads(v.Type()) && !function && !isNamed(t, "noise", "Source") && !isNamed(t, "dataset", "Dataset") {
			n++
		}
	}
	if n > 1 || k.deep {
		return &Refusal{d.decl.Pos(), "a parameter is written to, and another, or a row of it, may lead there too", "a slice of its own"}
	}
	return nil
}
