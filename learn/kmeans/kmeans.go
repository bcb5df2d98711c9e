// Package kmeans finds centers of clusters: Lloyd's algorithm with noisy counts and sums
// (Blum, Dwork, McSherry and Nissim 2005; Su, Cao, Li, Bertino and Jin 2016, "DPLloyd").
//
// In each of a fixed number of rounds every point is given to the nearest center, and a
// center moves to the noisy sum of its points over their noisy number. The first centers
// are drawn about the noisy mean of all points, as far in each direction as these spread,
// for a tenth of the guarantee.
//
// It guarantees what the options state, for all that is released: the moments of all
// points, and the centers and counts of every round.
//
// It does not guarantee that the centers fit, and does not say how well they do: that
// would cost.
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
	// Lower and Upper, if given, bound each feature. They are public, and centers are
	// kept between them; points need not be.
	Lower, Upper []float64
	// Rounds is how often centers move; if it is 0, 3 for a pure guarantee, whose noise
	// grows with their number, and 5 for others.
	Rounds int
	// Centers are the first centers, which are public; if they are nil, they are found.
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
	moments      *moments // that first centers come from, or nil
}

// moments are noise for the number, the sum and the squares of all points.
type moments struct{ count, sum, squares *cost.Noise }

// Train finds centers for the points of set, and charges b for it beforehand. It fails only
// for its options, the form of the set, the budget and the bits. Labels are not
// looked at.
func Train(ctx context.Context, bits noise.Bits, b budget.Budget, set *example.Set, o Options) (*Model, error) {
	r, err := Plan(b, set, o)
	if err != nil {
		return nil, err
	}
	return r.Train(ctx, bits)
}

// Plan returns the run that Train makes, before b is charged for it: of set it takes the
// form alone.
func Plan(b budget.Budget, set *example.Set, o Options) (*cost.Run[*Model], error) {
	return cost.Calibrate(b, o.Options, false, func(c cost.Options) (*cost.Run[*Model], error) {
		o := o
		o.Options = c
		t, err := newTraining(b, set, o)
		if err != nil {
			return nil, err
		}
		return cost.NewRun(t.plan, "find centers of clusters", t.run), nil
	})
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
//
// The squares of a point's d coordinates add up to 1 at most: that is how far it moves their
// sums in L1, and so in L2.
func newTraining(b budget.Budget, set *example.Set, o Options) (*training, error) {
	t := &training{o: o}
	var err error
	if t.plan, err = cost.New(b, set, o.Options); err != nil {
		return nil, err
	}
	if o.Rounds == 0 {
		if t.o.Rounds = 5; t.plan.Pure() {
			t.o.Rounds = 3
		}
		o = t.o
	}
	t.set = t.plan.Set()
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", cost.ErrParameter, err)
	}
	share := big.NewRat(1, 1+int64(math.Ceil(math.Sqrt(float64(set.Width)))))
	one, rest := big.NewRat(1, 1), big.NewRat(1, 1)
	count := cost.Sensitivity{L1: one, L2Squared: one}
	if o.Centers == nil {
		t.moments = &moments{}
		rest.SetFrac64(9, 10)
		if t.moments.count, err = t.plan.Noise(big.NewRat(1, 50), 1, count); err != nil {
			return nil, err
		}
		if t.moments.sum, err = t.plan.Noise(big.NewRat(2, 50), 1, point(set.Width)); err != nil {
			return nil, err
		}
		if t.moments.squares, err = t.plan.Noise(big.NewRat(2, 50), 1, squared()); err != nil {
			return nil, err
		}
	}
	if t.counts, err = t.plan.Noise(new(big.Rat).Mul(rest, share), o.Rounds, count); err != nil {
		return nil, err
	}
	if t.sums, err = t.plan.Noise(new(big.Rat).Mul(rest, new(big.Rat).Sub(one, share)), o.Rounds, point(set.Width)); err != nil {
		return nil, err
	}
	return t, nil
}

