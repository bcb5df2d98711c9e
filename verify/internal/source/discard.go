package source

import (
	"go/token"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// discard keeps the evaluation of a value that nothing keeps, _ = q[i], for as long as it
// takes to write down where it panics (see bounds; then sweep drops it).
func (l *lowerer) discard(v entity, pos token.Pos) {
	switch v := v.(type) {
	case term:
		if !mayPanic(v.x) {
			return
		}
		to := l.variable(l.frame.prefix+"_", v.sort, pos)
		l.depth[to] = temporary
		l.emit(program.Assign{At: program.At{Pos: pos}, To: to, Value: v.x})
	case infinite:
		l.discard(v.x, pos)
	case element:
		l.discard(l.value(v), pos)
	case *record:
		for i := range v.fields {
			l.discard(v.field(i), pos)
		}
	}
}

// mayPanic reports whether evaluating an expression may end the function.
func mayPanic(x program.Expression) (may bool) {
	program.Walk(x, func(x program.Expression) {
		switch x := x.(type) {
		case program.Element:
			may = true
		case program.Binary:
			may = may || (x.Op == program.Quo || x.Op == program.Rem) && isInt(x.Y)
		case program.Call:
			may = may || x.Func == "grid"
		}
	})
	return may
}
