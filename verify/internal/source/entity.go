package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// An entity is what a Go variable or expression stands for. Scalars and slices are
// the program's; structs are taken apart; the rest is known when the program is
// read, and leaves nothing in it.
type entity interface{ what() string }

type (
	// A scalar is a variable that holds a number or a truth.
	scalar struct{ v *program.Variable }

	// A term is the value of a scalar.
	term struct {
		x    program.Expression
		sort program.Sort
	}

	// A slice is a variable that holds one.
	slice struct{ v *program.Variable }

	// A mapping is a map of the input: the values at the keys of a slice, in its order.
	mapping struct{ v *program.Variable }

	// A record is a struct; fields are made when they are asked for.
	record struct {
		typ    *types.Struct
		fields []entity
		make   func(i int) entity
		// moves is set on an element of rows, which is another one where its index changes.
		moves bool
	}

	// Rows are a slice of structs: a slice for each of their numbers, all of one length.
	rows struct{ columns *record }

	// A pointer is to a record that is known. One of the input may be nil.
	pointer struct {
		to entity
		*presence
	}

	// A closure is a function literal, where it was written.
	closure struct {
		lit *ast.FuncLit
		in  *frame
	}

	// A source draws noise: noise.Source, noise.Stream, noise.Bits.
	source struct{ *presence }

	// A sampler is a law with its scale, *noise.DiscreteLaplace, of the input. It has
	// a scale, and may be nil, only if the program asks.
	sampler struct {
		law   program.Law
		make  func() *program.Variable
		scale *program.Variable
		*presence
	}

	// A presence is that of an input that may be nil: a truth of the input, if the
	// program asks.
	presence struct {
		claimed bool // the claim is of what is there
		make    func() *program.Variable
		v       *program.Variable
	}

	// An amount is an input of package privacy: a number in directives, and nothing
	// that the program knows.
	amount struct{ v *program.Variable }

	// A ratio is a *big.Rat of the input, which only draws and directives read.
	ratio struct{ v *program.Variable }

	// A consumer is the function yield.
	consumer struct{}

	// A null is nil.
	null struct{}

	// A text is a string of the input, of which nothing is known.
	text struct{}

	// An unknown is of a type that the subset lacks.
	unknown struct{ typ types.Type }
)

func (scalar) what() string    { return "a number" }
func (term) what() string      { return "a number" }
func (slice) what() string     { return "a slice" }
func (mapping) what() string   { return "a map" }
func (*record) what() string   { return "a struct" }
func (rows) what() string      { return "a slice of structs" }
func (pointer) what() string   { return "a pointer" }
func (closure) what() string   { return "a function" }
func (source) what() string    { return "a source of noise" }
func (*sampler) what() string  { return "a distribution" }
func (amount) what() string    { return "an amount of package privacy" }
func (ratio) what() string     { return "a rational" }
func (consumer) what() string  { return "the function yield" }
func (null) what() string      { return "nil" }
func (text) what() string      { return "a string" }
func (u unknown) what() string { return "a value of type " + typeName(u.typ) }

func (r *record) field(i int) entity {
	if r.fields[i] == nil {
		r.fields[i] = r.make(i)
	}
	return r.fields[i]
}

func typeName(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}

const noisePath = "github.com/discreet-dp/discreet/noise"

// noiseType returns the name of a type of package noise, or of a pointer to one.
func noiseType(t types.Type) string {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != noisePath {
		return ""
	}
	return n.Obj().Name()
}

// samplerLaw is that of the types whose draws are k, err := d.Int64(stream), or
// i, err := d.Index(stream, scores).
func samplerLaw(t types.Type) (program.Law, bool) {
	switch noiseType(t) {
	case "DiscreteLaplace":
		return program.DiscreteLaplace, true
	case "Geometric":
		return program.Geometric, true
	case "Choice":
		return program.Choose, true
	}
	return 0, false
}

// isSource reports whether values of a type are random bits, or made of them. A stream itself is
// none, but what leads to one: a copy would repeat the bits that it has left.
func isSource(t types.Type) bool {
	_, pointer := types.Unalias(t).(*types.Pointer)
	switch noiseType(t) {
	case "Source", "Stream":
		return pointer
	case "Bits":
		return !pointer
	}
	return false
}

