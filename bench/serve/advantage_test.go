//go:build cgo && linux

package serve

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/internal/entropy"
)

// Durations of two databases, drawn independently, each in the order in which it was measured.
type durations [2][]time.Duration

// An advantage is how much better than a guess one duration tells which of two databases it is
// of: the total variation distance of their laws, between bounds that are wrong with
// probability at most alpha each.
type advantage struct {
	// least is that of one distinguisher, which the first half of the durations chose and the
	// second half judges, by Clopper and Pearson.
	least float64
	// steps is at least that of all that look at the step alone in which an answer comes: the
	// first, the second, the third or a later one. The distance is 1 − Σ min(p, q), and each
	// probability has its bound by Clopper and Pearson.
	steps float64
	// thresholds is at least that of all that ask whether an answer comes before some instant,
	// by the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant (1990).
	thresholds float64
}

// bins divide durations for the distinguisher: as many are in each of those that chose it.
const bins = 16

func (d durations) advantage(step time.Duration, alpha float64) (a advantage, err error) {
	var first, second durations
	for i, all := range d {
		first[i], second[i] = all[:len(all)/2], all[len(all)/2:]
	}
	says := first.distinguisher()
	var lo, hi [2]float64
	for i, all := range second {
		if lo[i], hi[i], err = audit.ClopperPearson(count(all, says), len(all), alpha/2); err != nil {
			return a, err
		}
	}
	a.least = max(0, lo[1]-hi[0])

	a.steps = 1
	if step > 0 {
		const last = 4
		for k := 1; k <= last; k++ {
			in := func(t time.Duration) bool { return min(max(int(t/step), 1), last) == k }
			least := 1.0
			for _, all := range d {
				p, _, err := audit.ClopperPearson(count(all, in), len(all), alpha/(2*last))
				if err != nil {
					return a, err
				}
				least = min(least, p)
			}
			a.steps -= least
		}
	}
	a.thresholds = d.distance()
	for _, all := range d {
		a.thresholds += math.Sqrt(math.Log(4/alpha) / float64(2*len(all)))
	}
	a.thresholds = min(1, a.thresholds)
	return a, nil
}

func count(all []time.Duration, in func(time.Duration) bool) (n int) {
	for _, t := range all {
		if in(t) {
			n++
		}
	}
	return n
}

// distinguisher says of a duration whether it is of the second database: where more of its
// durations were than of the first.
func (d durations) distinguisher() func(time.Duration) bool {
	both := slices.Sorted(slices.Values(slices.Concat(d[0], d[1])))
	bin := func(t time.Duration) int {
		at, _ := slices.BinarySearch(both, t)
		return at * bins / len(both)
	}
	var more [bins + 1]float64
	for i, all := range d {
		for _, t := range all {
			more[bin(t)] += []float64{-1, 1}[i] / float64(len(all))
		}
	}
	return func(t time.Duration) bool { return more[bin(t)] > 0 }
}

// distance is the greatest difference of the two empirical distribution functions.
func (d durations) distance() (most float64) {
	a, b := slices.Sorted(slices.Values(d[0])), slices.Sorted(slices.Values(d[1]))
	for i, j := 0, 0; i < len(a) && j < len(b); {
		t := min(a[i], b[j])
		for i < len(a) && a[i] == t {
			i++
		}
		for j < len(b) && b[j] == t {
			j++
		}
		most = max(most, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	return most
}

// The bounds hold a distance that is known, and are not idle. Each is wrong with probability
// 1e-10 at most, and what is planted is found with more than 1 − 1e-9: its bounds lie 0.1 and
// more from what they are asked for, twelve standard deviations.
func TestAdvantage(t *testing.T) {
	const n, alpha, step = 4000, 1e-10, 50 * time.Millisecond
	bits := entropy.New()
	draw := func(late int) (all []time.Duration) { // of 16 as many come a step later
		for range n {
			u, err := bits.Uint64()
			if err != nil {
				t.Fatal(err)
			}
			d := step + time.Duration(u>>32%2_000_000)
			if int(u%16) < late {
				d += step
			}
			all = append(all, d)
		}
		return all
	}
	for _, test := range []struct{ one, other int }{{0, 0}, {4, 4}, {4, 8}, {0, 16}, {12, 2}} {
		d := durations{draw(test.one), draw(test.other)}
		distance := math.Abs(float64(test.other-test.one)) / 16
		a, err := d.advantage(step, alpha)
		if err != nil {
			t.Fatal(err)
		}
		if a.least > distance || a.steps < distance || a.thresholds < distance {
			t.Errorf("%v: the distance is %v, and the bounds %+v", test, distance, a)
		}
		if a.least < distance-0.25 || a.steps > distance+0.35 || a.thresholds > distance+0.25 {
			t.Errorf("%v: the distance is %v, and the bounds are idle: %+v", test, distance, a)
		}
		if none, err := d.advantage(0, alpha); err != nil || none.steps != 1 {
			t.Errorf("without steps nothing bounds them: %+v, %v", none, err)
		}
	}
}
