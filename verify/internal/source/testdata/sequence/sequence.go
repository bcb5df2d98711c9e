// Package sequence has functions that return the sequences of others.
package sequence

import (
	"iter"

	"github.com/discreet-dp/discreet/noise"
)

type answer struct {
	above bool
	gap   int64
}

type run struct {
	noise *noise.DiscreteLaplace
	left  int
}

// Direct yields what its methods return.
//
//dp:adjacent each(q) <= 1
//dp:requires r.left > 0
//dp:cost 1/scale(r.noise)
func (r *run) Direct(stream *noise.Stream, q iter.Seq[int64]) iter.Seq2[answer, error] {
	return func(yield func(answer, error) bool) {
		for x := range q {
			a, err := r.next(stream, x)
			if !yield(a, err) || r.left == 0 {
				return
			}
		}
	}
}

func (r *run) next(stream *noise.Stream, x int64) (answer, error) {
	k, err := r.noise.Int64(stream)
	if err != nil {
		return answer{}, err
	}
	if x+k < 0 {
		return answer{}, nil
	}
	r.left--
	return answer{above: true, gap: x + k}, nil
}

// Same is Direct under another claim.
//
//dp:adjacent each(q) in [0, 1]
//dp:requires r.left > 0
//dp:cost 1/scale(r.noise)
func (r *run) Same(stream *noise.Stream, q iter.Seq[int64]) iter.Seq2[answer, error] {
	return r.Direct(stream, q)
}

// Drawn would show the same noise in each pass.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Drawn(src *noise.Source, x int64, eps float64) iter.Seq[int64] {
	return once(x + src.DiscreteLaplace(1/eps))
}

func once(x int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		yield(x)
	}
}
