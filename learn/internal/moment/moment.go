// Package moment releases the second moments of examples.
package moment

import (
	"fmt"
	"math/big"

	"gonum.org/v1/gonum/mat"

	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/internal/fixed"
	"github.com/discreet-dp/discreet/noise"
)

// Second is calibrated noise for Σ x xᵀ.
//
// Theorem (Dwork, Talwar, Thakurta and Zhang 2014, "Analyze Gauss", with its noise
// better used). Let ‖x‖² <= r². k examples move M = Σ x xᵀ by D, with Frobenius norm at
// most kr², and M is symmetric: of D, only Dᵢᵢ and Dᵢⱼ, i < j, are released. With discrete
// Gaussian noise of variance σ² on the diagonal and σ²/2 off it, the release is
//
//	Σ Dᵢᵢ²/2σ² + Σ_{i<j} Dᵢⱼ²/σ² = ‖D‖²/2σ² <= (kr²)²/2σ²  zCDP,
//
// the divergences of independent coordinates adding up (Canonne, Kamath and Steinke
// 2020, Theorem 14). Noise of variance σ² everywhere would cost the same.
//
// Pure: Σ_{i<=j} |xᵢxⱼ| = ((Σ|xᵢ|)² + Σxᵢ²)/2 <= (d+1)r²/2 is the L1 distance.
type Second struct {
	width               int
	diagonal, elsewhere *cost.Noise
}

// New takes a share of the plan for the moments of vectors of the given width, whose squares
// on the grid sum to at most normSquared·One².
func New(p *cost.Plan, share *big.Rat, width int, normSquared int64) (*Second, error) {
	s := &Second{width: width}
	var err error
	one := new(big.Rat).SetInt64(normSquared * fixed.One * fixed.One)
	square := new(big.Rat).Mul(one, one)
	l1 := new(big.Rat).Mul(one, big.NewRat(int64(width+1), 2))
	if p.Pure() || width == 1 {
		s.diagonal, err = p.Noise(share, 1, cost.Sensitivity{L1: l1, L2Squared: square})
		s.elsewhere = s.diagonal
		return s, err
	}
	s.diagonal, s.elsewhere, err = p.Halves(share, square)
	if err != nil {
		return nil, fmt.Errorf("second moments: %w", err)
	}
	return s, nil
}

// Release returns the noisy moments.
func (s *Second) Release(bits noise.Bits, x *fixed.Rows) (*mat.SymDense, error) {
	d := s.width
	sums := make([][]int64, d)
	for j := range sums {
		sums[j] = make([]int64, d-j)
	}
	for i := range x.Len() {
		row := x.Row(i)
		for j, v := range row {
			if v != 0 {
				fixed.Add(sums[j], row[j:], int64(v))
			}
		}
	}
	m := mat.NewSymDense(d, nil)
	for j, row := range sums {
		diagonal, err := s.diagonal.Add(bits, row[:1], 2*fixed.Places)
		if err != nil {
			return nil, err
		}
		rest, err := s.elsewhere.Add(bits, row[1:], 2*fixed.Places)
		if err != nil {
			return nil, err
		}
		m.SetSym(j, j, diagonal[0])
		for i, v := range rest {
			m.SetSym(j, j+1+i, v)
		}
	}
	return m, nil
}

// Deviation is the largest standard deviation of the noise on an entry.
func (s *Second) Deviation() float64 { return s.diagonal.Deviation(2 * fixed.Places) }
