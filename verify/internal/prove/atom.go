package prove

import (
	"math/big"
	"slices"
	"strings"

	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// An atom is k times what is no sum.
type atom struct {
	x p.Expression
	k *big.Rat
}

// atoms takes a sum apart; false if a product of two of them is in it.
func atoms(x p.Expression) (map[string]atom, bool) {
	scale := func(s map[string]atom, k *big.Rat) map[string]atom {
		for name, t := range s {
			s[name] = atom{t.x, new(big.Rat).Mul(t.k, k)}
		}
		return s
	}
	switch x := x.(type) {
	case p.Number:
		return map[string]atom{}, true
	case p.Ref, p.Element:
		return map[string]atom{x.String(): {x, rational(1)}}, true
	case p.Unary:
		if x.Op == p.Sub {
			s, ok := atoms(x.X)
			return scale(s, rational(-1)), ok
		}
	case p.Call:
		if x.Func == "real" {
			return atoms(x.Args[0])
		}
		return map[string]atom{x.String(): {x, rational(1)}}, true
	case p.Binary:
		switch x.Op {
		case p.Min, p.Max:
			return map[string]atom{x.String(): {x, rational(1)}}, true
		case p.Add, p.Sub:
			s, ok1 := atoms(x.X)
			t, ok2 := atoms(x.Y)
			if x.Op == p.Sub {
				t = scale(t, rational(-1))
			}
			if !ok1 || !ok2 {
				return nil, false
			}
			for name, u := range t {
				if old, ok := s[name]; ok {
					u.k = new(big.Rat).Add(u.k, old.k)
				}
				if s[name] = u; u.k.Sign() == 0 {
					delete(s, name)
				}
			}
			return s, true
		case p.Mul:
			for range 2 {
				if n, ok := x.X.(p.Number); ok {
					s, ok := atoms(x.Y)
					return scale(s, n.Value), ok
				}
				x.X, x.Y = x.Y, x.X
			}
		case p.Quo:
			if n, ok := x.Y.(p.Number); ok && n.Value.Sign() != 0 && p.SortOf(x) == p.Real {
				s, ok := atoms(x.X)
				return scale(s, new(big.Rat).Inv(n.Value)), ok
			}
		}
	}
	return nil, false
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}
