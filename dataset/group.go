package dataset

import "github.com/discreet-dp/discreet/noise"

// A Group is the records that have a key in common, at least one, in random order: a
// function of a group sorts them by all that it depends on.
type Group[K comparable, T any] struct {
	Key     K
	Records []T
}

// GroupBy makes one record of all records with the same key. One on which key panics
// is left out.
//
// Stability 2. Proof. A record that comes or goes is in one group. That group is
// replaced by a larger or smaller one, which is one removed and one added (one of them
// alone if it was empty or becomes so); the others keep their records, and their
// random orders are coupled as equal. ∎
//
// The order is random because the order in which records came is no function of the
// multiset, and a group that neighbours have in common would not be the same.
func GroupBy[T any, K comparable](d Dataset[T], key func(T) K) Dataset[Group[K, T]] {
	groups, s := group(d, key)
	all := make([]Group[K, T], 0, len(groups))
	for _, g := range groups {
		all = append(all, *g)
	}
	return with(s.times(2), all)
}

// group returns the groups in any order, each in random order.
func group[T any, K comparable](d Dataset[T], key func(T) K) (map[K]*Group[K, T], source) {
	if s := d.usable().failed(checkKeys[K]()); s.err != nil {
		return nil, s
	}
	groups := gather(d.records(), key)
	for _, g := range groups {
		if err := shuffle(d.bits, g.Records); err != nil {
			return nil, d.failed(err)
		}
	}
	return groups, d.source
}

func gather[T any, K comparable](records []T, key func(T) K) map[K]*Group[K, T] {
	groups := map[K]*Group[K, T]{}
	each(len(records), func(i int) {
		k := key(records[i])
		g := groups[k]
		if g == nil {
			g = &Group[K, T]{Key: k}
			groups[k] = g
		}
		g.Records = append(g.Records, records[i])
	}, nil)
	return groups
}

// Limit keeps at most k records of each key, chosen at random. One on which key panics
// is left out.
//
// Stability 2: a change is in one group, of which Take's proof holds. (With the records
// themselves as keys, equal ones are not told apart, and it is 1: see DistinctUpTo.)
func Limit[T any, K comparable](d Dataset[T], k int64, key func(T) K) Dataset[T] {
	s := d.usable()
	if k < 1 {
		s = s.failed(refuse("Limit of %d records a key", k))
	}
	if s.err != nil {
		return Dataset[T]{source: s}
	}
	kept, err := atMost(d.bits, d.records(), key, k)
	return with(d.times(2).failed(err), kept)
}

func atMost[T any, K comparable](bits noise.Bits, records []T, key func(T) K, k int64) ([]T, error) {
	if err := checkKeys[K](); err != nil {
		return nil, err
	}
	var all []T
	for _, g := range gather(records, key) {
		kept, err := choose(bits, g.Records, k)
		if err != nil {
			return nil, err
		}
		all = append(all, kept...)
	}
	return all, nil
}

// A Pair is what two datasets have for a key.
type Pair[K comparable, A, B any] struct {
	Key   K
	Left  A
	Right B
}

// Join makes one record of all records with a key that both datasets have, those of
// each in random order. One on which its key panics is left out.
//
// Stability 2 for each side. Proof. A change is in one group of its side, and so in
// one pair, which is replaced, or appears or disappears. ∎ A join of all records with
// all records has none: one record may meet any number. See BoundedJoin.
func Join[A, B any, K comparable](a Dataset[A], b Dataset[B], keyA func(A) K, keyB func(B) K) Dataset[Pair[K, []A, []B]] {
	left, sa := group(a, keyA)
	right, sb := group(b, keyB)
	var all []Pair[K, []A, []B]
	for k, l := range left {
		if r := right[k]; r != nil {
			all = append(all, Pair[K, []A, []B]{k, l.Records, r.Records})
		}
	}
	return with(sa.times(2).and(sb.times(2)), all)
}

// A JoinBound says how many records of each side a key may have.
type JoinBound struct{ Left, Right int64 }

// BoundedJoin joins records as SQL does, each of the left with each of the right that
// has its key, after a random choice of at most as many of a key as the bound says.
//
// Stability 2·Right for the left side, 2·Left for the right one. Proof. The choice has
// stability 2 (Limit), and each record that is chosen meets at most so many of the
// other side. ∎ (McSherry 2009 bounds the join so as well.)
func BoundedJoin[A, B any, K comparable](a Dataset[A], b Dataset[B], keyA func(A) K, keyB func(B) K, bound JoinBound) Dataset[Pair[K, A, B]] {
	left, sa := limited(a, keyA, bound.Left)
	right, sb := limited(b, keyB, bound.Right)
	if sa.err != nil || sb.err != nil {
		return Dataset[Pair[K, A, B]]{source: sa.and(sb)}
	}
	var all []Pair[K, A, B]
	for k, l := range left {
		if r := right[k]; r != nil {
			for _, x := range l.Records {
				for _, y := range r.Records {
					all = append(all, Pair[K, A, B]{k, x, y})
				}
			}
		}
	}
	return with(sa.times(2).times(bound.Right).and(sb.times(2).times(bound.Left)), all)
}

func limited[T any, K comparable](d Dataset[T], key func(T) K, k int64) (map[K]*Group[K, T], source) {
	if k < 1 || k > maxStability {
		return nil, d.failed(refuse("a join of %d records a key", k))
	}
	groups, s := group(d, key)
	for _, g := range groups {
		if int64(len(g.Records)) > k {
			g.Records = g.Records[:k] // the order is random
		}
	}
	return groups, s
}
