package source

import (
	"go/ast"
	"go/types"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// sourceLaws are the methods of *noise.Source that draw.
var sourceLaws = map[string]program.Law{
	"Laplace":          program.Laplace,
	"Exponential":      program.Exponential,
	"Gaussian":         program.Gaussian,
	"DiscreteLaplace":  program.DiscreteLaplace,
	"Geometric":        program.Geometric,
	"DiscreteGaussian": program.DiscreteGaussian,
	"Bernoulli":        program.Bernoulli,
	"Choose":           program.Choose,
	"Uniform":          program.Uniform,
}

func lawSort(law program.Law) program.Sort {
	switch law {
	case program.Laplace, program.Exponential, program.Gaussian:
		return program.Real
	case program.Bernoulli:
		return program.Bool
	}
	return program.Int
}

// lawOf recognises a draw by the types: a method of noise.Source, or Int64 or Index of
// a distribution.
func lawOf(info *types.Info, e *ast.CallExpr) (program.Law, bool) {
	f, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	if !ok {
		return 0, false
	}
	sel := info.Selections[f]
	if sel == nil || sel.Kind() != types.MethodVal {
		return 0, false
	}
	recv := recvOf(sel)
	if noiseType(recv) == "Source" {
		law, ok := sourceLaws[f.Sel.Name]
		return law, ok
	}
	if noiseType(recv) == "Stream" && f.Sel.Name == "Index" {
		return program.Uniform, true
	}
	law, ok := samplerLaw(recv)
	draws := map[bool]string{false: "Int64", true: "Index"}[law == program.Choose]
	return law, ok && f.Sel.Name == draws
}

// recvOf is the type that a method was declared for, also of embedded fields.
func recvOf(sel *types.Selection) types.Type {
	if fn, ok := sel.Obj().(*types.Func); ok {
		if r := fn.Signature().Recv(); r != nil {
			return r.Type()
		}
	}
	return sel.Recv()
}

func isMethodOf(info *types.Info, e *ast.CallExpr, noise string) bool {
	f, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	sel := info.Selections[f]
	return sel != nil && sel.Kind() == types.MethodVal && noiseType(recvOf(sel)) == noise
}

// drawIn returns the draw that an expression is.
func (l *lowerer) drawIn(e ast.Expr) (*ast.CallExpr, program.Law, bool) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || !isMethodOf(l.frame.in.info, call, "Source") {
		return nil, 0, false
	}
	law, ok := lawOf(l.frame.in.info, call)
	return call, law, ok
}

// draw emits a draw of a noise.Source into what to gives, or a temporary; s is the
// statement that it stands in, if that is all that it does.
func (l *lowerer) draw(e *ast.CallExpr, law program.Law, to func(program.Sort) *program.Variable, s ast.Stmt) *program.Variable {
	d := program.Draw{At: program.At{Pos: e.Pos()}, Law: law}
	f := ast.Unparen(e.Fun).(*ast.SelectorExpr) // lawOf has seen it
	l.drawsFrom(f, l.frame.in.info.Selections[f])
	args := e.Args
	if law == program.Choose && len(args) == 2 {
		v, ok := l.sliceOf(args[0])
		if !ok {
			l.refuse(args[0].Pos(), "these scores", "they are outside the subset", "pass a slice of numbers")
		}
		d.Scores, args = v, args[1:]
	}
	if len(args) != 1 || law == program.Choose && d.Scores == nil {
		l.refuse(e.Pos(), "this draw", "it is outside the subset", "")
	}
	d.Parameter = l.scalar(args[0]).x
	if to == nil {
		d.To = l.temporary(law, e)
	} else {
		d.To = to(lawSort(law))
	}
	if d.To.Sort != lawSort(law) {
		l.refuse(e.Pos(), "this draw", "it is outside the subset", "")
	}
	d.Align = l.align(s, e)
	l.checkWritable(d.To, e.Pos())
	l.emit(d)
	return d.To
}

