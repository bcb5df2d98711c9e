package federated

// treeSensitivity is the largest sum, over the noisy nodes of a tree of so many rounds, of
// the square of the number of a unit's rounds below the node: the squared distance by
// which a unit moves all nodes together, if it adds a vector of norm 1 in each of its
// rounds, all in one direction. A unit has at most one round in each aligned block of
// every rounds, and at most so many of all.
//
// Theorem (Kairouz et al. 2021, Theorem 4.1, for zCDP and several rounds of a unit). A noisy
// prefix sum is a sum of the tree's noisy nodes, each released once, one after the other.
// A node moves by at most its number of the unit's rounds, so that noise of variance V makes
// the whole ΣΔ²/2V-zCDP by adaptive composition, and ΣΔ² is at most what this returns.
//
// Of the nodes of 2^l rounds only every second is drawn (cost.Tree): the one whose last
// round has l trailing zeros. The largest sum is found exactly, by the number of rounds
// below each node: a node of m rounds adds m², and they are divided among its halves.
func treeSensitivity(rounds, every, most int) int64 {
	levels := 0
	for 1<<levels < rounds {
		levels++
	}
	s := sensitivity{rounds: rounds, every: every, known: map[[3]int][]int64{}}
	best := int64(0)
	for m, x := range s.below(levels, 0) {
		if m <= most {
			best = max(best, x)
		}
	}
	return best
}

type sensitivity struct {
	rounds, every int
	known         map[[3]int][]int64
}

// below returns, for each number m of a unit's rounds below the node number at of a level,
// the largest sum over it and all nodes below.
func (s sensitivity) below(level, at int) []int64 {
	size := 1 << level
	from, to := at*size, (at+1)*size
	real := min(max(s.rounds-from, 0), size)
	if real == 0 {
		return []int64{0}
	}
	// Whole nodes are alike, but for whether they are drawn.
	key := [3]int{level, at % 2, real}
	if f, ok := s.known[key]; ok {
		return f
	}
	drawn := int64(0)
	if at%2 == 0 && to <= s.rounds {
		drawn = 1
	}
	var f []int64
	if level == 0 {
		f = []int64{0, drawn}
	} else {
		a, b := s.below(level-1, 2*at), s.below(level-1, 2*at+1)
		most := len(a) + len(b) - 2
		if size <= s.every {
			most = min(most, 1)
		}
		f = make([]int64, most+1)
		for i, x := range a {
			for j, y := range b {
				if m := i + j; m <= most {
					f[m] = max(f[m], x+y+drawn*int64(m)*int64(m))
				}
			}
		}
	}
	s.known[key] = f
	return f
}
