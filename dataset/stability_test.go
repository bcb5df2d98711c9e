package dataset

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func eps(s string) privacy.Epsilon { return must(privacy.ParseEpsilon(s)) }
func del(s string) privacy.Delta   { return must(privacy.ParseDelta(s)) }
func rho(s string) privacy.Rho     { return must(privacy.ParseRho(s)) }

func pureBudget(name string, n privacy.Neighbours) *budget.InMemory {
	return must(budget.NewInMemory(name, filter.Budget{Measure: filter.Pure, Epsilon: eps("1000"), Neighbours: n}))
}

// distance is the size of the symmetric difference of two multisets.
func distance[T any](a, b []T) (n int64) {
	times := map[string]int64{}
	for _, x := range a {
		times[fmt.Sprintf("%#v", x)]++
	}
	for _, x := range b {
		times[fmt.Sprintf("%#v", x)]--
	}
	for _, t := range times {
		n += max(t, -t)
	}
	return n
}

// digest is a function of a group's records that does not depend on their order, and
// rarely the same for others.
func digest(key int64, groups ...[]int64) int64 {
	h := uint64(key) + 1
	for _, g := range groups {
		for _, x := range slices.Sorted(slices.Values(g)) {
			h = bits.RotateLeft64((h+uint64(x))*0x9e3779b97f4a7c15, 31)
		}
		h *= 31
	}
	return int64(h >> 1)
}

// A node is an operator with its arguments; of the leaves there are two, the sources.
type node struct {
	op    string
	k     int64
	left  *node
	right *node
}

var unary = []string{"where", "select", "many", "group", "distinct", "upto", "part"}
var binary = []string{"join", "union", "intersect", "except", "concat"}

func (n *node) String() string {
	switch {
	case n.left == nil:
		return n.op
	case n.right == nil:
		return fmt.Sprintf("%s%d(%v)", n.op, n.k, n.left)
	}
	return fmt.Sprintf("%s%d(%v, %v)", n.op, n.k, n.left, n.right)
}

func drawNode(t *rapid.T, depth int) *node {
	if depth == 0 || rapid.IntRange(0, 4).Draw(t, "leaf") == 0 {
		return &node{op: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "source")}
	}
	n := &node{k: rapid.Int64Range(1, 3).Draw(t, "k"), left: drawNode(t, depth-1)}
	if rapid.Bool().Draw(t, "binary") {
		n.op, n.right = rapid.SampledFrom(binary).Draw(t, "op"), drawNode(t, depth-1)
	} else {
		n.op = rapid.SampledFrom(unary).Draw(t, "op")
	}
	return n
}

func mod(x, k int64) int64 { return ((x % k) + k) % k }

// eval computes a tree, whose functions panic on some records.
func (n *node) eval(a, b Dataset[int64]) Dataset[int64] {
	switch n.op {
	case "a":
		return a
	case "b":
		return b
	}
	l := n.left.eval(a, b)
	key := func(x int64) int64 {
		if mod(x, 7) == 6 {
			panic("no key")
		}
		return mod(x, n.k)
	}
	switch n.op {
	case "where":
		return Where(l, func(x int64) bool { return key(x) == 0 })
	case "select":
		return Select(l, -1, func(x int64) int64 { return key(x) + 10 })
	case "many":
		return SelectMany(l, n.k, func(x int64) []int64 {
			return []int64{x + key(x), x + 1, x + 2, x + 3}[:mod(x, 5)]
		})
	case "group":
		return Select(GroupBy(l, key), -1, func(g Group[int64, int64]) int64 { return digest(g.Key, g.Records) })
	case "distinct":
		return Distinct(l)
	case "upto":
		return DistinctUpTo(l, n.k)
	case "part":
		return Partition(l, []int64{0, 1}, key)[0]
	}
	r := n.right.eval(a, b)
	switch n.op {
	case "join":
		return Select(Join(l, r, key, key), -1, func(p Pair[int64, []int64, []int64]) int64 { return digest(p.Key, p.Left, p.Right) })
	case "union":
		return Union(l, r)
	case "intersect":
		return Intersect(l, r)
	case "except":
		return Except(l, r)
	case "concat":
		return Concat(l, r)
	}
	panic(n.op)
}

// change draws how a unit changes a source.
func change(t *rapid.T, records []int64, n privacy.Neighbours) []int64 {
	changed := slices.Clone(records)
	remove := len(records) > 0 && rapid.Bool().Draw(t, "remove")
	if remove {
		i := rapid.IntRange(0, len(records)-1).Draw(t, "which")
		changed = slices.Delete(changed, i, i+1)
	}
	if !remove || n == privacy.ReplaceOne {
		changed = append(changed, rapid.Int64Range(0, 8).Draw(t, "added"))
	}
	return rapid.Permutation(changed).Draw(t, "order")
}