// squared is how far one point moves the sums of squares.
func squared() cost.Sensitivity {
	one := new(big.Rat).SetInt64(fixed.One * fixed.One)
	return cost.Sensitivity{L1: one, L2Squared: new(big.Rat).Mul(one, one)}
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
	if o.Lower != nil || o.Upper != nil {
		if len(o.Lower) != t.set.Width || len(o.Upper) != t.set.Width {
			return fmt.Errorf("bounds of %d and %d of %d features", len(o.Lower), len(o.Upper), t.set.Width)
		}
		for j, lower := range o.Lower {
			if !(lower <= o.Upper[j]) || math.IsInf(lower, 0) || math.IsInf(o.Upper[j], 0) {
				return fmt.Errorf("no features between %v and %v", lower, o.Upper[j])
			}
		}
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
	x := fixed.Clip(t.set, t.plan.Rows(false), t.o.Norm, false)
	var err error
	if m.Centers, err = t.first(bits, x); err != nil {
		return nil, err
	}
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
// stays.
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
		for j, v := range sums[c*x.Width : (c+1)*x.Width] {
			m.Centers[c][j] = v / n * m.Norm
		}
		t.keep(m.Centers[c])
	}
	return nil
}

// keep brings a center where points may be: between the bounds, and into the ball.
func (t *training) keep(center []float64) {
	length := 0.0
	for j := range center {
		if t.o.Lower != nil {
			center[j] = min(max(center[j], t.o.Lower[j]), t.o.Upper[j])
		}
		length = math.Hypot(length, center[j]/t.o.Norm)
	}
	for j := range center {
		center[j] /= max(length, 1)
	}
}

// first returns the first centers: of many points that are drawn about the mean of all, as
// far away in each direction as these spread, each the one farthest from those before.
func (t *training) first(bits noise.Bits, x *fixed.Rows) ([][]float64, error) {
	if t.o.Centers != nil {
		centers := make([][]float64, len(t.o.Centers))
		for c := range centers {
			centers[c] = append([]float64{}, t.o.Centers[c]...)
		}
		return centers, nil
	}
	mean, deviation, err := t.spread(bits, x)
	if err != nil {
		return nil, err
	}
	stream := noise.NewStream(bits)
	candidates := make([][]float64, 16*t.o.Clusters)
	for i := range candidates {
		candidates[i] = make([]float64, x.Width)
		for j := range candidates[i] {
			z, err := bell(stream)
			if err != nil {
				return nil, err
			}
			candidates[i][j] = (mean[j] + z*deviation[j]) * t.o.Norm
		}
		t.keep(candidates[i])
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

// spread releases mean and deviation of each coordinate, in units of the norm. A deviation
// is no smaller than what the noise leaves to see.
func (t *training) spread(bits noise.Bits, x *fixed.Rows) (mean, deviation []float64, err error) {
	sum, squares := totals(x)
	count, err := t.moments.count.Add(bits, []int64{int64(x.Len())}, 0)
	if err != nil {
		return nil, nil, err
	}
	if mean, err = t.moments.sum.Add(bits, sum, fixed.Places); err != nil {
		return nil, nil, err
	}
	if deviation, err = t.moments.squares.Add(bits, squares, 2*fixed.Places); err != nil {
		return nil, nil, err
	}
	n := max(1, count[0])
	least := t.moments.squares.Deviation(2*fixed.Places) / n
	for j := range mean {
		mean[j] = min(max(mean[j]/n, -1), 1)
		deviation[j] = math.Sqrt(min(1, max(deviation[j]/n-mean[j]*mean[j], least)))
	}
	return mean, deviation, nil
}

// totals are the exact sums of the coordinates and of their squares.
func totals(x *fixed.Rows) (sum, squares []int64) {
	sum, squares = make([]int64, x.Width), make([]int64, x.Width)
	for i := range x.Len() {
		for j, v := range x.Row(i) {
			sum[j] += int64(v)
			squares[j] += int64(v) * int64(v)
		}
	}
	return sum, squares
}

// bell is a sum of twelve uniform numbers, nearly a standard normal one. It protects
// nobody.
func bell(stream *noise.Stream) (z float64, err error) {
	for range 12 {
		u, err := stream.Below(1 << 53)
		if err != nil {
			return 0, err
		}
		z += float64(u)/(1<<53) - 0.5
	}
	return z, nil
}
