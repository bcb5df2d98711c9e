package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// sumsOf returns the mechanism for items that change by one.
func sumsOf(block int, e string) *PrefixSums {
	return must(NewPrefixSums(PrefixSumsOptions{Sensitivity: rat("1"), Block: block, Epsilon: eps(e)}))
}

// A node is what has a draw of its own: the items from first to last.
type node struct{ first, last int }

// nodes returns the draws behind each sum.
func nodes(n, m int) (of [][]node) {
	for i := range n {
		var from []node
		if m > 1 {
			for b := 0; b+m <= i+1; b += m {
				from = append(from, node{b, b + m - 1})
			}
		}
		for j := len(from) * m; j <= i; j++ {
			from = append(from, node{j, j})
		}
		of = append(of, from)
	}
	return of
}

// Each sum is that of the items up to it and of the draws of its nodes, of which an
// item is in as many as the event says: so that what moves one item by 1 is undone by
// moving those draws by 1.
func TestPrefixSumsAreSumsOfNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		block := rapid.IntRange(0, 5).Draw(t, "block")
		items := rapid.SliceOfN(rapid.Int64Range(-100, 100), 0, 30).Draw(t, "items")
		p := sumsOf(block, "0.1")
		words := make([]uint64, 400)
		source := entropy.New()
		for i := range words {
			words[i], _ = source.Uint64()
		}
		first, second := script(words), script(words)
		sums, err := p.Sums(&first, items)
		if err != nil {
			t.Fatal(err)
		}
		draws, stream := map[node]int64{}, noise.NewStream(&second)
		for i := range items {
			of := nodes(i+1, block)[i]
			draws[of[len(of)-1]] = must(p.noise.Int64(stream))
		}
		in := make([]int, len(items))
		for n := range draws {
			for i := n.first; i <= n.last; i++ {
				in[i]++
			}
		}
		for i, from := range nodes(len(items), block) {
			want := int64(0)
			for _, x := range items[:i+1] {
				want += x
			}
			for _, n := range from {
				want += draws[n]
			}
			if sums[i] != want {
				t.Fatalf("sum %d of %v with blocks of %d is %d, want %d", i, items, block, sums[i], want)
			}
			if most := new(big.Rat).SetInt64(int64(in[i])); most.Cmp(p.sensitivity) > 0 {
				t.Fatalf("item %d is in %d nodes, the event says %v", i, in[i], p.sensitivity)
			}
		}
	})
}

// The loss of the exact law of two sums, where it is largest, is that of the event.
func TestPrefixSumsAreTight(t *testing.T) {
	for _, block := range []int{1, 2} {
		p := sumsOf(block, "1")
		scale, _ := p.noise.Scale().Float64()
		l := geometric(scale)
		// The first sum is item 0 and a draw; the second the block and a draw, or the
		// first, item 1 and a draw.
		law := func(x0, s0, s1 int64) float64 {
			if block == 2 {
				return l.at(s0-x0) * l.at(s1-x0)
			}
			return l.at(s0-x0) * l.at(s1-s0)
		}
		worst := 0.0
		for s0 := int64(-9); s0 <= 9; s0++ {
			for s1 := int64(-9); s1 <= 9; s1++ {
				worst = max(worst, math.Abs(math.Log(law(0, s0, s1)/law(1, s0, s1))))
			}
		}
		if math.Abs(worst-1) > 1e-9 {
			t.Errorf("blocks of %d: the loss is %v", block, worst)
		}
		o := map[string]float64{}
		for s0 := int64(-60); s0 <= 60; s0++ {
			for s1 := int64(-120); s1 <= 120; s1++ {
				o[fmt.Sprint(min(max(s0, -3), 3), min(max(s1, -3), 3))] += law(0, s0, s1)
			}
		}
		show := func(s []int64) string { return fmt.Sprint(min(max(s[0], -3), 3), min(max(s[1], -3), 3)) }
		bits := entropy.New()
		if err := follows(o, trials(t, 50_000), func() string { return show(must(p.Sums(bits, []int64{0, 0}))) }); err != nil {
			t.Errorf("blocks of %d: %v", block, err)
		}
		half := *p
		half.noise = must(noise.NewDiscreteLaplace(big.NewRat(int64(block), 2)))
		if follows(o, trials(t, 50_000), func() string { return show(must(half.Sums(bits, []int64{0, 0}))) }) == nil {
			t.Errorf("blocks of %d: half of the noise passes", block)
		}
	}
}