// exceeds draws a tree, two sources and a neighbour of each, and says where the distance
// exceeds the stability that stability reads off the result.
func exceeds(t *rapid.T, stability func(tree *node, d Dataset[int64], of budget.Budget) int64) error {
	n := rapid.SampledFrom([]privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne}).Draw(t, "relation")
	mine := pureBudget("mine", n)
	yours := mine
	if rapid.Bool().Draw(t, "two budgets") {
		yours = pureBudget("yours", n)
	}
	records := func(name string) []int64 { return rapid.SliceOfN(rapid.Int64Range(0, 8), 0, 10).Draw(t, name) }
	a, b := records("a"), records("b")
	a2, b2 := change(t, a, n), change(t, b, n)
	tree := drawNode(t, 4)
	run := func(a, b []int64) Dataset[int64] {
		d := tree.eval(must(New(noise.System(), a, mine)), must(New(noise.System(), b, yours)))
		if d.err != nil {
			t.Fatal(d.err)
		}
		return d
	}
	d := run(a, b)
	check := func(changed Dataset[int64], of ...budget.Budget) error {
		var s int64
		for _, b := range of {
			s += stability(tree, d, b)
		}
		if got := distance(d.records(), changed.records()); got > s {
			return fmt.Errorf("%v over %v and %v, changed to %v and %v: distance %d with stability %d", tree, a, b, a2, b2, got, s)
		}
		return nil
	}
	if mine == yours {
		return check(run(a2, b2), mine)
	}
	for _, err := range []error{check(run(a2, b), mine), check(run(a, b2), yours), check(run(a2, b2), mine, yours)} {
		if err != nil {
			return err
		}
	}
	return nil
}

// tracked adds up the stakes of a budget and of its parts.
func tracked(_ *node, d Dataset[int64], of budget.Budget) (s int64) {
	for _, t := range d.stakes {
		if must(budget.Root(t.budget)) == of {
			s += t.stability
		}
	}
	return s
}

func TestDistancesStayWithinStabilities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			if err := exceeds(t, tracked); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// With a factor of one operator too small, some tree exceeds it.
func TestWrongStabilitiesAreNoticed(t *testing.T) {
	uses := func(n *node, op string) (depth int) {
		for ; n != nil; n = n.left {
			if n.op == op {
				depth++
			}
		}
		return depth
	}
	for _, op := range []string{"group", "join"} {
		t.Run(op, func(t *testing.T) {
			noticed := false
			property := func(t *rapid.T) {
				for i := 0; i < 50 && !noticed; i++ {
					noticed = exceeds(t, func(tree *node, d Dataset[int64], of budget.Budget) int64 {
						return tracked(tree, d, of) >> uses(tree, op) // a factor of 1 instead of 2
					}) != nil
				}
			}
			// Fifty trees show it three times in ten. -short draws 20 times fifty, of which none does once in 1,500 runs: as often as it takes.
			for i := 0; i < 100 && !noticed; i++ {
				rapid.Check(t, property)
			}
			if !noticed {
				t.Error("a stability of 1 was not noticed")
			}
		})
	}
}

