package source

import (
	"go/ast"
	"strconv"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

func lineOf(l *lowerer, n ast.Node) string { return strconv.Itoa(l.fset.Position(n.Pos()).Line) }

// finish leaves out flags that nothing reads.
func (l *lowerer) finish(stmts []program.Statement) (kept []program.Statement) {
	for _, s := range stmts {
		switch x := s.(type) {
		case program.Assign:
			if read, flag := l.flags[x.To]; flag && !read {
				continue
			}
		case program.If:
			x.Then, x.Else = l.finish(x.Then), l.finish(x.Else)
			if len(x.Then) == 0 && len(x.Else) > 0 {
				x.Cond, x.Then, x.Else = negate(x.Cond), x.Else, nil
			}
			s = x
		case *program.Loop:
			x.Body, x.Post = l.finish(x.Body), l.finish(x.Post)
		}
		kept = append(kept, s)
	}
	return kept
}

func isErrorOfDraw(e entity) bool {
	_, ok := e.(drawError)
	return ok
}
