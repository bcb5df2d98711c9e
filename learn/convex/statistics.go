package convex

import (
	"context"
	"errors"
	"math"
	"math/big"

	"gonum.org/v1/gonum/mat"

	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/internal/fixed"
	"github.com/discreet-dp/discreet/learn/internal/moment"
	"github.com/discreet-dp/discreet/noise"
)

// statistics perturbation solves the normal equations (M + λI)w = v for noisy M = Σ x xᵀ
// and v = Σ y·x.
//
// It is AdaSSP (Wang 2018, "Revisiting differentially private linear regression"): λ is
// what keeps the least eigenvalue clear of the noise in M, whose norm is about √2·σ√d, so
// that data that are well conditioned have no bias. There a third of the guarantee goes
// into a noisy least eigenvalue of the exact M; here it is that of the noisy M, which is
// lifted to 0.3·σ√d (of data with directions that nobody varies in, it is near −√2·σ√d): a
// function of what is released. Sensitivities: see package moment; |y| <= 1, so that v
// has that of a gradient.
type statistics struct {
	t       *training
	moments *moment.Second
	noise   *cost.Noise
}

func newStatistics(t *training, share *big.Rat) (way, error) {
	s := statistics{t: t}
	half := new(big.Rat).Mul(share, big.NewRat(1, 2))
	var err error
	if s.moments, err = moment.New(t.plan, half, t.width, t.normSquared()); err != nil {
		return nil, err
	}
	if s.noise, err = t.plan.Noise(half, 1, sensitivity(t.normSquared(), t.width)); err != nil {
		return nil, err
	}
	return s, nil
}

func (s statistics) learn(_ context.Context, bits noise.Bits, p *problem, _ float64) ([]float64, error) {
	m, err := s.moments.Release(bits, p.x)
	if err != nil {
		return nil, err
	}
	d := s.t.width
	sums := make([]int64, d)
	for i, y := range p.y {
		fixed.Add(sums, p.x.Row(i), fixed.Number(y))
	}
	v, err := s.noise.Add(bits, sums, 2*fixed.Places)
	if err != nil {
		return nil, err
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(m, false) {
		return nil, errors.New("noisy moments have no eigenvalues that float64 arithmetic finds")
	}
	least := eigen.Values(nil)[0]
	lambda := max(s.t.o.Regularization, 0.3*s.moments.Deviation()*math.Sqrt(float64(d))-least)
	for j := range d {
		m.SetSym(j, j, m.At(j, j)+lambda)
	}
	var c mat.Cholesky
	w := mat.NewVecDense(d, nil)
	if !c.Factorize(m) {
		return nil, errors.New("noisy normal equations have no solution that float64 arithmetic finds")
	}
	if err := c.SolveVecTo(w, mat.NewVecDense(d, v)); err != nil {
		var badly mat.Condition
		if !errors.As(err, &badly) {
			return nil, err
		}
	}
	return w.RawVector().Data, nil
}
