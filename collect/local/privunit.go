package local

import (
	"fmt"
	"iter"
	"math"
	"math/big"
	"sort"

	"github.com/discreet-dp/discreet/internal/proportion"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// PrivUnit is the protocol for a vector.
const PrivUnit Protocol = "privunit"

// VectorOptions say what is asked.
type VectorOptions struct {
	// Dimension is the number of coordinates, at most 4096. Required.
	Dimension int
	// Epsilon is what a report may reveal, at most 64. Required.
	Epsilon privacy.Epsilon
}

// Vector asks each respondent for a vector of [−1, 1]^d, and estimates the mean of all. It is
// PrivUnit over the corners of the cube (Bhowmick et al. 2018, PrivUnit∞), whose law is finite;
// over the sphere it is not. It is immutable and safe for concurrent use.
//
// Each coordinate is rounded to −1 or 1, at random so that its mean stays. Of the corner V that
// this gives, one that differs from it in at most r coordinates is told with probability p,
// uniformly, otherwise one that differs in more. The ratio of the two probabilities is
// p·N'/((1−p)·N), N and N' being the numbers of corners: at most e^ε for p rounded down, whatever
// the corners, and so for any vectors, whose laws are mixtures. r is the one of least variance.
type Vector struct {
	options VectorOptions
	radius  int
	p       *big.Rat
	in, out []*big.Int // of in or out, how many corners differ in up to so many coordinates
	keep    *big.Rat   // m: of the corner that is told the mean is m·V
	epsilon privacy.Epsilon
	form    form
}

// NewVector returns the protocol with the given options.
func NewVector(o VectorOptions) (*Vector, error) {
	if err := checkEpsilon(o.Epsilon); err != nil {
		return nil, err
	}
	if o.Dimension < 1 || o.Dimension > 4096 {
		return nil, parameter("the dimension is not between 1 and 4096")
	}
	v := &Vector{options: o, form: form{bits: o.Dimension}}
	odds := exp(o.Epsilon, one()).Lo()
	d := int64(o.Dimension)
	all := new(big.Int).Lsh(big.NewInt(1), uint(d))
	// By C(d−1, r) = ΣC(d, i)(1−2i/d) over i <= r, the mean is (e^ε−1)·C(d−1, r)/(e^ε·N + N').
	inside, choose, kept := new(big.Int), big.NewInt(1), big.NewInt(1) // N, C(d, r), C(d−1, r)
	best := new(big.Float)
	for r := int64(0); r < d; r++ {
		inside.Add(inside, choose)
		n := new(big.Rat).SetInt(inside)
		weight := plus(times(odds, n), minus(new(big.Rat).SetInt(all), n))
		mean := new(big.Float).SetPrec(64).Quo(new(big.Float).SetPrec(64).SetInt(kept), new(big.Float).SetPrec(64).SetRat(weight))
		if mean.Cmp(best) > 0 {
			best, v.radius = mean, int(r)
		}
		choose.Mul(choose, big.NewInt(d-r)).Quo(choose, big.NewInt(r+1))
		kept.Mul(kept, big.NewInt(d-1-r)).Quo(kept, big.NewInt(r+1))
	}
	total := new(big.Int)
	for i := range d + 1 {
		if i == int64(v.radius)+1 {
			total = new(big.Int)
		}
		total = new(big.Int).Add(total, new(big.Int).Binomial(d, i))
		if i <= int64(v.radius) {
			v.in = append(v.in, total)
		} else {
			v.out = append(v.out, total)
		}
	}
	n, m := v.corners()
	v.p = down(over(times(odds, n), plus(times(odds, n), m)))
	s := new(big.Rat).SetInt(new(big.Int).Binomial(d-1, int64(v.radius)))
	v.keep = times(s, minus(over(v.p, n), over(not(v.p), m)))
	var err error
	v.epsilon, err = certified(over(times(v.p, m), times(not(v.p), n)), o.Epsilon)
	return v, err
}

// corners are N and N'.
func (v *Vector) corners() (in, out *big.Rat) {
	return new(big.Rat).SetInt(v.in[len(v.in)-1]), new(big.Rat).SetInt(v.out[len(v.out)-1])
}

// Epsilon is what one report reveals at most, rounded up to 40 digits.
func (v *Vector) Epsilon() privacy.Epsilon { return v.epsilon }

// Event is what one report reveals.
func (v *Vector) Event() privacy.Event { return replaceOne(v.epsilon) }

// Randomize returns a report of a vector: a corner, a bit for each coordinate. Coordinates
// beyond the cube count as the nearer end; NaN, and what is missing, as 0.
func (v *Vector) Randomize(s *noise.Stream, x []float64) (Report, error) {
	r, err := v.randomize(s, x)
	if err != nil {
		return nil, fmt.Errorf("randomize answer: %w", err)
	}
	return r, nil
}

func (v *Vector) randomize(s *noise.Stream, x []float64) (Report, error) {
	r := make(Report, v.form.words())
	for i := range v.options.Dimension {
		t := 0.0
		if i < len(x) && !math.IsNaN(x[i]) {
			t = min(max(x[i], -1), 1)
		}
		// 1 with probability (1+t)/2, t in steps of 2^-52.
		u, err := s.Below(1 << 53)
		if err != nil {
			return nil, err
		}
		if u < uint64(math.Round((1+t)*(1<<52))) {
			r[i/64] |= 1 << (i % 64)
		}
	}
	return r, v.turn(s, r)
}

// turn changes a corner into the one that is told.
func (v *Vector) turn(s *noise.Stream, r Report) error {
	inside, err := noise.Bernoulli(s, v.p)
	if err != nil {
		return err
	}
	sums, from := v.out, v.radius+1
	if inside {
		sums, from = v.in, 0
	}
	u, err := noise.Uniform(s, sums[len(sums)-1])
	if err != nil {
		return err
	}
	differ := from + sort.Search(len(sums), func(i int) bool { return u.Cmp(sums[i]) < 0 })
	// A set of so many coordinates, by Floyd's algorithm.
	changed := make([]uint64, len(r))
	for j := v.options.Dimension - differ; j < v.options.Dimension; j++ {
		i, err := s.Index(j + 1)
		if err != nil {
			return err
		}
		if changed[i/64]>>(i%64)&1 == 1 {
			i = j
		}
		changed[i/64] |= 1 << (i % 64)
	}
	for i, w := range changed {
		r[i] ^= w
	}
	return nil
}

// Law yields each report of a corner, a bit for each coordinate, with its probability.
func (v *Vector) Law(corner uint64) iter.Seq2[Report, *big.Rat] {
	n, m := v.corners()
	in, out := over(v.p, n), over(not(v.p), m)
	return func(yield func(Report, *big.Rat) bool) {
		if v.options.Dimension > 24 {
			return
		}
		for z := range uint64(1) << v.options.Dimension {
			p := out
			if bitsOf(z^corner) <= v.radius {
				p = in
			}
			if !yield(Report{z}, p) {
				return
			}
		}
	}
}

// Format writes a report as hexadecimal digits.
func (v *Vector) Format(r Report) string { return v.form.format(r) }

// Parse reads what Format writes.
func (v *Vector) Parse(text string) (Report, error) { return v.form.parse(text) }

// A VectorTally adds up reports.
type VectorTally struct {
	of      *Vector
	ones    []uint64
	reports int64
}

// NewTally returns an empty tally.
func (v *Vector) NewTally() *VectorTally {
	return &VectorTally{of: v, ones: make([]uint64, v.options.Dimension)}
}

// Add counts a report. It refuses one that the protocol does not make, and then counts nothing.
func (t *VectorTally) Add(r Report) error {
	if err := t.of.form.check(r); err != nil {
		return err
	}
	countBits(r, t.ones)
	t.reports++
	return nil
}

// Reports is how many reports were counted.
func (t *VectorTally) Reports() int64 { return t.reports }

// Estimate returns the mean of each coordinate, as Estimates of which Raw may lie outside of
// [−1, 1]. The share of ones has the expectation (1+m·mean)/2.
func (t *VectorTally) Estimate(o EstimateOptions) (*Estimates, error) {
	tail, err := o.tail(len(t.ones))
	if err != nil {
		return nil, err
	}
	if t.reports == 0 {
		return nil, ErrNoReports
	}
	e := &Estimates{Reports: t.reports}
	m := near(t.of.keep)
	for _, ones := range t.ones {
		low, high := proportion.Bounds(int64(ones), t.reports, tail)
		e.Raw = append(e.Raw, (2*float64(ones)/float64(t.reports)-1)/m)
		e.Low = append(e.Low, max((2*low-1)/m, -1))
		e.High = append(e.High, min((2*high-1)/m, 1))
	}
	return e, nil
}

// Variance is that of a coordinate's value in one report, where the true one is x.
func (v *Vector) Variance(x float64) float64 { m := near(v.keep); return 1/(m*m) - x*x }

// Describe returns the numbers of the protocol. Variances are those of a coordinate's mean over
// so many reports.
func (v *Vector) Describe(reports int64) *Description {
	d := newDescription(PrivUnit, v.options.Epsilon, v.epsilon, v.options.Epsilon.Float64(), v.epsilon.Float64(), reports)
	d.Set("dimension", v.options.Dimension)
	d.Set("reports", max(reports, 1))
	d.Set("radius", v.radius)
	d.Set("p", near(v.p))
	d.Set("q", near(not(v.p)))
	d.Set("m", near(v.keep))
	d.Set("scale", 1/near(v.keep))
	d.Set("over", "the corners of the cube")
	d.Set("variance", v.Variance(0)/d.reports)
	d.Set("event", v.Event())
	return d
}

// Error returns an α such that the raw mean of a coordinate over so many respondents is within α
// of the true one but with probability beta (Bernstein; see Frequency.Error).
func (v *Vector) Error(respondents int64, beta *big.Rat) (float64, error) {
	tail, err := EstimateOptions{Beta: beta}.tail(1)
	if err != nil {
		return 0, err
	}
	if respondents < 1 {
		return 0, parameter("there are no respondents")
	}
	return bernstein(float64(respondents), 0.25, tail) * 2 / near(v.keep), nil
}

// Respondents returns the least number of them for an Error of at most alpha.
func (v *Vector) Respondents(alpha, beta *big.Rat) (int64, error) {
	if alpha == nil || alpha.Sign() <= 0 {
		return 0, parameter("alpha is not positive")
	}
	return leastCount(func(n int64) (bool, error) {
		e, err := v.Error(n, beta)
		return e <= near(alpha), err
	})
}