// Each operator has neighbours at just the distance that its stability allows.
func TestStabilitiesAreReached(t *testing.T) {
	self := func(x int64) int64 { return x }
	parity := func(x int64) int64 { return x % 2 }
	half := func(d Dataset[int64]) Dataset[int64] { // a side of its own budget, which does not change
		return must(New(noise.System(), []int64{1, 1, 3}, pureBudget("other", privacy.AddRemove)))
	}
	sorted := func(d Dataset[Group[int64, int64]]) Dataset[string] {
		return Select(d, "", func(g Group[int64, int64]) string { return fmt.Sprint(g.Key, slices.Sorted(slices.Values(g.Records))) })
	}
	text := func(d Dataset[int64]) Dataset[string] {
		return Select(d, "", func(x int64) string { return fmt.Sprint(x) })
	}
	for name, c := range map[string]struct {
		op        func(Dataset[int64]) Dataset[string]
		one       []int64
		other     []int64
		stability int64
	}{
		"Where":  {func(d Dataset[int64]) Dataset[string] { return text(Where(d, func(int64) bool { return true })) }, []int64{1}, nil, 1},
		"Select": {text, []int64{1}, nil, 1},
		"SelectMany": {func(d Dataset[int64]) Dataset[string] {
			return text(SelectMany(d, 3, func(x int64) []int64 { return []int64{x, x, x, x} }))
		}, []int64{1}, nil, 3},
		"GroupBy":      {func(d Dataset[int64]) Dataset[string] { return sorted(GroupBy(d, parity)) }, []int64{1, 3}, []int64{1}, 2},
		"Distinct":     {func(d Dataset[int64]) Dataset[string] { return text(Distinct(d)) }, []int64{1}, nil, 1},
		"DistinctUpTo": {func(d Dataset[int64]) Dataset[string] { return text(DistinctUpTo(d, 2)) }, []int64{1, 1}, []int64{1}, 1},
		"Union":        {func(d Dataset[int64]) Dataset[string] { return text(Union(d, half(d))) }, []int64{2}, nil, 1},
		"Intersect":    {func(d Dataset[int64]) Dataset[string] { return text(Intersect(d, half(d))) }, []int64{1}, nil, 1},
		"Except left":  {func(d Dataset[int64]) Dataset[string] { return text(Except(d, half(d))) }, []int64{2}, nil, 1},
		"Except right": {func(d Dataset[int64]) Dataset[string] { return text(Except(half(d), d)) }, []int64{1}, nil, 1},
		"Concat":       {func(d Dataset[int64]) Dataset[string] { return text(Concat(d, half(d))) }, []int64{1}, nil, 1},
		"Join": {func(d Dataset[int64]) Dataset[string] {
			return Select(Join(d, half(d), parity, parity), "", func(p Pair[int64, []int64, []int64]) string {
				return fmt.Sprint(p.Key, slices.Sorted(slices.Values(p.Left)))
			})
		}, []int64{1, 3}, []int64{1}, 2},
		"a record with itself": {func(d Dataset[int64]) Dataset[string] { return text(Concat(d, d)) }, []int64{1}, nil, 2},
		"GroupBy twice": {func(d Dataset[int64]) Dataset[string] {
			pairs := Select(GroupBy(d, self), [2]int64{}, func(g Group[int64, int64]) [2]int64 { return [2]int64{g.Key, int64(len(g.Records))} })
			return Select(GroupBy(pairs, func(p [2]int64) int64 { return p[1] }), "", func(g Group[int64, [2]int64]) string {
				var keys []int64
				for _, p := range g.Records {
					keys = append(keys, p[0])
				}
				return fmt.Sprint(g.Key, slices.Sorted(slices.Values(keys)))
			})
		}, []int64{1, 1, 2, 3, 3}, []int64{1, 2, 3, 3}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			b := pureBudget("mine", privacy.AddRemove)
			one, other := c.op(must(New(noise.System(), c.one, b))), c.op(must(New(noise.System(), c.other, b)))
			if one.err != nil || other.err != nil {
				t.Fatal(one.err, other.err)
			}
			if got := distance(one.records(), other.records()); got != c.stability {
				t.Errorf("the distance is %d", got)
			}
			for _, s := range one.stakes {
				if s.budget == b && s.stability != c.stability {
					t.Errorf("the stability is %d, want %d", s.stability, c.stability)
				}
			}
		})
	}
}

// A unit's changes are in all parts of a partition together.
func TestPartsShareAChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne}).Draw(t, "relation")
		b := pureBudget("mine", n)
		records := rapid.SliceOfN(rapid.Int64Range(0, 8), 0, 10).Draw(t, "records")
		tree := drawNode(t, 2)
		parts := func(records []int64) []Dataset[int64] {
			d := must(New(noise.System(), records, b))
			return Partition(tree.eval(d, d), []int64{0, 1, 2}, func(x int64) int64 { return mod(x, 4) })
		}
		one, other := parts(records), parts(change(t, records, n))
		var total, stability int64
		for i := range one {
			total += distance(one[i].records(), other[i].records())
			stability = max(stability, tracked(tree, one[i], b))
			if s := one[i].stakes[0]; s.divided < s.stability {
				t.Fatalf("part %d says that it was divided at %d, with stability %d", i, s.divided, s.stability)
			}
		}
		if total > stability {
			t.Fatalf("%v: parts are %d apart in all, with stability %d", tree, total, stability)
		}
	})
}

