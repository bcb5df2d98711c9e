package ratio

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

type mini struct {
	t     *testing.T
	fset  *token.FileSet
	file  *token.File
	scope map[string]*program.Variable
	loops []*program.Loop
}

func read(t *testing.T, src string) (*program.Function, *claim.Claim) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "x.go", "package x\n"+src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	d := f.Decls[len(f.Decls)-1].(*ast.FuncDecl)
	m := &mini{t: t, fset: fset, file: fset.File(f.Pos()), scope: map[string]*program.Variable{}}
	fn := &program.Function{Name: d.Name.Name, File: m.file}
	for _, p := range d.Type.Params.List {
		for _, n := range p.Names {
			if v := m.declare(n.Name, p.Type); v != nil {
				v.Input = true
				fn.Inputs = append(fn.Inputs, v)
			}
		}
	}
	c := &claim.Claim{}
	for _, l := range strings.Split(d.Doc.Text()+dirs(d), "\n") {
		l = strings.TrimPrefix(l, "//dp:")
		verb, text, _ := strings.Cut(l, " ")
		switch verb {
		case "adjacent":
			c.Adjacent = append(c.Adjacent, m.adjacent(text))
		case "requires":
			c.Requires = append(c.Requires, m.parse(text))
		case "cost":
			parts := strings.SplitN(text, ", ", 2)
			c.Cost = &claim.Cost{Epsilon: m.parse(parts[0])}
			if len(parts) == 2 {
				c.Cost.Measure, c.Cost.Delta = claim.Approximate, m.parse(parts[1])
			}
		}
	}
	fn.Body = m.block(d.Body.List)
	return fn, c
}

func dirs(d *ast.FuncDecl) string {
	var s []string
	for _, c := range d.Doc.List {
		s = append(s, c.Text)
	}
	return strings.Join(s, "\n")
}

var adj = regexp.MustCompile(`^(?:(each|one|bag)\((\w+)\)|\|(\w+)\|) (<=|in) (.*)$`)

func (m *mini) adjacent(s string) claim.Adjacency {
	p := adj.FindStringSubmatch(s)
	a := claim.Adjacency{Relation: map[string]claim.Relation{"each": claim.Each, "one": claim.One, "bag": claim.Bag, "": claim.Scalar}[p[1]], Input: m.scope[p[2]+p[3]]}
	if p[4] == "in" {
		lo, hi, _ := strings.Cut(strings.Trim(p[5], "[]"), ",")
		a.Low, a.High = m.parse(lo), m.parse(hi)
	} else {
		a.High = m.parse(p[5])
		a.Low = fold(program.Unary{Op: program.Sub, X: a.High})
	}
	return a
}

func (m *mini) parse(s string) program.Expression {
	e, err := parser.ParseExpr(s)
	if err != nil {
		m.t.Fatal(s, err)
	}
	return m.expr(e)
}

func (m *mini) declare(name string, typ ast.Expr) *program.Variable {
	v := &program.Variable{Name: name}
	if a, ok := typ.(*ast.ArrayType); ok {
		v.Slice = true
		typ = a.Elt
	}
	id, ok := typ.(*ast.Ident)
	if !ok {
		return nil
	}
	v.Sort = map[string]program.Sort{"int": program.Int, "int64": program.Int, "float64": program.Real, "bool": program.Bool, "uint": program.Int}[id.Name]
	v.Natural = id.Name == "uint"
	m.scope[name] = v
	return v
}

func (m *mini) expr(e ast.Expr) program.Expression {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return m.expr(e.X)
	case *ast.BasicLit:
		r, ok := new(big.Rat).SetString(constant.MakeFromLiteral(e.Value, e.Kind, 0).ExactString())
		if !ok {
			m.t.Fatal(e.Value)
		}
		s := program.Int
		if e.Kind == token.FLOAT {
			s = program.Real
		}
		return program.Number{Value: r, Sort: s}
	case *ast.Ident:
		if e.Name == "true" || e.Name == "false" {
			return program.Truth(e.Name == "true")
		}
		if m.scope[e.Name] == nil {
			m.t.Fatal("unknown ", e.Name)
		}
		return program.Ref{Var: m.scope[e.Name]}
	case *ast.UnaryExpr:
		return fold(program.Unary{Op: program.Op(e.Op.String()), X: m.expr(e.X)})
	case *ast.BinaryExpr:
		return fold(program.Binary{Op: program.Op(e.Op.String()), X: m.expr(e.X), Y: m.expr(e.Y)})
	case *ast.IndexExpr:
		return program.Element{Slice: m.scope[e.X.(*ast.Ident).Name], Index: m.expr(e.Index)}
	case *ast.CallExpr:
		name := ""
		switch f := e.Fun.(type) {
		case *ast.Ident:
			name = f.Name
		case *ast.SelectorExpr:
			name = strings.ToLower(f.Sel.Name)
		}
		switch name {
		case "len":
			return program.Length{Slice: m.scope[e.Args[0].(*ast.Ident).Name]}
		case "float64":
			name = "real"
		case "min", "max":
			return program.Binary{Op: program.Op(name), X: m.expr(e.Args[0]), Y: m.expr(e.Args[1])}
		}
		var args []program.Expression
		for _, a := range e.Args {
			args = append(args, m.expr(a))
		}
		return fold(program.Call{Func: name, Args: args})
	}
	m.t.Fatalf("%T", e)
	return nil
}

