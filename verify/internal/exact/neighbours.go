package exact

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A pair is two neighbours: for each input of the function, in its order, the
// elements in either run; a scalar has one.
type pair struct{ first, second [][]rational }

func (p pair) clone() pair {
	var q pair
	for i := range p.first {
		q.first = append(q.first, slices.Clone(p.first[i]))
		q.second = append(q.second, slices.Clone(p.second[i]))
	}
	return q
}

// swapped is the pair the other way round.
func (p pair) swapped() pair { return pair{p.second, p.first} }

// equal reports whether nothing differs.
func (p pair) equal() bool {
	return slices.EqualFunc(p.first, p.second, func(x, y []rational) bool { return slices.EqualFunc(x, y, same) })
}

// bind makes the values of a run.
func (c *code) bind(run [][]rational) []value {
	all := make([]value, len(run))
	for i, v := range c.function.Inputs {
		if !v.Slice {
			all[i].scalar = constant(run[i][0])
			continue
		}
		all[i].elements = make([]*form, len(run[i]))
		for j, x := range run[i] {
			all[i].elements[j] = constant(x)
		}
	}
	return all
}

// inputs are a run's values by name.
func (c *code) inputs(run [][]rational) program.Inputs {
	in := program.Inputs{}
	for i, v := range c.function.Inputs {
		if !v.Slice {
			in[v.Name] = program.Value{Number: new(big.Rat).Set(run[i][0].rat())}
			continue
		}
		elements := make([]*big.Rat, len(run[i]))
		for j, x := range run[i] {
			elements[j] = new(big.Rat).Set(x.rat())
		}
		in[v.Name] = program.Value{Elements: elements}
	}
	return in
}

// pairOf reads a pair of inputs, and reports false where one is missing.
func (c *code) pairOf(p program.Pair) (pair, bool) {
	var q pair
	for _, v := range c.function.Inputs {
		for i, in := range []program.Inputs{p.First, p.Second} {
			given, ok := in[v.Name]
			var elements []rational
			if v.Slice {
				for _, e := range given.Elements {
					if e == nil {
						return q, false
					}
					elements = append(elements, rationalOf(e))
				}
			} else {
				if !ok || given.Number == nil {
					return q, false
				}
				elements = []rational{rationalOf(given.Number)}
			}
			if i == 0 {
				q.first = append(q.first, elements)
			} else {
				q.second = append(q.second, elements)
			}
		}
	}
	return q, true
}

// concrete evaluates an expression over the inputs of a run.
func (c *code) concrete(e program.Expression, run []value) (*form, error) {
	x := &explorer{code: c}
	s := &state{vars: make([]value, len(c.index))}
	copy(s.vars, run)
	f, err := x.scalar(s, e)
	if err == nil && !f.concrete() {
		err = unsupported("%v", e)
	}
	return f, err
}

// holds reports whether conditions hold of a run.
func (c *code) holds(conditions []program.Expression, run []value) bool {
	for _, e := range conditions {
		f, err := c.concrete(e, run)
		if err != nil || !f.known() || f.c.sign() == 0 {
			return false
		}
	}
	return true
}

// admissible reports whether a run meets what the function and the claim require.
func (c *code) admissible(cl *claim.Claim, run [][]rational) bool {
	for i, v := range c.function.Inputs {
		if !v.Slice && len(run[i]) != 1 {
			return false
		}
		for _, x := range run[i] {
			if v.Sort != program.Real && !x.isInt() || !held(v, x) || v.Natural && x.sign() < 0 ||
				v.Sort == program.Bool && x.cmp(integer(0)) != 0 && x.cmp(integer(1)) != 0 {
				return false
			}
		}
	}
	values := c.bind(run)
	return c.holds(cl.Requires, values) && c.holds(c.function.Requires, values)
}

// held reports whether the type of an input holds a number.
func held(v *program.Variable, x rational) bool {
	if v.Bits == 0 {
		return true
	}
	low, bits := new(big.Int), v.Bits
	if !v.Natural {
		bits--
		low.Neg(low.Lsh(big.NewInt(1), bits))
	}
	return x.cmp(rationalOfInt(low)) >= 0 && x.cmp(rationalOfInt(new(big.Int).Lsh(big.NewInt(1), bits))) < 0
}

// between evaluates the bounds of an adjacency on a run, inward where they are no
// rationals.
func (c *code) between(a claim.Adjacency, run []value) (lo, hi rational, err error) {
	if a.Low != nil {
		f, err := c.concrete(a.Low, run)
		if err != nil {
			return lo, hi, err
		}
		if lo = f.c; f.near != nil {
			lo = rationalOf(f.near.Hi())
		}
	}
	f, err := c.concrete(a.High, run)
	if err != nil {
		return lo, hi, err
	}
	if hi = f.c; f.near != nil {
		hi = rationalOf(f.near.Lo())
	}
	return lo, hi, nil
}

// neighbours checks a pair against the claim, whatever made it: both runs are
// admissible, and they differ as the adjacency says, in this order or the other.
func (c *code) neighbours(cl *claim.Claim, p pair) error {
	if !c.admissible(cl, p.first) || !c.admissible(cl, p.second) {
		return fmt.Errorf("%w: the requirements do not hold", ErrInput)
	}
	if c.ordered(cl, p) || c.ordered(cl, p.swapped()) {
		return nil
	}
	return fmt.Errorf("%w: they are no neighbours", ErrInput)
}

func (c *code) ordered(cl *claim.Claim, p pair) bool {
	for i, v := range c.function.Inputs {
		named := false
		for _, a := range cl.Adjacent {
			if a.Input != v {
				continue
			}
			named = true
			// Bounds may speak of inputs that differ: they hold in both runs.
			for _, run := range [][][]rational{p.first, p.second} {
				lo, hi, err := c.between(a, c.bind(run))
				if err != nil || !related(a.Relation, p.first[i], p.second[i], lo, hi) {
					return false
				}
			}
		}
		if !named && !slices.EqualFunc(p.first[i], p.second[i], same) {
			return false
		}
	}
	return true
}

func same(x, y rational) bool { return x.cmp(y) == 0 }

func related(r claim.Relation, x, y []rational, lo, hi rational) bool {
	if r == claim.Bag {
		return integer(int64(symmetricDifference(x, y))).cmp(hi) <= 0
	}
	if len(x) != len(y) {
		return false
	}
	moved := 0
	for i := range x {
		d := y[i].minus(x[i])
		if d.sign() == 0 {
			if r == claim.One {
				continue
			}
		} else {
			moved++
		}
		if d.cmp(lo) < 0 || d.cmp(hi) > 0 {
			return false
		}
	}
	return r != claim.One || moved <= 1
}

// symmetricDifference is that of two multisets.
func symmetricDifference(x, y []rational) int {
	rest := slices.Clone(y)
	n := 0
	for _, e := range x {
		if i := slices.IndexFunc(rest, func(r rational) bool { return same(e, r) }); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		} else {
			n++
		}
	}
	return n + len(rest)
}
