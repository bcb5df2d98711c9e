// Package kmeans finds centers of clusters: Lloyd's algorithm with noisy counts and sums
// (Blum, Dwork, McSherry and Nissim 2005; Su, Cao, Li, Bertino and Jin 2016, "DPLloyd").
//
// In each of a fixed number of rounds every point is given to the nearest center, and a
// center moves to the noisy sum of its points over their noisy number. The first centers
// depend on no data. What is released are the centers and counts of every round; how well
// they fit is not told, and would cost.
//
// (examples/kmeans writes the same with queries of package dataset, to show them.)
package kmeans

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/internal/fixed"
	"github.com/discreet-dp/discreet/noise"
)

// Options say what is looked for, and under which guarantee.
type Options struct {
	cost.Options
	// Clusters is how many. Required.
	Clusters int
	// Norm bounds the L2 norm of a point; longer ones are scaled down. Required.
	Norm float64
	// Rounds is how often centers move; 5 if it is 0.
	Rounds int
	// Centers are the first centers, which are public; if they are nil, points that are
	// drawn far from each other.
	Centers [][]float64
}

const maxRounds = 1 << 16

// A Model is the centers that were found.
type Model struct {
	Norm    float64     `json:"norm"`
	Centers [][]float64 `json:"centers"`
	// Counts are the noisy numbers of points that the last round began with.
	Counts []float64 `json:"counts"`
}

// Cluster returns the number of the center nearest to a point.
func (m *Model) Cluster(features []float32) int {
	x := make([]int32, len(features))
	fixed.Vector(x, features, m.Norm)
	return nearest(x, m.Centers, m.Norm)
}

// nearest takes a point on the grid, and centers in units that are norm long.
func nearest(x []int32, centers [][]float64, norm float64) int {
	best, least := 0, math.Inf(1)
	for c, center := range centers {
		d := 0.0
		for j, v := range x {
			e := float64(v)/fixed.One - center[j]/norm
			d += e * e
		}
		if d < least {
			best, least = c, d
		}
	}
	return best
}

// Check refuses a model that does not fit together, or not with points of a width:
// somebody may have written it.
func (m *Model) Check(width int) error {
	if !(m.Norm > 0) || len(m.Centers) == 0 {
		return fmt.Errorf("%d centers, and a norm of %v", len(m.Centers), m.Norm)
	}
	for _, c := range m.Centers {
		if len(c) != width {
			return fmt.Errorf("a center of %d numbers among points of %d", len(c), width)
		}
	}
	return nil
}

// A training is calibrated noise for everything that a run releases.
type training struct {
	o            Options
	set          *example.Set
	plan         *cost.Plan
	counts, sums *cost.Noise
}

// Train finds centers for the points of set, and charges b for it beforehand. It fails only
// for its options, the form of the set, the budget and the bits. Labels are not
// looked at.
func Train(ctx context.Context, bits noise.Bits, b budget.Budget, set *example.Set, o Options) (*Model, error) {
	r, err := Plan(b, set, o)
	if err != nil {
		return nil, err
	}
	m, err := r.Train(ctx, bits)
	if err != nil {
		return nil, fmt.Errorf("find clusters: %w", err)
	}
	return m, nil
}

// Plan returns the run that Train makes, before b is charged for it: of set it takes the
// form alone.
func Plan(b budget.Budget, set *example.Set, o Options) (*cost.Run[*Model], error) {
	t, err := newTraining(b, set, o)
	if err != nil {
		return nil, fmt.Errorf("find clusters: %w", err)
	}
	return cost.NewRun(t.plan, "find centers of clusters", t.run), nil
}

// newTraining calibrates.
//
// Theorem. Given the centers, a point is in one cluster: it moves one count by 1, and one
// cluster's sums by itself, by at most 1 in L2 and √d in L1. (McSherry 2009: parts of the
// data cost what one of them does.) Rounds see those before, and add up: ε (Dwork et al.
// 2006), ρ (Bun and Steinke 2016, Lemma 2.3).
//
// A center at distance 1 of the origin with n points is off by about σ√d/n for noise σ on
// sums, and σ'/n for σ' on the count: the sum of both is least where the count has a share
// of about 1/(1+√d) of ρ.
func newTraining(b budget.Budget, set *example.Set, o Options) (*training, error) {
	if o.Rounds == 0 {
		o.Rounds = 5
	}
	t := &training{o: o}
	var err error
	if t.plan, err = cost.New(b, set, o.Options); err != nil {
		return nil, err
	}
	t.set = t.plan.Set()
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", cost.ErrParameter, err)
	}
	share := big.NewRat(1, 1+int64(math.Ceil(math.Sqrt(float64(set.Width)))))
	one := big.NewRat(1, 1)
	if t.counts, err = t.plan.Noise(share, o.Rounds, cost.Sensitivity{L1: one, L2Squared: one}); err != nil {
		return nil, err
	}
	if t.sums, err = t.plan.Noise(new(big.Rat).Sub(one, share), o.Rounds, point(set.Width)); err != nil {
		return nil, err
	}
	return t, nil
}