// isAmount reports whether a type is privacy.Epsilon, Delta or Rho.
func isAmount(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "github.com/discreet-dp/discreet/privacy" && n.Obj().Name() == "Amount"
}

func isError(t types.Type) bool {
	return types.Identical(t, types.Universe.Lookup("error").Type())
}

// sortOf returns the sort of a type of numbers, truths or errors. An error is an
// integer: 0 is nil, and each other error of the program has a number.
func sortOf(t types.Type) (program.Sort, bool) {
	if isError(t) {
		return program.Int, true
	}
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		return 0, false
	}
	switch {
	case b.Info()&types.IsInteger != 0 && b.Kind() != types.Uintptr:
		return program.Int, true
	case b.Info()&types.IsFloat != 0:
		return program.Real, true
	case b.Info()&types.IsBoolean != 0:
		return program.Bool, true
	}
	return 0, false
}

// heldSort returns the sort of a type that variables of the program have. A string is one of
// those that the program spells out, which are numbered: 0 is the empty one.
func heldSort(t types.Type) (program.Sort, bool) {
	if isString(t) {
		return program.Int, true
	}
	return sortOf(t)
}

func isUnsigned(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsUnsigned != 0
}

// elementSort returns the sort of a slice's elements.
func elementSort(t types.Type) (program.Sort, bool) {
	s, ok := t.Underlying().(*types.Slice)
	if !ok || isError(s.Elem()) {
		return 0, false
	}
	return sortOf(s.Elem())
}

// streamElement returns the type of an iter.Seq's elements.
func streamElement(t types.Type) (types.Type, bool) {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != "iter" || n.Obj().Name() != "Seq" || n.TypeArgs().Len() != 1 {
		return nil, false
	}
	return n.TypeArgs().At(0), true
}

// isSequence reports whether t is an iter.Seq or iter.Seq2.
func isSequence(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "iter" && strings.HasPrefix(n.Obj().Name(), "Seq")
}

// isYield reports whether t is the type of a range-over-func's parameter, which is
// called yield.
func isYield(name string, t types.Type) bool {
	s, ok := t.Underlying().(*types.Signature)
	return ok && name == "yield" && s.Results().Len() == 1 && types.Identical(s.Results().At(0).Type().Underlying(), types.Typ[types.Bool])
}

// unique makes a name that nothing else has.
func (l *lowerer) unique(name string) string {
	l.names[name]++
	n := l.names[name]
	if n == 1 {
		return name
	}
	for {
		fresh := name + "·" + strconv.Itoa(n)
		if l.names[fresh] == 0 {
			l.names[fresh] = 1
			return fresh
		}
		n++
		l.names[name] = n
	}
}

func (l *lowerer) variable(name string, sort program.Sort, pos token.Pos) *program.Variable {
	v := &program.Variable{Name: l.unique(name), Sort: sort, Pos: pos}
	l.depth[v] = l.frame.depth
	return v
}

