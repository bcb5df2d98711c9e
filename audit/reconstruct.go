package audit

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
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
	if n < 1 || m < 1 || n > 4096 || m > 64*n || n*m > maxBits {
		return nil, bad("%d queries about %d units: want 1 to 4096 units, 1 to 64 queries a unit, and at most %d bits in all queries", m, n, maxBits)
	}
	s := system{n: n}
	for len(s.queries) < m {
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
		s.add(q, answer)
	}
	r := &Reconstruction{Guesses: make([]bool, n), Answered: len(s.queries)}
	if r.Answered == 0 {
		return r, nil
	}
	x, err := s.solve(ctx)
	if err != nil {
		return nil, err
	}
	if options.Robust {
		// Iteratively reweighted least squares for least absolute residuals.
		for range 30 {
			for i, q := range s.queries {
				s.weights[i] = 1 / max(math.Abs(s.values[i]-sumOver(q, x)), 1e-3)
			}
			if x, err = s.solve(ctx); err != nil {
				return nil, err
			}
		}
	}
	for i := range r.Guesses {
		r.Guesses[i] = x[i] > 0
	}
	return r, nil
}

// maxBits bounds the memory of an attack.
const maxBits = 1 << 26

// A system is linear: the unknowns, of which each query adds up some, are how far the
// units' bits are from 1/2.
type system struct {
	n       int
	queries []Subset
	values  []float64
	weights []float64
}

func (s *system) add(q Subset, answer float64) {
	size := 0.0
	for _, in := range q {
		if in {
			size++
		}
	}
	s.queries = append(s.queries, q)
	s.values = append(s.values, answer-size/2)
	s.weights = append(s.weights, 1)
}

func sumOver(q Subset, x []float64) (sum float64) {
	for i, in := range q {
		if in {
			sum += x[i]
		}
	}
	return sum
}

// solve minimises the weighted squares of the residuals and a little of |x|², which
// decides where the answers are too few.
func (s *system) solve(ctx context.Context) ([]float64, error) {
	gram := mat.NewSymDense(s.n, nil)
	right := make([]float64, s.n)
	total := 0.0
	block := mat.NewDense(min(256, len(s.queries)), s.n, nil)
	rows, _ := block.Dims()
	for first := 0; first < len(s.queries); first += rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		block.Zero()
		for i := first; i < min(first+rows, len(s.queries)); i++ {
			w := s.weights[i]
			root := math.Sqrt(w)
			row := block.RawRowView(i - first)
			for j, in := range s.queries[i] {
				if in {
					row[j] = root
					right[j] += w * s.values[i]
				}
			}
			total += w
		}
		blas64.Syrk(blas.Trans, 1, block.RawMatrix(), 1, gram.RawSymmetric())
	}
	ridge := 0.25 * total / float64(len(s.queries))
	for j := range s.n {
		gram.SetSym(j, j, gram.At(j, j)+ridge)
	}
	var c mat.Cholesky
	if !c.Factorize(gram) {
		return nil, errors.New("reconstruct: the answers cannot be solved for")
	}
	x := mat.NewVecDense(s.n, right)
	if err := c.SolveVecTo(x, x); err != nil {
		return nil, fmt.Errorf("reconstruct: %w", err)
	}
	return right, nil
}