// What a random choice makes of neighbours can be coupled within the stability: the
// distributions are enumerated, and a transport of one to the other over distances
// within it is found (Strassen 1965).
func TestRandomChoicesCanBeCoupled(t *testing.T) {
	even := func(x int64) int64 { return x / 10 }
	fixed := []int64{1, 2, 11}
	bounded := func(d Dataset[int64]) ([]string, stakes) {
		other := must(New(d.bits, fixed, pureBudget("other", privacy.AddRemove)))
		return texts(BoundedJoin(d, other, even, even, JoinBound{Left: 1, Right: 2}))
	}
	right := func(d Dataset[int64]) ([]string, stakes) {
		other := must(New(d.bits, fixed, pureBudget("other", privacy.AddRemove)))
		all, s := texts(BoundedJoin(other, d, even, even, JoinBound{Left: 2, Right: 1}))
		return all, s[1:]
	}
	for name, c := range map[string]struct {
		op        func(Dataset[int64]) ([]string, stakes)
		stability int64
		wrong     int64 // a stability that is too small, if some neighbours reach the right one
	}{
		"Take":        {func(d Dataset[int64]) ([]string, stakes) { return texts(Take(d, 2)) }, 2, 1},
		"Limit":       {func(d Dataset[int64]) ([]string, stakes) { return texts(Limit(d, 1, even)) }, 2, 1},
		"BoundedJoin": {bounded, 4, 3},
		"its right":   {right, 4, 3},
		"the order of a group": {func(d Dataset[int64]) ([]string, stakes) {
			first := Select(GroupBy(d, even), 0, func(g Group[int64, int64]) int64 { return g.Records[0] })
			return texts(first)
		}, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			_, tracked := c.op(numbers(t, pureBudget("mine", privacy.AddRemove), 1))
			if tracked[0].stability != c.stability {
				t.Errorf("the stability is %d, want %d", tracked[0].stability, c.stability)
			}
			reached := false
			for _, pair := range [][2][]int64{
				{{1, 2, 3}, {1, 2}}, {{1, 2}, {1}}, {{1, 2, 11}, {2, 11}}, {{3, 1, 2}, {2, 3}}, {{1, 1, 2}, {1, 2}}, {{11}, {}},
				{{1, 2, 11}, {2, 1}}, // a group that they share, in another order
			} {
				one, other := outcomes(t, pair[0], c.op), outcomes(t, pair[1], c.op)
				if moved := transport(one, other, c.stability); moved < 1-1e-9 {
					t.Errorf("%v: only %v of the outcomes are within %d of each other", pair, moved, c.stability)
				}
				reached = reached || transport(one, other, c.wrong) < 1-1e-9
			}
			if !reached {
				t.Errorf("a stability of %d was not noticed to be too small", c.wrong)
			}
		})
	}
}

func texts[T any](d Dataset[T]) (all []string, s stakes) {
	for _, x := range d.records() {
		all = append(all, fmt.Sprintf("%v", x))
	}
	slices.Sort(all)
	return all, d.stakes
}

// outcomes enumerates what op makes of records, with probabilities.
func outcomes(t *testing.T, records []int64, op func(Dataset[int64]) ([]string, stakes)) map[string]float64 {
	t.Helper()
	found := map[string]float64{}
	for script := []uint64{}; ; {
		b := &scripted{digits: script}
		d := must(New[int64](b, records, pureBudget("mine", privacy.AddRemove)))
		all, _ := op(d)
		out := strings.Join(all, ";")
		p := 1.0
		for range b.used {
			p /= scriptBase
		}
		found[out] += p
		// The next script of what was used, as digits that count.
		script = append(slices.Clone(script), make([]uint64, max(0, b.used-len(script)))...)[:b.used]
		i := len(script) - 1
		for ; i >= 0 && script[i] == scriptBase-1; i-- {
			script[i] = 0
		}
		if i < 0 {
			return found
		}
		script[i]++
	}
}

// scripted gives words that have each remainder by 2, 3, 4 and 6 equally often.
type scripted struct {
	digits []uint64
	used   int
}

const scriptBase = 12

func (s *scripted) Uint64() (uint64, error) {
	var digit uint64
	if s.used < len(s.digits) {
		digit = s.digits[s.used]
	}
	s.used++
	return 1200 + digit, nil
}

// transport returns how much of one distribution can be moved to the other over
// distances of at most s: a maximum flow.
func transport(from, to map[string]float64, s int64) float64 {
	type edge struct{ from, to string }
	flow := map[edge]float64{}
	near := func(a, b string) bool {
		split := func(x string) []string {
			if x == "" {
				return nil
			}
			return strings.Split(x, ";")
		}
		return distance(split(a), split(b)) <= s
	}
	sent, got := map[string]float64{}, map[string]float64{}
	var augment func(a string, amount float64, seen map[string]bool) float64
	augment = func(a string, amount float64, seen map[string]bool) float64 {
		for b, p := range to {
			if seen[b] || !near(a, b) {
				continue
			}
			seen[b] = true
			if free := p - got[b]; free > 1e-15 {
				m := min(amount, free)
				got[b] += m
				flow[edge{a, b}] += m
				return m
			}
			for other := range from {
				if back := flow[edge{other, b}]; back > 1e-15 && other != a {
					if m := augment(other, min(amount, back), seen); m > 0 {
						flow[edge{other, b}] -= m
						flow[edge{a, b}] += m
						return m
					}
				}
			}
		}
		return 0
	}
	total := 0.0
	for a, p := range from {
		for sent[a] < p-1e-15 {
			m := augment(a, p-sent[a], map[string]bool{})
			if m == 0 {
				break
			}
			sent[a] += m
			total += m
		}
	}
	return total
}