// point is how far one of d coordinates moves sums.
func point(d int) cost.Sensitivity {
	l1 := numeric.OfInt(int64(d)).Sqrt().Mul(numeric.OfInt(fixed.One)).Hi()
	return cost.Sensitivity{L1: new(big.Rat).SetInt(numeric.Ceil(l1)), L2Squared: big.NewRat(fixed.One*fixed.One, 1)}
}

func (t *training) check() error {
	o := t.o
	switch {
	case o.Clusters < 1 || o.Clusters > 1<<20:
		return fmt.Errorf("%d clusters", o.Clusters)
	case !(o.Norm > 0) || math.IsInf(o.Norm, 0):
		return fmt.Errorf("a norm of %v bounds no points", o.Norm)
	case o.Rounds < 1 || o.Rounds > maxRounds:
		return fmt.Errorf("%d rounds", o.Rounds)
	case o.Centers != nil && len(o.Centers) != o.Clusters:
		return fmt.Errorf("%d centers of %d clusters", len(o.Centers), o.Clusters)
	}
	for _, c := range o.Centers {
		if len(c) != t.set.Width {
			return fmt.Errorf("a center of %d numbers among points of %d", len(c), t.set.Width)
		}
		for _, x := range c {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("a center at %v", x)
			}
		}
	}
	return nil
}

func (t *training) run(ctx context.Context, bits noise.Bits) (*Model, error) {
	m := &Model{Norm: t.o.Norm}
	var err error
	if m.Centers, err = t.first(bits); err != nil {
		return nil, err
	}
	x := fixed.Clip(t.set, t.plan.Rows(false), t.o.Norm, false)
	for round := range t.o.Rounds {
		t.plan.Progress(round, t.o.Rounds)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := t.round(bits, m, x); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// parts are the exact counts and sums of the clusters.
func (m *Model) parts(x *fixed.Rows) (counts, sums []int64) {
	counts, sums = make([]int64, len(m.Centers)), make([]int64, len(m.Centers)*x.Width)
	for i := range x.Len() {
		c := nearest(x.Row(i), m.Centers, m.Norm)
		counts[c]++
		fixed.Add(sums[c*x.Width:(c+1)*x.Width], x.Row(i), 1)
	}
	return counts, sums
}

// round moves the centers. One that has no more points than the noise may have made
// stays; none leaves the ball that the points are in.
func (t *training) round(bits noise.Bits, m *Model, x *fixed.Rows) error {
	exact, exactSums := m.parts(x)
	counts, err := t.counts.Add(bits, exact, 0)
	if err != nil {
		return err
	}
	sums, err := t.sums.Add(bits, exactSums, fixed.Places)
	if err != nil {
		return err
	}
	m.Counts = counts
	for c, n := range counts {
		if n < 1+2*t.counts.Deviation(0) {
			continue
		}
		center := sums[c*x.Width : (c+1)*x.Width]
		length := 0.0
		for _, v := range center {
			length = math.Hypot(length, v/n)
		}
		for j, v := range center {
			m.Centers[c][j] = v / n / max(length, 1) * m.Norm
		}
	}
	return nil
}

// first returns the first centers: of many points in the ball, each the one farthest from
// those before. Points have directions that are evenly spread (sums of twelve uniform
// numbers are nearly Gaussian) and are at most 0.8 of the bound away.
func (t *training) first(bits noise.Bits) ([][]float64, error) {
	if t.o.Centers != nil {
		centers := make([][]float64, len(t.o.Centers))
		for c := range centers {
			centers[c] = append([]float64{}, t.o.Centers[c]...)
		}
		return centers, nil
	}
	stream := noise.NewStream(bits)
	candidates := make([][]float64, 16*t.o.Clusters)
	for i := range candidates {
		p, err := somewhere(stream, t.set.Width)
		if err != nil {
			return nil, err
		}
		for j := range p {
			p[j] *= 0.8 * t.o.Norm
		}
		candidates[i] = p
	}
	centers := make([][]float64, 0, t.o.Clusters)
	away := make([]float64, len(candidates)) // from the centers so far
	for i := range away {
		away[i] = math.Inf(1)
	}
	next := 0
	for range t.o.Clusters {
		centers = append(centers, append([]float64{}, candidates[next]...))
		last := candidates[next]
		for i, p := range candidates {
			d := 0.0
			for j := range p {
				d += (p[j] - last[j]) * (p[j] - last[j])
			}
			away[i] = min(away[i], d)
			if away[i] > away[next] {
				next = i
			}
		}
	}
	return centers, nil
}

// somewhere returns a point of the unit ball, evenly.
func somewhere(stream *noise.Stream, d int) ([]float64, error) {
	uniform := func() (float64, error) {
		u, err := stream.Below(1 << 53)
		return float64(u) / (1 << 53), err
	}
	p, length := make([]float64, d), 0.0
	for j := range p {
		for range 12 {
			u, err := uniform()
			if err != nil {
				return nil, err
			}
			p[j] += u - 0.5
		}
		length = math.Hypot(length, p[j])
	}
	u, err := uniform()
	if err != nil {
		return nil, err
	}
	radius := math.Pow(u, 1/float64(d))
	for j := range p {
		p[j] *= radius / max(length, 1e-12)
	}
	return p, nil
}
