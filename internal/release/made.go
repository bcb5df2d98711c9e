package release

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
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

// A Remade release is one that is made of what another has released: see stability.Made.
type Remade struct {
	Release Release // the one that is made, with the noise that it has then, and the bounds of the other
	// Most is of how many of the other's groups one is made, at most; 1 where it is the same release.
	Most int
	made *stability.Made
	of   *Release // the other
	// keys of the one that is made, if they are known, and, by the other's groups, which of these each is in; −1: in none.
	keys   [][]sqltype.Value
	groups []int32
	cells  int // groups of the other
	// ofDomains are those of the other's keys.
	ofDomains [][]sqltype.Value
}

// Remake returns a release as it is where it is made of another, or nil where it cannot be. domains are the values of
// the keys of both; r needs no noise.
func Remake(r, of *Release, domains, ofDomains [][]sqltype.Value) *Remade {
	if of.trees() > 0 {
		return nil
	}
	cells := max(1, len(of.Components)+len(of.Keys)) // as Store counts, where groups are known
	for _, values := range ofDomains {
		if cells *= len(values); cells > MostStored {
			return nil
		}
	}
	m := r.MadeOf(of.Release)
	if m == nil {
		return nil
	}
	x := &Remade{Release: *of, Most: 1, made: m, of: of, ofDomains: ofDomains}
	if m.Same {
		x.Release.Release = r.Release
		if !slices.EqualFunc(domains, ofDomains, func(a, b []sqltype.Value) bool { return len(a) == len(b) && listed(a, b) }) {
			return nil
		}
		if !r.Private && !r.Chosen {
			x.keys = x.Release.combinations(ofDomains)
			x.cells = len(x.keys)
		}
		return x
	}
	bounded := *r.Release
	bounded.MaxGroups, bounded.MaxRows, bounded.OneRow, bounded.Kept = of.MaxGroups, of.MaxRows, of.OneRow, of.Kept
	x.Release = Release{Release: &bounded, bounds: &sync.Map{}}
	x.keys = x.Release.combinations(domains)
	if !x.group(domains, ofDomains) {
		return nil
	}
	for _, c := range m.Components {
		n := of.Noise[c]
		if x.Most > 1 {
			n.Additive, n.Terms = added{n.Additive, x.Most}, n.Terms*x.Most
		}
		x.Release.Noise = append(x.Release.Noise, n)
	}
	return x
}

