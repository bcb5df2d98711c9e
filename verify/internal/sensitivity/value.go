package sensitivity

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"math/big"
)

// A Refusal says why something has no finite sensitivity, or no static cost.
type Refusal struct {
	Pos    token.Pos
	Reason string
	Hint   string // the nearest thing that is accepted, or ""
}

// A bound is on a distance, as a multiple of that of a source.
type bound struct {
	most     Expr
	infinite *Refusal
}

// An env says how far a number moves: at most the sum of its bounds times the
// distances of the sources. Sources are the private inputs, by their names, and
// within the analysis numbers that are solved for later.
type env map[string]bound

// unit is the source whose distance is 1: bounds on sizes are in terms of it.
const unit = "·1"

func (e env) add(f env) env { return e.join(f, func(x, y Expr) Expr { return x.add(y) }) }

func (e env) max(f env, known *facts) env { return e.join(f, known.max) }

func (e env) join(f env, op func(x, y Expr) Expr) env {
	if len(f) == 0 {
		return e
	}
	if len(e) == 0 {
		return f
	}
	out := maps.Clone(e)
	for s, b := range f {
		old, ok := out[s]
		switch {
		case !ok:
			out[s] = b
		case old.infinite != nil:
		case b.infinite != nil:
			out[s] = b
		default:
			out[s] = bound{most: op(old.most, b.most)}
		}
	}
	return out
}

// scale multiplies by what is not negative. Zero times infinity is infinite: a
// product that is 0 is known before it comes to bounds, and nothing else may turn an
// infinite distance into none.
func (e env) scale(by Expr) env {
	out := env{}
	for s, b := range e {
		if b.infinite == nil {
			b.most = b.most.mul(by)
			if len(b.most.terms) == 0 {
				continue
			}
		}
		out[s] = b
	}
	return out
}

// infinite is an env over the same sources without bounds.
func (e env) infinite(why *Refusal) env {
	out := env{}
	for s, b := range e {
		if b.infinite == nil {
			b = bound{infinite: why}
		}
		out[s] = b
	}
	return out
}

func (e env) refusal() *Refusal {
	for _, s := range sortedKeys(e) {
		if e[s].infinite != nil {
			return e[s].infinite
		}
	}
	return nil
}

// A known is what is known of an atom of the analysis.
type known struct {
	env    env   // how far it moves; nothing if it is public
	size   env   // a bound on its size, nil if there is none
	lo, hi *Expr // bounds
	whole  bool
	// rational is the value of a *big.Rat that nothing may change.
	rational *Expr
	serial   int // when it was made; parameters have 0
	// most bounds the index of a loop, which is not negative.
	most     *Expr
	measure  *measure // of a vector
	entry    *entry   // an element of one
	quotient *[2]Expr // what was divided, by private data
	// pieces are set on a number that is one of two.
	pieces *pieces
	// rows is the object, of private records, that the number is the length of.
	rows int
	// only are branches without which the number is 0.
	only map[int]bool
}

// pieces are what a number is where a comparison holds, and where it does not.
type pieces struct {
	test    comparison
	yes, no Expr
}

type kind uint8

const (
	plain      kind = iota // a number, or what is only compared and passed on
	ref                    // a slice, array or map
	record                 // a struct
	tuple                  // results
	function               // a func
	noisy                  // a draw that no number was added to yet
	source                 // a *noise.Source
	private                // a dataset.Dataset
	divided                // the parts of dataset.Partition
	mechanical             // a mechanism
)

// A value is what a variable holds.
type value struct {
	kind   kind
	sym    Expr             // plain: the number, in atoms
	test   *comparison      // plain: the comparison that it is the outcome of
	yes    []comparison     // plain: those that hold where it is true, if it is made of several
	no     []comparison     // and where it is false
	branch int              // of a condition: the branch that it leads to
	obj    int              // ref
	fields map[string]value // record, mechanical
	base   string           // record: the name of the whole, of whose fields nothing else is known
	elems  []value          // tuple
	fn     *closure
	draw   *draw
	env    env    // private: the stability
	path   []part // private, divided
	// roots, of private and divided, are how far the records move that its budgets are
	// charged for, by datasets that were made of such: parameters, or dataset.New.
	roots map[string]env
	name  string // mechanical: its constructor
	id    int    // private, divided, mechanical, source: which one it is
}

type comparison struct {
	op   token.Token
	x, y Expr
}

// A closure is a function with the frame that it was made in.
type closure struct {
	pkg   *Package
	typ   *ast.FuncType
	recv  *ast.FieldList
	body  *ast.BlockStmt
	frame int
	self  *value // the bound receiver
	name  string
	fn    *types.Func // nil of a literal, and then body stands
}

// An object is what a slice, array or map refers to. Objects are not changed: a
// heap holds the current one for each number.
type object struct {
	id  int
	bag bool // private length, no order: its distance is the symmetric difference
	// table is set on maps, put on those that all of what was put in is one constant.
	table  bool
	put    string
	empty  bool   // table: nothing was put in it
	varied bool   // table: more than one constant was put in it
	env    [3]env // in l1, l2 and linf; all the same for a bag
	keys   env    // table: how far the set of keys moves
	// What was added since the head of the loop in whose name base was given: its
	// distance, and its size. An object of which something was overwritten has no base.
	base  string
	moved [3]env
	added [3]env
	only  map[int]bool // the branches that something was added in, if in no other
	size  [3]env       // bounds on norms, nil if there is none
	// length of slices and arrays.
	length Expr
	elem   *value // of a bag: an element, as far as it is known
	// slot is what stands at the index of the loop, since that began.
	slot *slot
	// zero: nothing but zeros was put in it, outside of its slot.
	zero bool
	// made is the object, of private records, of which it holds a number for each.
	made int
	// number is the type of its elements, which a generic function does not say.
	number types.Type
	row    *rowOf
	// view is set on rows, which are not written to.
	view bool
	// spare: there may be room behind its end. given: a parameter's.
	spare, given bool
	uneven       bool // the lengths of its rows may be private
	depth        int
}

type slot struct {
	loop    int
	val     value
	written bool // in some branch
	always  bool // in all branches
	// appended: the element was put behind what there was.
	appended bool
	// at is the number of the object once the slot was set, and under the one before, where
	// the slot is the last that was changed of it.
	at, under int
}

// rest numbers what an object is but for its slot: two that have the same differ in their
// slots at most.
func (o *object) rest() int {
	if o.slot != nil && o.slot.at == o.id {
		return o.slot.under
	}
	return o.id
}

const (
	l1 = iota
	l2
	linf
)

func same(e env) [3]env { return [3]env{e, e, e} }

// A state is what holds at a point of the program.
type state struct {
	vars  map[place]value
	heap  map[int]*object
	items []item
	spent map[int]bool // draws that were added to a number or used otherwise
	under []int        // the branches that it is in: number, negative in else
}

type place struct {
	frame int
	obj   types.Object
}

func (s *state) clone() *state {
	return &state{maps.Clone(s.vars), maps.Clone(s.heap), s.items[:len(s.items):len(s.items)], maps.Clone(s.spent), s.under[:len(s.under):len(s.under)]}
}

// A draw is a draw of noise.
type draw struct {
	id    int
	law   string
	scale Expr
	round *loop // the innermost loop that it was made in
	pos   token.Pos
	sign  int
}

func one() Expr { return Expr{[]term{{coef: big.NewRat(1, 1)}}} }