// drawsFrom evaluates the source of a draw, which a call may give that does more.
func (l *lowerer) drawsFrom(f *ast.SelectorExpr, sel *types.Selection) {
	index := sel.Index()
	if _, ok := l.path(l.base(f.X), index[:len(index)-1], f.Pos()).(source); !ok {
		l.refuse(f.X.Pos(), "this source of noise", "where it comes from is not known", "let it be a parameter, or a field of the receiver")
	}
}

// temporary names what a draw without a name gives: laplace1.
func (l *lowerer) temporary(law program.Law, e *ast.CallExpr) *program.Variable {
	l.laws[law]++
	name := law.String()
	name = strings.ToLower(name[:1]) + name[1:] + strconv.Itoa(l.laws[law])
	return l.variable(l.frame.prefix+name, lawSort(law), e.Pos())
}

// A drawError is the error of a draw that did not fail.
type drawError struct{}

func (drawError) what() string { return "an error" }

// sample is k, err := d.Int64(stream), or stream.Index(n).
func (l *lowerer) sample(e *ast.CallExpr, law program.Law) []entity {
	f := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	sel := l.frame.in.info.Selections[f]
	draw := program.Draw{At: program.At{Pos: e.Pos()}, Law: law, Align: l.align(l.drawn, e)}
	if law == program.Uniform {
		l.checkSource(f.X)
		draw.Parameter = l.scalar(e.Args[0]).x
		return l.sampled(draw, e)
	}
	index := sel.Index()
	d, ok := l.path(l.base(f.X), index[:len(index)-1], e.Pos()).(*sampler)
	if !ok {
		l.refuse(e.Pos(), "a draw from "+typeName(sel.Recv()), "where its scale comes from is not known", "let it be a field of the receiver, or a parameter")
	}
	l.follows(d.presence, e.Pos())
	if len(e.Args) > 0 {
		l.checkSource(e.Args[0])
	}
	scale := d.scaleVariable()
	l.read(scale)
	draw.Parameter = program.Ref{Var: scale}
	if law == program.Choose && len(e.Args) == 2 {
		scores, ok := l.sliceOf(e.Args[1])
		if !ok {
			l.refuse(e.Args[1].Pos(), "these scores", "they are outside the subset", "pass a slice of numbers")
		}
		// exp(s/scale) is exp(ε·s/2) for ε = 2/scale.
		draw.Scores = scores
		draw.Parameter = program.Binary{Op: program.Quo, X: number(2, program.Real), Y: program.Ref{Var: scale}}
	}
	return l.sampled(draw, e)
}

// sampled emits a draw of a statement k, err := ..., and returns k and the error.
func (l *lowerer) sampled(draw program.Draw, e *ast.CallExpr) []entity {
	v := l.temporary(draw.Law, e)
	if a, ok := l.drawn.(*ast.AssignStmt); ok && len(a.Rhs) == 1 && ast.Unparen(a.Rhs[0]) == e {
		if id := identOf(a.Lhs[0]); id != nil && id.Name != "_" {
			v = l.variable(l.frame.prefix+id.Name, program.Int, id.Pos())
		}
	}
	draw.To = v
	l.emit(draw)
	return []entity{term{program.Ref{Var: v}, program.Int}, drawError{}}
}

// coin is ok, err := noise.Bernoulli(bits, p).
func (l *lowerer) coin(e *ast.CallExpr) []entity {
	l.checkSource(e.Args[0])
	p, ok := l.eval(e.Args[1]).(ratio)
	if !ok {
		l.refuse(e.Args[1].Pos(), "this probability", "where it comes from is not known", "let it be a field of the receiver, or a parameter")
	}
	l.read(p.v)
	v := l.temporary(program.Bernoulli, e)
	l.emit(program.Draw{At: program.At{Pos: e.Pos()}, To: v, Law: program.Bernoulli, Parameter: program.Ref{Var: p.v}})
	return []entity{term{program.Ref{Var: v}, program.Bool}, drawError{}}
}

func (l *lowerer) checkSource(e ast.Expr) {
	if _, ok := l.eval(e).(source); !ok {
		l.refuse(e.Pos(), "this draw", "it is outside the subset", "draw from a *noise.Stream, or from noise.Bits")
	}
}