// input makes what a parameter, or a field of one, stands for.
func (l *lowerer) input(name string, t types.Type, pos token.Pos) entity {
	add := func(v *program.Variable) *program.Variable {
		v.Input = true
		l.fn.Inputs = append(l.fn.Inputs, v)
		return v
	}
	present := &presence{make: func() *program.Variable {
		return add(l.variable(name+" != nil", program.Bool, pos))
	}}
	if isSource(t) {
		return source{present}
	}
	if law, ok := samplerLaw(t); ok {
		scale := func() *program.Variable {
			v := add(l.variable("scale("+name+")", program.Real, pos))
			l.fn.Requires = append(l.fn.Requires, program.Binary{Op: program.Gt, X: program.Ref{Var: v}, Y: number(0, program.Real)})
			return v
		}
		return &sampler{law: law, make: scale, presence: present}
	}
	if isAmount(t) {
		v := add(l.variable(name, program.Real, pos))
		l.fn.Requires = append(l.fn.Requires, program.Binary{Op: program.Ge, X: program.Ref{Var: v}, Y: number(0, program.Real)})
		return amount{v}
	}
	if types.TypeString(t, nil) == "*math/big.Rat" {
		return ratio{add(l.variable(name, program.Real, pos))}
	}
	if sort, ok := sortOf(t); ok && !isError(t) {
		v := add(l.variable(name, sort, pos))
		v.Natural, v.Bits = isUnsigned(t), bitsOf(t)
		return scalar{v}
	}
	if sort, ok := elementSort(t); ok {
		v := add(l.variable(name, sort, pos))
		e := t.Underlying().(*types.Slice).Elem()
		v.Slice, v.Natural, v.Bits = true, isUnsigned(e), bitsOf(e)
		return slice{v}
	}
	if s, ok := t.Underlying().(*types.Slice); ok && isString(s.Elem()) {
		// Texts are known by numbers; only how many there are can be told from them.
		v := add(l.variable(name, program.Int, pos))
		v.Slice = true
		l.texts[v] = true
		return slice{v}
	}
	if m, ok := t.Underlying().(*types.Map); ok {
		if sort, ok := sortOf(m.Elem()); ok && !isError(m.Elem()) {
			v := add(l.variable(name, sort, pos))
			v.Slice, v.Natural, v.Bits = true, isUnsigned(m.Elem()), bitsOf(m.Elem())
			return mapping{v}
		}
	}
	if e, ok := streamElement(t); ok {
		if sort, ok := sortOf(e); ok && !isError(e) {
			v := add(l.variable(name, sort, pos))
			v.Slice, v.Stream, v.Natural, v.Bits = true, true, isUnsigned(e), bitsOf(e)
			return slice{v}
		}
	}
	if isYield(name, t) {
		return consumer{}
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return newRecord(u, func(i int) entity {
			f := u.Field(i)
			return l.input(name+"."+f.Name(), f.Type(), f.Pos())
		})
	case *types.Pointer:
		if _, ok := u.Elem().Underlying().(*types.Struct); ok {
			l.pointers = append(l.pointers, inputPointer{name, u.Elem()})
			return pointer{l.input(name, u.Elem(), pos), present}
		}
	}
	if isString(t) {
		return text{}
	}
	return unknown{t}
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

func newRecord(t *types.Struct, field func(i int) entity) *record {
	return &record{typ: t, fields: make([]entity, t.NumFields()), make: field}
}

func (s *sampler) scaleVariable() *program.Variable {
	if s.scale == nil {
		s.scale = s.make()
	}
	return s.scale
}

func (p *presence) variable() *program.Variable {
	if p.v == nil {
		p.v = p.make()
	}
	return p.v
}

// local makes a variable of the program, with Go's zero value.
func (l *lowerer) local(name string, t types.Type, pos token.Pos) entity {
	if sort, ok := heldSort(t); ok {
		v := l.variable(name, sort, pos)
		if isError(t) {
			l.isError[v] = true
		}
		return scalar{v}
	}
	if s, ok := t.Underlying().(*types.Slice); ok && !isError(s.Elem()) {
		if sort, ok := heldSort(s.Elem()); ok {
			v := l.variable(name, sort, pos)
			v.Slice = true
			return slice{v}
		}
	}
	if a, ok := t.Underlying().(*types.Array); ok && a.Len() > 0 && !isError(a.Elem()) {
		if sort, ok := heldSort(a.Elem()); ok {
			v := l.variable(name, sort, pos)
			v.Slice = true
			l.arrays[v] = a.Len()
			return slice{v}
		}
	}
	if columns, ok := l.columns(name, t, pos); ok {
		return rows{columns}
	}
	if u, ok := t.Underlying().(*types.Struct); ok && !isSource(t) {
		r := newRecord(u, nil)
		for i := range r.fields {
			f := u.Field(i)
			r.fields[i] = l.local(name+"."+f.Name(), f.Type(), pos)
		}
		return r
	}
	return unknown{t}
}

// bitsOf is the size of an integer type, 0 of others.
func bitsOf(t types.Type) uint {
	b, ok := t.Underlying().(*types.Basic)
	if !ok || b.Info()&types.IsInteger == 0 {
		return 0
	}
	return uint(8 * types.SizesFor("gc", "amd64").Sizeof(b))
}
