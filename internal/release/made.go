package release

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// MostStored bounds the noisy values of a table that is stored for others to be made of.
const MostStored = 100_000

// A Stored is a released table as books keep it: its noisy numbers, before any post-processing.
type Stored struct {
	Keys  [][]*string  `json:"keys,omitempty"` // one a group, where it was chosen which; texts as sqltype.Format writes them
	Noisy [][]*big.Int `json:"noisy"`          // one a component, then by group
}

// Store returns what books keep of a table, or nil: of a tree, whose noise is drawn as it is read, and of too many values, nothing.
func (t *Table) Store() *Stored {
	r := t.release
	if r.trees() > 0 || len(t.keys)*(len(r.Components)+len(r.Keys)) > MostStored {
		return nil
	}
	s := &Stored{Noisy: t.noisy}
	if !r.Private && !r.Chosen {
		return s
	}
	s.Keys = make([][]*string, len(t.keys))
	for i, key := range t.keys {
		for _, v := range key {
			var text *string
			if v != nil {
				text = new(string)
				*text = sqltype.Format(v)
			}
			s.Keys[i] = append(s.Keys[i], text)
		}
	}
	return s
}

// A Comparable release is one in the form in which it is compared with others.
type Comparable struct {
	*Release
	form    *stability.Form
	domains [][]sqltype.Value // of its keys
}

// Comparable returns the release so, with the values of its keys.
func (r *Release) Comparable(domains [][]sqltype.Value) *Comparable {
	return &Comparable{r, r.Form(), domains}
}

// Relation is stability.Form's.
func (c *Comparable) Relation() string { return c.form.Relation() }

// A Remade release is one that is made of what another has released: see stability.Made.
type Remade struct {
	Release Release // the one that is made, with the bounds of the other, and, once its groups are known, the noise that it has then
	// Most is of how many of the other's groups one is made, at most; 1 where it is the same release. Of groups that a condition
	// picks it is known with Group, and at least this.
	Most   int
	made   *stability.Made
	r, of  *Comparable
	groups []int32 // by the other's groups, which of the release's each is in; −1: in none. nil where it is the same one
}

// Remake returns how a release is made of another, or nil where it cannot be. It looks at no group: where groups are made of
// several, Group says whether they can be. r needs no noise.
func Remake(r, of *Comparable) *Remade {
	if of.trees() > 0 || of.cells() > MostStored {
		return nil
	}
	m := r.form.MadeOf(of.form, slices.EqualFunc(r.domains, of.domains, sameValues))
	if m == nil {
		return nil
	}
	x := &Remade{Release: *of.Release, Most: 1, made: m, r: r, of: of}
	if m.Same {
		x.Release.Release = r.Release.Release
		return x
	}
	bounded := *r.Release.Release
	bounded.MaxGroups, bounded.MaxRows, bounded.OneRow, bounded.Kept = of.MaxGroups, of.MaxRows, of.OneRow, of.Kept
	x.Release = Release{Release: &bounded, bounds: &sync.Map{}}
	most := 1 // at least
	if !m.Conditional() {
		for j, values := range of.domains {
			if !slices.Contains(m.Keys, j) {
				most *= len(values)
			}
		}
	}
	if most == 0 || most > 1 && m.Alone() {
		return nil
	}
	x.noise(most)
	return x
}

// cells is how many values are stored of the release, where its groups are known; more than MostStored where that is too many.
func (c *Comparable) cells() int {
	cells := max(1, len(c.Components)+len(c.Keys)) // as Store counts
	for _, values := range c.domains {
		if cells *= len(values); cells > MostStored {
			break
		}
	}
	return cells
}

// Stored reports whether books keep the release's noisy numbers, where its groups are known.
func (c *Comparable) Stored() bool { return c.cells() <= MostStored }

// noise gives each component that of so many of the other's groups together.
func (x *Remade) noise(most int) {
	x.Most, x.Release.Noise = most, nil
	for _, parts := range x.made.Components {
		x.Release.Noise = append(x.Release.Noise, x.of.together(parts, most))
	}
}

// combinations are the keys of the groups of complete domains.
func (c *Comparable) combinations() [][]sqltype.Value {
	keys := [][]sqltype.Value{nil}
	for _, values := range c.domains {
		var longer [][]sqltype.Value
		for _, k := range keys {
			for _, v := range values {
				longer = append(longer, append(k[:len(k):len(k)], v))
			}
		}
		keys = longer
	}
	return keys
}

func sameValues(a, b []sqltype.Value) bool { return len(a) == len(b) && listed(a, b) }

// listed reports whether all values of a public domain are among others.
func listed(values, among []sqltype.Value) bool {
	known := map[string]bool{}
	for _, v := range among {
		known[sqltype.Key(v)] = true
	}
	return !slices.ContainsFunc(values, func(v sqltype.Value) bool { return !known[sqltype.Key(v)] })
}

// Cells is how many of the other's groups Group looks at.
func (x *Remade) Cells() int {
	if x.Same() {
		return 0
	}
	cells := 1
	for _, values := range x.of.domains {
		cells *= len(values) // MostStored at most
	}
	return cells
}