func (m *mini) block(list []ast.Stmt) (out []program.Statement) {
	for _, s := range list {
		out = append(out, m.stmt(s)...)
	}
	return out
}

var laws = map[string]program.Law{"Laplace": program.Laplace, "DiscreteLaplace": program.DiscreteLaplace, "Bernoulli": program.Bernoulli, "Choose": program.Choose, "Uniform": program.Uniform, "Gaussian": program.Gaussian}

// hoist turns draws in an expression into statements.
func (m *mini) hoist(e ast.Expr) (ast.Expr, []program.Statement) {
	var out []program.Statement
	var rewrite func(e ast.Expr) ast.Expr
	rewrite = func(e ast.Expr) ast.Expr {
		switch e := e.(type) {
		case *ast.ParenExpr:
			return rewrite(e.X)
		case *ast.BinaryExpr:
			return &ast.BinaryExpr{X: rewrite(e.X), Op: e.Op, Y: rewrite(e.Y)}
		case *ast.UnaryExpr:
			return &ast.UnaryExpr{Op: e.Op, X: rewrite(e.X)}
		case *ast.CallExpr:
			sel, ok := e.Fun.(*ast.SelectorExpr)
			if !ok {
				return e
			}
			law, ok := laws[sel.Sel.Name]
			if !ok {
				return e
			}
			v := &program.Variable{Name: "draw" + m.fset.Position(e.Pos()).String(), Sort: map[program.Law]program.Sort{program.Bernoulli: program.Bool, program.Choose: program.Int, program.Uniform: program.Int, program.DiscreteLaplace: program.Int}[law]}
			if law == program.Laplace || law == program.Gaussian {
				v.Sort = program.Real
			}
			m.scope[v.Name] = v
			d := program.Draw{At: program.At{Pos: e.Pos()}, To: v, Law: law}
			if law == program.Choose {
				d.Scores = m.scope[e.Args[0].(*ast.Ident).Name]
				d.Parameter = m.expr(e.Args[1])
			} else {
				d.Parameter = m.expr(e.Args[0])
			}
			out = append(out, d)
			return &ast.Ident{Name: v.Name}
		}
		return e
	}
	e = rewrite(e)
	return e, out
}

