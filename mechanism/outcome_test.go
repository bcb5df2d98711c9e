package mechanism

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/noise"
)

// A law is a distribution of what a mechanism returns, as text. It is computed from
// the definition of the mechanism and shares no code with it. Outcomes that are too
// many to list may be left out: the rest is one outcome more.
type law map[string]float64

// loss returns the largest |ln p/q| over the outcomes of p and q, other than those
// that only rounding has left there.
func loss(p, q law) float64 {
	most := 0.0
	for o := range maps.Keys(p) {
		if p[o] > 1e-13 || q[o] > 1e-13 {
			most = max(most, math.Abs(math.Log(p[o]/q[o])))
		}
	}
	for o := range maps.Keys(q) {
		if _, ok := p[o]; !ok && q[o] > 1e-13 {
			return math.Inf(1)
		}
	}
	return most
}

// follows draws n outcomes and holds their frequencies against the law. It refuses a
// right sampler with probability at most 1e-9, as fits does.
func follows(l law, n int, draw func() string) error {
	cell, probability, rest := map[string]int{}, []float64{}, 1.0
	for _, o := range slices.Sorted(maps.Keys(l)) {
		cell[o] = len(probability)
		probability = append(probability, l[o])
		rest -= l[o]
	}
	if rest < -1e-9 {
		return fmt.Errorf("probabilities add up to %v", 1-rest)
	}
	if rest < 1e-11 {
		rest = 0
	}
	last := len(probability)
	return fits(append(probability, rest), n, func(noise.Bits) (int, error) {
		if i, listed := cell[draw()]; listed {
			return i, nil
		}
		return last, nil
	})
}

// held draws n times whether an accuracy holds, that may fail with probability beta.
// It refuses a right one with probability at most 1e-9.
func held(beta float64, n int, holds func() bool) error {
	failures := 0
	for range n {
		if !holds() {
			failures++
		}
	}
	return failsAtMost(failures, n, beta)
}

func trials(t *testing.T, full int) int {
	t.Helper()
	if testing.Short() {
		return full / 10
	}
	return full
}

// sought reports whether draws are so many that faults which change the law little are found each time.
func sought(t *testing.T) bool {
	t.Helper()
	return !testing.Short()
}

// geometric is discrete Laplace noise of scale t, for laws. Without a scale it is 0.
type geometric float64

// at returns P(K = k) = tanh(1/2t)·exp(-|k|/t).
func (t geometric) at(k int64) float64 {
	if t == 0 {
		if k == 0 {
			return 1
		}
		return 0
	}
	return math.Tanh(1/(2*float64(t))) * math.Exp(-math.Abs(float64(k))/float64(t))
}

// below returns P(K < k).
func (t geometric) below(k int64) float64 {
	if t == 0 {
		if k > 0 {
			return 1
		}
		return 0
	}
	p := math.Exp(-1 / float64(t))
	if k > 0 {
		return 1 - math.Exp(-float64(k)/float64(t))/(1+p)
	}
	return math.Exp(-(1-float64(k))/float64(t)) / (1 + p) // P(K <= k-1) = P(K >= 1-k)
}

// reach is where noise of scale t has become rare enough for sums over it.
func (t geometric) reach() int64 { return int64(36*float64(t)) + 2 }

// neighbours yields every vector whose entries differ from those of q by at most n,
// by -n, 0 and n; if monotone, only those to one side.
func neighbours(q []int64, n int64, monotone bool) (all [][]int64) {
	steps := [][]int64{{-n, 0, n}}
	if monotone {
		steps = [][]int64{{-n, 0}, {0, n}}
	}
	for _, step := range steps {
		for i := range pow(len(step), len(q)) {
			v := slices.Clone(q)
			for j := range v {
				v[j] += step[i%len(step)]
				i /= len(step)
			}
			all = append(all, v)
		}
	}
	return all
}

func pow(b, n int) int {
	p := 1
	for range n {
		p *= b
	}
	return p
}