// Group finds of which groups of the other those that are made are made, and what noise they have. It reports whether they can be.
func (x *Remade) Group() bool {
	if x.Same() {
		return true
	}
	place := make([][]int32, len(x.of.domains)) // by the other's keys and their values: what it adds to the place of a group, or −1
	for j, values := range x.of.domains {
		if slices.Contains(values, nil) {
			return false
		}
		place[j] = make([]int32, len(values)) // of a key that the release has not, 0
	}
	groups := 1
	for i, values := range slices.Backward(x.r.domains) {
		at, of := map[string]int32{}, x.made.Keys[i]
		for k, v := range values {
			at[sqltype.Key(v)] = int32(k * groups)
		}
		found := 0
		for k, v := range x.of.domains[of] {
			p, there := at[sqltype.Key(v)]
			if place[of][k] = p; there {
				found++
			} else {
				place[of][k] = -1
			}
		}
		if found < len(values) { // of a public table that has changed
			return false
		}
		groups *= len(values) // of the other's as many at most
	}
	x.groups = make([]int32, x.Cells())
	counts, key := make([]int, groups), make([]sqltype.Value, len(x.of.domains))
	for i := range x.groups {
		rest, at, keeps := i, int32(0), true
		for j, values := range slices.Backward(x.of.domains) {
			k := rest % len(values)
			rest /= len(values)
			key[j] = values[k]
			if p := place[j][k]; p >= 0 {
				at += p
			} else {
				keeps = false
			}
		}
		kept, ok := x.made.Keeps(key)
		if !ok {
			return false
		}
		if x.groups[i] = -1; keeps && kept {
			x.groups[i] = at
			counts[at]++
		}
	}
	most := 0
	for _, n := range counts {
		most = max(most, n)
	}
	if most == 0 || most > 1 && x.made.Alone() {
		x.groups = nil
		return false
	}
	x.noise(most)
	return true
}

// GroupAs is Group where another way to make the same release has groups that it shares, and reports whether it has. It looks at no group.
func (x *Remade) GroupAs(other *Remade) bool {
	if x.Same() || other.groups == nil || !x.made.Picks(other.made) ||
		!slices.EqualFunc(x.of.domains, other.of.domains, sameValues) {
		return false
	}
	if other.Most > 1 && x.made.Alone() {
		return false
	}
	x.groups = other.groups
	x.noise(other.Most)
	return true
}

// Same reports whether the release is the other one itself.
func (x *Remade) Same() bool { return x.made.Same }

// CutsNoMore reports whether bounds and domains of the other release leave out no more than a release's own would.
func (x *Remade) CutsNoMore(than *Release) bool {
	if x.Same() {
		return true
	}
	alike := true
	for i, values := range x.r.domains {
		alike = alike && sameValues(values, x.of.domains[x.made.Keys[i]])
	}
	return x.made.CutsNoMore(than.Release, x.of.Release.Release, x.of.domains, alike)
}

// TotalVariance compares ways to make one release.
func (r *Release) TotalVariance() *big.Float {
	sum := new(big.Float)
	for i, n := range r.Noise {
		if n.Additive == nil { // of a choice, which has its own
			continue
		}
		grid := new(big.Float).SetRat(r.Components[i].Grid)
		v := new(big.Float).Mul(grid, grid)
		sum.Add(sum, v.Mul(v, big.NewFloat(min(n.Variance(), math.MaxFloat64))))
	}
	return sum
}

// MayBePrecise reports whether AsPrecise can be true, by the variance of as many groups as are known to be added up.
func (x *Remade) MayBePrecise(than *Release) bool {
	for i := range x.Release.Noise {
		if !(x.Release.Noise[i].Variance() <= than.Noise[i].Variance()*(1+1e-12)) { // which are rounded
			return false
		}
	}
	return true
}

// AsPrecise reports whether each of its noises is no wider than the one that a release has by a design, in its variance and as its
// interval with the probability beta is.
func (x *Remade) AsPrecise(than *Release, beta *big.Rat) (bool, error) {
	if !x.MayBePrecise(than) {
		return false, nil
	}
	for i := range x.Release.Noise {
		a, err := x.Release.Noise[i].Bound(beta)
		if err != nil {
			return false, err
		}
		b, err := than.bound(i, beta)
		if err != nil || a.Cmp(b) > 0 {
			return false, err
		}
	}
	return true, nil
}

// Table makes the released table of what is stored of the other one.
func (x *Remade) Table(s *Stored) (*Table, error) {
	if s == nil {
		return nil, errors.New("read stored release: it is not stored")
	}
	r := &x.Release
	t := &Table{release: r, noisy: make([][]*big.Int, len(r.Components)), trees: make([][]*tree, len(r.Components))}
	cells := len(x.groups)
	switch {
	case !r.Private && !r.Chosen:
		if t.keys = x.r.combinations(); x.Same() {
			t.keys = x.of.combinations() // as they are stored
			cells = len(t.keys)
		}
	default:
		cells = len(s.Keys)
		for _, texts := range s.Keys {
			key := make([]sqltype.Value, len(texts))
			if len(texts) != len(r.Keys) {
				return nil, errShape
			}
			for j, text := range texts {
				if text == nil {
					continue
				}
				var err error
				if key[j], err = sqltype.ParseValue(r.Keys[j].Expr.Type(), *text); err != nil {
					return nil, fmt.Errorf("read stored release: %w", err)
				}
			}
			t.keys = append(t.keys, key)
		}
	}
	if r.Chosen {
		return t, nil
	}
	for i, parts := range x.made.Components {
		t.noisy[i] = make([]*big.Int, len(t.keys))
		for g := range t.noisy[i] {
			t.noisy[i][g] = new(big.Int)
		}
		for _, p := range parts {
			if p.Component >= len(s.Noisy) || len(s.Noisy[p.Component]) != cells || slices.Contains(s.Noisy[p.Component], nil) {
				return nil, errShape
			}
			for cell, n := range s.Noisy[p.Component] {
				g := cell
				if !x.Same() {
					g = int(x.groups[cell])
				}
				if g >= 0 {
					t.noisy[i][g].Add(t.noisy[i][g], new(big.Int).Mul(n, p.Times))
				}
			}
		}
	}
	return t, nil
}