func (m *mini) stmt(s ast.Stmt) []program.Statement {
	at := program.At{Pos: s.Pos()}
	switch s := s.(type) {
	case *ast.ReturnStmt:
		var out []program.Statement
		var vs []program.Expression
		for _, e := range s.Results {
			e, pre := m.hoist(e)
			out = append(out, pre...)
			vs = append(vs, m.expr(e))
		}
		return append(out, program.Return{At: at, Values: vs})
	case *ast.IncDecStmt:
		v := m.scope[s.X.(*ast.Ident).Name]
		op := map[token.Token]program.Op{token.INC: program.Add, token.DEC: program.Sub}[s.Tok]
		return []program.Statement{program.Assign{At: at, To: v, Value: program.Binary{Op: op, X: program.Ref{Var: v}, Y: program.Number{Value: one}}}}
	case *ast.DeclStmt:
		spec := s.Decl.(*ast.GenDecl).Specs[0].(*ast.ValueSpec)
		v := m.declare(spec.Names[0].Name, spec.Type)
		if v.Slice {
			return []program.Statement{program.Make{At: at, To: v, Length: program.Number{Value: zero}}}
		}
		var z program.Expression = program.Number{Value: zero, Sort: v.Sort}
		if v.Sort == program.Bool {
			z = program.Truth(false)
		}
		return []program.Statement{program.Assign{At: at, To: v, Value: z}}
	case *ast.AssignStmt:
		rhs := s.Rhs[0]
		if c, ok := rhs.(*ast.CallExpr); ok {
			if id, ok := c.Fun.(*ast.Ident); ok && id.Name == "append" {
				e, pre := m.hoist(c.Args[1])
				return append(pre, program.Append{At: at, To: m.scope[s.Lhs[0].(*ast.Ident).Name], Value: m.expr(e)})
			} else if ok && id.Name == "make" {
				v := m.declare(s.Lhs[0].(*ast.Ident).Name, c.Args[0])
				return []program.Statement{program.Make{At: at, To: v, Length: m.expr(c.Args[1])}}
			}
		}
		e, pre := m.hoist(rhs)
		x := m.expr(e)
		if ix, ok := s.Lhs[0].(*ast.IndexExpr); ok {
			v := m.scope[ix.X.(*ast.Ident).Name]
			return append(pre, program.Store{At: at, To: v, Index: m.expr(ix.Index), Value: x})
		}
		name := s.Lhs[0].(*ast.Ident).Name
		if s.Tok == token.DEFINE {
			m.scope[name] = &program.Variable{Name: name, Sort: program.SortOf(x)}
		} else if s.Tok != token.ASSIGN {
			op := program.Op(strings.TrimSuffix(s.Tok.String(), "="))
			x = program.Binary{Op: op, X: program.Ref{Var: m.scope[name]}, Y: x}
		}
		return append(pre, program.Assign{At: at, To: m.scope[name], Value: x})
	case *ast.IfStmt:
		var pre []program.Statement
		if s.Init != nil {
			pre = m.stmt(s.Init)
		}
		e, more := m.hoist(s.Cond)
		i := program.If{At: at, Cond: m.expr(e), Then: m.block(s.Body.List)}
		switch x := s.Else.(type) {
		case *ast.BlockStmt:
			i.Else = m.block(x.List)
		case *ast.IfStmt:
			i.Else = m.stmt(x)
		}
		return append(append(pre, more...), i)
	case *ast.ForStmt:
		l := &program.Loop{At: at, Name: m.fset.Position(s.Pos()).String()}
		var pre []program.Statement
		if s.Init != nil {
			pre = m.stmt(s.Init)
		}
		l.Cond = program.Truth(true)
		if s.Cond != nil {
			l.Cond = m.expr(s.Cond)
		}
		if s.Post != nil {
			l.Post = m.stmt(s.Post)
		}
		m.loops = append(m.loops, l)
		l.Body = m.block(s.Body.List)
		m.loops = m.loops[:len(m.loops)-1]
		return append(pre, l)
	case *ast.RangeStmt:
		l := &program.Loop{At: at, Name: m.fset.Position(s.Pos()).String()}
		i := &program.Variable{Name: "i" + l.Name, Natural: true}
		if id, ok := s.Key.(*ast.Ident); ok && id.Name != "_" {
			i.Name = id.Name
			m.scope[id.Name] = i
		}
		i0 := program.Assign{At: at, To: i, Value: program.Number{Value: zero}}
		l.Post = []program.Statement{program.Assign{At: at, To: i, Value: program.Binary{Op: program.Add, X: program.Ref{Var: i}, Y: program.Number{Value: one}}}}
		var first []program.Statement
		id, isId := s.X.(*ast.Ident)
		if isId && m.scope[id.Name] != nil && m.scope[id.Name].Slice {
			q := m.scope[id.Name]
			l.Cond = program.Binary{Op: program.Lt, X: program.Ref{Var: i}, Y: program.Length{Slice: q}}
			if v, ok := s.Value.(*ast.Ident); ok {
				m.scope[v.Name] = &program.Variable{Name: v.Name, Sort: q.Sort}
				first = append(first, program.Assign{At: at, To: m.scope[v.Name], Value: program.Element{Slice: q, Index: program.Ref{Var: i}}})
			}
		} else {
			l.Cond = program.Binary{Op: program.Lt, X: program.Ref{Var: i}, Y: m.expr(s.X)}
		}
		m.loops = append(m.loops, l)
		l.Body = append(first, m.block(s.Body.List)...)
		m.loops = m.loops[:len(m.loops)-1]
		return []program.Statement{i0, l}
	case *ast.BranchStmt:
		l := m.loops[len(m.loops)-1]
		if s.Tok == token.BREAK {
			return []program.Statement{program.Break{At: at, Of: l}}
		}
		return []program.Statement{program.Continue{At: at, Of: l}}
	}
	m.t.Fatalf("%T", s)
	return nil
}