// combinations are the keys of the groups of complete domains.
func (r *Release) combinations(domains [][]sqltype.Value) [][]sqltype.Value {
	keys := [][]sqltype.Value{nil}
	for _, values := range domains {
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

// listed reports whether all values of a public domain are among others.
func listed(values, among []sqltype.Value) bool {
	known := map[string]bool{}
	for _, v := range among {
		known[sqltype.Key(v)] = true
	}
	return !slices.ContainsFunc(values, func(v sqltype.Value) bool { return !known[sqltype.Key(v)] })
}

// group finds of which groups of the other those that are made are made.
func (x *Remade) group(domains, ofDomains [][]sqltype.Value) bool {
	place := make([]map[string]int32, len(domains))
	for j, values := range domains {
		place[j] = map[string]int32{}
		if !listed(values, ofDomains[x.made.Keys[j]]) { // of a public table that has changed
			return false
		}
		for i, v := range values {
			place[j][sqltype.Key(v)] = int32(i)
		}
	}
	for _, values := range ofDomains {
		if slices.Contains(values, nil) {
			return false
		}
	}
	others := x.Release.combinations(ofDomains)
	x.cells, x.groups = len(others), make([]int32, len(others))
	counts := make([]int, len(x.keys))
	for i, key := range others {
		keeps, ok := x.made.Keeps(key)
		if !ok {
			return false
		}
		at := int32(0)
		for j := range domains {
			p, there := place[j][sqltype.Key(key[x.made.Keys[j]])]
			keeps = keeps && there
			at = at*int32(len(domains[j])) + p
		}
		if x.groups[i] = -1; keeps {
			x.groups[i] = at
			counts[at]++
		}
	}
	x.Most = 0
	for _, n := range counts {
		x.Most = max(x.Most, n)
	}
	return x.Most == 1 || x.Most > 1 && !x.made.Alone()
}

// Same reports whether the release is the other one itself.
func (x *Remade) Same() bool { return x.made.Same }

// CutsNoMore reports whether bounds and domains of the other release leave out no more than a release's own would.
func (x *Remade) CutsNoMore(than *Release) bool {
	return x.Same() || x.made.CutsNoMore(than.Release, x.of.Release, x.ofDomains)
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

// AsPrecise reports whether each of its noises is no wider than the one that a release has by a design, in its variance and as its
// interval with the probability beta is.
func (x *Remade) AsPrecise(than *Release, beta *big.Rat) (bool, error) {
	for i := range x.Release.Noise {
		own, fresh := &x.Release.Noise[i], &than.Noise[i]
		if !(own.Variance() <= fresh.Variance()*(1+1e-12)) { // which are rounded
			return false, nil
		}
		a, err := own.Bound(beta)
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
	t := &Table{release: r, keys: x.keys, noisy: make([][]*big.Int, len(r.Components)), trees: make([][]*tree, len(r.Components))}
	cells := x.cells
	if r.Private || r.Chosen {
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
	for i, c := range x.made.Components {
		if c >= len(s.Noisy) || len(s.Noisy[c]) != cells || slices.Contains(s.Noisy[c], nil) {
			return nil, errShape
		}
		if x.groups == nil {
			t.noisy[i] = s.Noisy[c]
			continue
		}
		t.noisy[i] = make([]*big.Int, len(x.keys))
		for g := range t.noisy[i] {
			t.noisy[i][g] = new(big.Int)
		}
		for cell, g := range x.groups {
			if g >= 0 {
				t.noisy[i][g].Add(t.noisy[i][g], s.Noisy[c][cell])
			}
		}
	}
	return t, nil
}

// added is the noise of so many noisy numbers of one law together, each of a draw of its own. Of fewer it is no wider, since sums
// of symmetric unimodal variables are the less peaked the more they are (Birnbaum 1948).
type added struct {
	mechanism.Additive
	terms int
}

// AddTo is nobody's: the noise was drawn when what is added up was released.
func (added) AddTo(noise.Bits, []*big.Int) error {
	return errors.New("add noise: it is in the values that are added up")
}

// Variance is that of the sum.
func (a added) Variance() float64 { return float64(a.terms) * a.Additive.Variance() }

// mostExact is of how many draws package noise bounds a sum by its law.
const mostExact = 256

// Bound is that of the sum: by its exact law where that is known, and never more than by noiseOfSums.
func (a added) Bound(beta *big.Rat) (*big.Int, error) {
	var best *big.Int
	if _, b, c, ok := sumsOf(a, beta, 1); ok {
		best, _ = big.NewFloat(math.Ceil((math.Sqrt(b) + c) * above)).Int(nil)
	}
	var exact *big.Int
	var err error
	switch law := a.Additive.(type) {
	case blended:
		if a.terms*len(law.weights) > mostExact {
			break
		}
		if exact, err = (blended{law.Additive, slices.Repeat(law.weights, a.terms)}).Bound(beta); err == nil {
			exact.Add(exact, big.NewInt(int64(a.terms/2))) // each was rounded by itself
		}
	case interface {
		BoundOfSum(n int, beta *big.Rat) (*big.Int, error)
	}:
		if a.terms <= mostExact {
			exact, err = law.BoundOfSum(a.terms, beta)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case exact == nil && best == nil:
		return nil, errors.New("bound noise: the law of this sum is not known")
	case best == nil || exact != nil && exact.Cmp(best) < 0:
		return exact, nil
	}
	return best, nil
}
