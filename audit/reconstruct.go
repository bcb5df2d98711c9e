package audit

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/discreet-dp/discreet/noise"
)

// ReconstructOptions say how Reconstruct asks and solves.
type ReconstructOptions struct {
	// Queries is the number of random subsets to ask for; 4n if it is 0.
	Queries int
	// Robust minimises absolute instead of squared residuals, which survives answers
	// that are far off, as long as they are few (Dwork, McSherry and Talwar 2007: up
	// to 23.9 % arbitrary ones).
	Robust bool
}

// A Reconstruction is what an attack made of the answers.
type Reconstruction struct {
	Guesses  []bool // of each unit's bit
	Answered int    // queries
}

// Correct counts the units whose bit was guessed.
func (r *Reconstruction) Correct(secret []bool) (n int) {
	for i, g := range r.Guesses {
		if i < len(secret) && secret[i] == g {
			n++
		}
	}
	return n
}

// Reconstruct asks for random subsets and solves for the bits of all n units at
// once.
//
// Dinur and Nissim 2003: O(n·log²n) random subset queries with noise o(√n) give all
// but o(n) bits away, to linear programming. Least squares does as well here: its
// estimate of a bit has variance about 4σ²/(m−n) for m answers with noise of variance
// σ², so that with m = 4n and noise uniform within ±n^½/4 a bit is missed when a
// normal variable exceeds three deviations.
//
// Theorem (differential privacy): SuccessBound.
func Reconstruct(ctx context.Context, bits noise.Bits, o Oracle, n int, options ReconstructOptions) (*Reconstruction, error) {
	m := options.Queries
	if m == 0 {
		m = 4 * n
	}
	if n < 1 || n > 4096 || m < 1 || m > 64*n {
		return nil, bad("%d queries about %d units: want 1 to 4096 units, and 1 to 64 queries a unit", m, n)
	}
	a := mat.NewDense(m, n, nil) // a row a query
	y := mat.NewVecDense(m, nil)
	answered := 0
	for ; answered < m; answered++ {
		q, err := Bits(bits, n)
		if err != nil {
			return nil, err
		}
		answer, err := o(ctx, q)
		if errors.Is(err, ErrRefused) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reconstruct: %w", err)
		}
		if !finite(answer) {
			return nil, bad("the answer %v", answer)
		}
		size := 0.0
		for i, in := range q {
			if in {
				size++
				a.Set(answered, i, 1)
			}
		}
		y.SetVec(answered, answer-size/2) // the unknowns are how far bits are from 1/2
	}
	r := &Reconstruction{Guesses: make([]bool, n), Answered: answered}
	if answered == 0 {
		return r, nil
	}
	weights := make([]float64, answered)
	for i := range weights {
		weights[i] = 1
	}
	x, err := solve(a, y, weights)
	if err != nil {
		return nil, err
	}
	if options.Robust {
		// Iteratively reweighted least squares for least absolute residuals.
		var fitted mat.VecDense
		for range 30 {
			fitted.MulVec(a, x)
			for i := range weights {
				weights[i] = 1 / max(math.Abs(y.AtVec(i)-fitted.AtVec(i)), 1e-3)
			}
			if x, err = solve(a, y, weights); err != nil {
				return nil, err
			}
		}
	}
	for i := range r.Guesses {
		r.Guesses[i] = x.AtVec(i) > 0
	}
	return r, nil
}

// solve minimises Σ wᵢ(aᵢx − yᵢ)² over the rows that have weights, and a little of
// |x|², which decides where the answers are too few.
func solve(a *mat.Dense, y *mat.VecDense, weights []float64) (*mat.VecDense, error) {
	_, n := a.Dims()
	rows := mat.NewDense(len(weights), n, nil)
	values := mat.NewVecDense(len(weights), nil)
	total := 0.0
	for i, w := range weights {
		root := math.Sqrt(w)
		rows.RowView(i).(*mat.VecDense).ScaleVec(root, a.RowView(i))
		values.SetVec(i, root*y.AtVec(i))
		total += w
	}
	var gram mat.SymDense
	gram.SymOuterK(1, rows.T())
	ridge := 0.25 * total / float64(len(weights))
	for j := range n {
		gram.SetSym(j, j, gram.At(j, j)+ridge)
	}
	var c mat.Cholesky
	if !c.Factorize(&gram) {
		return nil, errors.New("reconstruct: the answers cannot be solved for")
	}
	x := mat.NewVecDense(n, nil)
	x.MulVec(rows.T(), values)
	if err := c.SolveVecTo(x, x); err != nil {
		return nil, fmt.Errorf("reconstruct: %w", err)
	}
	return x, nil
}