// Bound holds at its beta, and is not far too large.
func TestPrefixSumsBound(t *testing.T) {
	bits := entropy.New()
	for _, tc := range []struct {
		n, block, draws int
		beta            string
	}{{1, 0, 1, "0.1"}, {3, 1, 3, "0.001"}, {100, 1, 100, "0.1"}, {100, 10, 10, "0.2"}, {19, 10, 10, "0.05"}, {99, 10, 18, "0.1"}} {
		p := sumsOf(tc.block, "0.5")
		alpha := must(p.Bound(tc.n, rat(tc.beta))).Int64()
		items := make([]int64, tc.n)
		b, _ := rat(tc.beta).Float64()
		n := trials(t, 5_000)
		err := held(b, n, func() bool {
			s := must(p.Sums(bits, items))[tc.n-1]
			return -alpha <= s && s <= alpha
		})
		if err != nil {
			t.Errorf("%+v, alpha %d: %v", tc, alpha, err)
		}
		scale, _ := p.noise.Scale().Float64()
		if limit := 4 * scale * (math.Sqrt(float64(tc.draws)*math.Log(2/b)) + math.Log(2/b)); float64(alpha) > limit {
			t.Errorf("%+v: alpha is %d, not below %v", tc, alpha, limit)
		}
	}
}

func TestPrefixSumsRefuse(t *testing.T) {
	right := PrefixSumsOptions{Sensitivity: rat("1"), Block: 3, Epsilon: eps("1")}
	for name, change := range map[string]func(*PrefixSumsOptions){
		"no sensitivity":       func(o *PrefixSumsOptions) { o.Sensitivity = nil },
		"negative sensitivity": func(o *PrefixSumsOptions) { o.Sensitivity = rat("-1") },
		"no epsilon":           func(o *PrefixSumsOptions) { o.Epsilon = privacy.Epsilon{} },
		"tiny epsilon":         func(o *PrefixSumsOptions) { o.Epsilon = eps("1e-100") },
		"negative block":       func(o *PrefixSumsOptions) { o.Block = -1 },
	} {
		o := right
		change(&o)
		if p, err := NewPrefixSums(o); p != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	p := must(NewPrefixSums(right))
	if got := p.Event().String(); got != "discrete_laplace(2, sensitivity=2)" || p.Event().Validate() != nil {
		t.Errorf("the event is %v", got)
	}
	if got := sumsOf(1, "1").Event().String(); got != "discrete_laplace(1, sensitivity=1)" {
		t.Errorf("the event is %v", got)
	}
	for _, beta := range []*big.Rat{nil, rat("0"), rat("1")} {
		if _, err := p.Bound(1, beta); !errors.Is(err, ErrParameter) {
			t.Errorf("beta %v: %v", beta, err)
		}
	}
	if _, err := p.Bound(0, rat("0.5")); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	if sums, err := p.Sums(broken{}, []int64{1}); sums != nil || !errors.Is(err, errBroken) {
		t.Errorf("failing bits: %v, %v", sums, err)
	}
	if sums, err := p.Sums(broken{}, nil); len(sums) != 0 || err != nil {
		t.Errorf("no items: %v, %v", sums, err)
	}
	items := []int64{1, 2, 3}
	must(p.Sums(entropy.New(), items))
	if !slices.Equal(items, []int64{1, 2, 3}) {
		t.Errorf("the items are %v afterwards", items)
	}
}
