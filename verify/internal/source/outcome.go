package source

import (
	"go/ast"
	"go/types"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// outcomeName is that of the result in alignments, unless a variable in scope has it.
const outcomeName = "result"

func (g ghost) isOutcome(id *ast.Ident) bool {
	_, obj := g.scope.LookupParent(id.Name, g.from)
	_, known := obj.(*types.Var)
	return id.Name == outcomeName && !known
}

func (g ghost) namesOutcome(e ast.Expr) (names bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		names = names || ok && g.isOutcome(id)
		return true
	})
	return names
}

// outcome is the result of the function with the claim, which a pointwise coupling fixes:
// there is one for each outcome, so that those must be countably many.
func (g ghost) outcome(e *ast.Ident) entity {
	l := g.l
	refuse := func(why, hint string) {
		l.refuse(g.pos(e), outcomeName, why, hint)
	}
	if l.frame.caller != nil {
		refuse("it is of the function with the claim, and this one is called", "write the draw in "+l.fn.Name+" itself")
	}
	n := l.result.Len()
	if n == 2 && isError(l.result.At(1).Type()) {
		n = 1
	}
	if n != 1 {
		refuse("the function does not have one result", "return an integer or a truth, or write the shift without the result: diff(x)")
	}
	t := l.result.At(0).Type()
	sort, ok := sortOf(t)
	if !ok || isError(t) || sort == program.Real {
		refuse("it is of type "+typeName(t)+", and couplings are for one integer or truth at a time", "return an integer or a truth, or write the shift without the result: diff(x)")
	}
	if l.fn.Outcome == nil {
		l.fn.Outcome = &program.Variable{Name: l.unique(outcomeName), Sort: program.Int, Input: true}
	}
	x := program.Ref{Var: l.fn.Outcome}
	if sort == program.Bool {
		return term{program.Binary{Op: program.Eq, X: x, Y: number(1, program.Int)}, program.Bool}
	}
	return term{x, program.Int}
}