func floats(q []int64) []float64 {
	f := make([]float64, len(q))
	for i, x := range q {
		f[i] = float64(x)
	}
	return f
}

// A threshold variant is a family of mechanisms against threshold 0, as Lyu, Su and
// Li 2017 lay them side by side.
type variant struct {
	rho, nu geometric // noise on the threshold, and on the queries
	answers int       // how many are above before it halts; 0 for no limit
	redrawn geometric // if set, the threshold has new noise after each answer
	gap     bool      // returns the gap
	value   bool      // returns the noisy query itself
	fresh   geometric // if set, returns the query with new noise
	shown   int64     // gaps and values up to this size are listed
}

// law returns the law of the answers to all of the queries q, as F and T.
func (v variant) law(q []int64) law {
	l := law{}
	for rho := -v.rho.reach(); rho <= v.rho.reach(); rho++ {
		v.extend(l, q, rho, 0, "", v.rho.at(rho))
	}
	return l
}

func (v variant) extend(l law, q []int64, threshold int64, above int, said string, p float64) {
	if len(q) == 0 || v.answers > 0 && above == v.answers {
		l[said] += p
		return
	}
	v.extend(l, q[1:], threshold, above, said+"F", p*v.nu.below(threshold-q[0]))
	answer := func(text string, p float64) {
		said := said + "T" + text
		if v.redrawn == 0 || above+1 == v.answers {
			v.extend(l, q[1:], threshold, above+1, said, p)
			return
		}
		for rho := -v.redrawn.reach(); rho <= v.redrawn.reach(); rho++ {
			v.extend(l, q[1:], rho, above+1, said, p*v.redrawn.at(rho))
		}
	}
	switch {
	case v.gap:
		for gap := int64(0); gap <= v.shown; gap++ {
			answer(fmt.Sprint(gap), p*v.nu.at(threshold+gap-q[0]))
		}
	case v.value:
		for x := max(threshold, -v.shown); x <= v.shown; x++ {
			answer(fmt.Sprint(x), p*v.nu.at(x-q[0]))
		}
	case v.fresh > 0:
		for x := -v.shown; x <= v.shown; x++ {
			answer(fmt.Sprint(x), p*(1-v.nu.below(threshold-q[0]))*v.fresh.at(x-q[0]))
		}
	default:
		answer("", p*(1-v.nu.below(threshold-q[0])))
	}
}

// worst returns the largest loss between the answers to queries near 0 and to their
// neighbours' by n.
func (v variant) worst(length int, n int64, monotone bool) float64 {
	most, laws := 0.0, map[string]law{}
	of := func(q []int64) law {
		key := fmt.Sprint(q)
		if laws[key] == nil {
			laws[key] = v.law(q)
		}
		return laws[key]
	}
	for i := range pow(3, length) {
		q := make([]int64, length)
		for j := range q {
			q[j] = int64(i%3) - 1
			i /= 3
		}
		for _, other := range neighbours(q, n, monotone) {
			most = max(most, loss(of(q), of(other)))
		}
	}
	return most
}

func TestLoss(t *testing.T) {
	if got := loss(law{"a": 0.5, "b": 0.5}, law{"a": 0.25, "b": 0.75}); math.Abs(got-math.Ln2) > 1e-12 {
		t.Error(got)
	}
	if got := loss(law{"a": 1}, law{"a": 0.5, "b": 0.5}); !math.IsInf(got, 1) {
		t.Error(got)
	}
	for _, s := range []geometric{0, 0.5, 3} {
		sum := 0.0
		for k := int64(-200); k <= 200; k++ {
			if got := s.below(k); math.Abs(got-sum) > 1e-12 {
				t.Fatalf("scale %v: P(K < %d) is %v, want %v", s, k, got, sum)
			}
			sum += s.at(k)
		}
	}
	if got := strings.Join(slices.Sorted(maps.Keys(variant{rho: 1, nu: 2, answers: 1}.law([]int64{0, 1}))), " "); got != "FF FT T" {
		t.Error(got)
	}
}
