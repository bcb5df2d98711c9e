package prove

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// A template is the alignments of a draw among which is searched: a decision tree
// over what the code after the draw asks of the sample, with leaves c₀·bound +
// Σ cᵢ·diff(vᵢ) of small whole coefficients. The vᵢ are what the sample is added to:
// -1 of it is the null coupling, which makes the sum equal in both runs.
type template struct {
	draw   *p.Draw
	shift  p.Expression // with a reference to a leaf in the place of each
	leaves []*leaf
}

// A leaf is one of its choices, the simple ones first, which are sums of its parts.
type leaf struct {
	at      *p.Variable // its place in the template
	parts   []p.Expression
	choices []choice
}

// A choice is a shift, and how far from simple it is.
type choice struct {
	shift  p.Expression
	weight int
	terms  []multiple
}

// A multiple is that of a part.
type multiple struct{ k, part int }

// A depth is what the trees ask.
type depth uint8

const (
	plain   depth = iota // how the sample compares, and nothing of outcomes
	outcome              // which outcome is looked at
	sample               // how the sample compares, too
	later                // and whether there are later iterations, of samples that are used in them, and what decides whether the sample is looked at
)

// maxConditions bounds the depth of a tree, maxDistances the sums in a leaf.
const (
	maxConditions = 3
	maxDistances  = 4
	mostBound     = 3 // times a bound, at most
	mostDistance  = 2 // times a distance
)

// templates are those of a function's draws; a draw that the source aligns has its
// shift.
func templates(s *static, c *claim.Claim, outcomes []*p.Variable, depth depth) []template {
	var ts []template
	for _, d := range s.draws {
		if !shifted(d.Law) {
			continue
		}
		t := template{draw: d}
		if d.Align != nil {
			t.shift = d.Align
		} else {
			if depth == plain {
				outcomes = nil
			}
			o := observe(s, d, outcomes, depth)
			t.shift = t.tree(o.conditions, leafOf(bounds(c, d.To.Sort), o.distances))
		}
		ts = append(ts, t)
	}
	return ts
}

func (t *template) tree(conditions []p.Expression, l leaf) p.Expression {
	if len(conditions) == 0 {
		l.at = &p.Variable{Name: fmt.Sprintf("leaf %d of %s", len(t.leaves), t.draw.To.Name)}
		t.leaves = append(t.leaves, &l)
		return p.Ref{Var: l.at}
	}
	others := slices.DeleteFunc(slices.Clone(conditions[1:]), func(c p.Expression) bool { return excluded(conditions[0], c) })
	return p.If3{Cond: conditions[0], Then: t.tree(others, l), Else: t.tree(conditions[1:], l)}
}

// excluded reports whether two conditions say that one outcome is two different numbers.
func excluded(x, y p.Expression) bool {
	a, ok1 := x.(p.Binary)
	b, ok2 := y.(p.Binary)
	if !ok1 || !ok2 || a.Op != p.Eq || b.Op != p.Eq || a.Y.String() != b.Y.String() {
		return false
	}
	m, ok1 := a.X.(p.Number)
	n, ok2 := b.X.(p.Number)
	return ok1 && ok2 && m.Value.Cmp(n.Value) != 0
}

// leafOf has the choices of small coefficients, of which at most two are not 0.
func leafOf(bounds, distances []p.Expression) leaf {
	var zero p.Expression = p.Number{Value: new(big.Rat), Sort: p.Int}
	type part struct {
		x      p.Expression
		weight int
		most   int
	}
	var parts []part
	for _, b := range bounds {
		parts = append(parts, part{b, 3, mostBound})
	}
	for i, d := range distances {
		parts = append(parts, part{d, 2 + min(i, 1), mostDistance})
	}
	times := func(k int, x p.Expression) p.Expression {
		return p.Binary{Op: p.Mul, X: p.Number{Value: rational(int64(k)), Sort: p.Int}, Y: x}
	}
	all := []choice{{shift: zero}}
	for i, a := range parts {
		for k := -a.most; k <= a.most; k++ {
			if k == 0 {
				continue
			}
			one := choice{simplify(times(k, a.x)), a.weight*max(k, -k) + (1-sign(k))/2, []multiple{{k, i}}}
			if i >= len(bounds) {
				one.weight = a.weight*max(k, -k) + (1+sign(k))/2 // -diff(x) rather than diff(x)
			}
			all = append(all, one)
			for j, b := range parts[i+1:] {
				for l := -b.most; l <= b.most; l++ {
					if l != 0 {
						two := simplify(p.Binary{Op: p.Add, X: times(k, a.x), Y: times(l, b.x)})
						all = append(all, choice{two, one.weight + b.weight*max(l, -l), []multiple{{k, i}, {l, i + 1 + j}}})
					}
				}
			}
		}
	}
	slices.SortStableFunc(all, func(x, y choice) int { return x.weight - y.weight })
	seen := map[string]bool{}
	return leaf{parts: slices.Concat(bounds, distances), choices: slices.DeleteFunc(all, func(c choice) bool {
		k := c.shift.String()
		defer func() { seen[k] = true }()
		return seen[k]
	})}
}

func sign(k int) int {
	if k < 0 {
		return -1
	}
	return 1
}

// bounds are the different sizes in the adjacencies.
func bounds(c *claim.Claim, s p.Sort) []p.Expression {
	var bs []p.Expression
	seen := map[string]bool{}
	for _, a := range c.Adjacent {
		for _, b := range []p.Expression{a.High, a.Low} {
			if u, ok := b.(p.Unary); ok && u.Op == p.Sub {
				b = u.X
			}
			if n, ok := b.(p.Number); ok {
				if n.Value.Sign() == 0 || s == p.Int && !n.Value.IsInt() {
					continue
				}
				b = p.Number{Value: new(big.Rat).Abs(n.Value), Sort: n.Sort}
			}
			if b != nil && !seen[b.String()] {
				seen[b.String()] = true
				bs = append(bs, b)
			}
		}
	}
	return bs
}
