package convex

import (
	"context"
	"math"
	"math/big"

	"gonum.org/v1/gonum/floats"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/internal/fixed"
	"github.com/discreet-dp/discreet/noise"
)

// gradient perturbation descends along sums of gradients with noise, each over all
// examples.
//
// Theorem. At given weights an example's gradient is s·x with a slope |s| <= 1 and
// ‖x‖² <= r², all of them integers on the grid, and their products exact: one example moves
// the sum by at most r in L2, and √d·r in L1. T sums with Gaussian noise are ρ-zCDP
// together if each is (ρ/T)-zCDP (Bun and Steinke 2016, Lemma 2.3: composition is
// adaptive, the weights are functions of the sums before). What is made of the noisy
// sums is post-processing: regularization, steps, averages.
type gradient struct {
	t     *training
	steps int
	noise *cost.Noise
}

func newGradient(t *training, share *big.Rat) (way, error) {
	g := gradient{t: t, steps: t.o.Steps}
	if g.steps == 0 {
		g.steps = 60
	}
	s := sensitivity(t.normSquared(), t.width)
	var err error
	all := big.NewRat(int64(t.problems), 1)
	if g.noise, err = t.plan.Noise(all.Mul(all, share), g.steps*t.problems, s); err != nil {
		return nil, err
	}
	return g, nil
}

// sensitivity is that of a product of a number of at most One and a row of width numbers
// whose squares sum to at most normSquared·One².
func sensitivity(normSquared int64, width int) cost.Sensitivity {
	one := new(big.Rat).SetInt64(fixed.One * fixed.One)
	l2 := new(big.Rat).Mul(one, one)
	l1 := numeric.OfInt(normSquared * int64(width)).Sqrt().Mul(numeric.Of(one)).Hi()
	return cost.Sensitivity{
		L1:        new(big.Rat).SetInt(numeric.Ceil(l1)),
		L2Squared: l2.Mul(l2, big.NewRat(normSquared, 1)),
	}
}

// learn takes steps by Adam (Kingma and Ba 2015) along the mean of the noisy
// gradients so far that its moments are, and returns the average of the last half of
// the points, in which the steps' noise averages out (Polyak and Juditsky 1992).
func (g gradient) learn(ctx context.Context, bits noise.Bits, p *problem, size float64) ([]float64, error) {
	d := g.t.width
	lambda := g.t.o.Regularization
	w, average := make([]float64, d), make([]float64, d)
	first, second := make([]float64, d), make([]float64, d)
	const beta1, beta2 = 0.9, 0.99
	rate := g.t.o.Travel / float64(g.steps)
	if rate == 0 {
		rate = 3 * math.Sqrt(g.t.weightSquared()) / float64(g.steps)
	}
	for step := range g.steps {
		g.t.plan.Progress(step, g.steps)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		noisy, err := g.noise.Add(bits, p.sum(w), 2*fixed.Places)
		if err != nil {
			return nil, err
		}
		floats.AddScaled(noisy, lambda, w)
		floats.Scale(1/size, noisy)
		for j, x := range noisy {
			first[j] = beta1*first[j] + (1-beta1)*x
			second[j] = beta2*second[j] + (1-beta2)*x*x
			m := first[j] / (1 - math.Pow(beta1, float64(step+1)))
			v := second[j] / (1 - math.Pow(beta2, float64(step+1)))
			w[j] -= rate * m / (math.Sqrt(v) + 1e-12)
		}
		if 2*step >= g.steps {
			floats.Add(average, w)
		}
	}
	floats.Scale(1/float64(g.steps-(g.steps+1)/2), average)
	return average, nil
}

// sum returns Σ sᵢxᵢ at w, with twice the grid's places.
func (p *problem) sum(w []float64) []int64 {
	sums := make([]int64, len(w))
	for i, y := range p.y {
		row := p.x.Row(i)
		margin := 0.0
		for j, x := range row {
			margin += w[j] * float64(x)
		}
		fixed.Add(sums, row, fixed.Number(p.loss.slope(margin/fixed.One, y)))
	}
	return sums
}
