package local

import (
	"iter"
	"math/big"
	"math/bits"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// hadamard tells one coefficient of the Hadamard transform of the value's one-hot vector, by
// randomized response. Which one is a public coin, so that the reply is one bit (Bassily and
// Smith 2015; Acharya, Sun and Zhang 2019).
//
// Rows x and v of the matrix agree in half of the columns if x ≠ v: a report supports a value
// by naming its entry, the true one's with probability p = e^ε/(e^ε+1), another's with 1/2.
type hadamard struct {
	k, size int
	bitResponse
}

func newHadamard(k int, e privacy.Epsilon) *hadamard {
	return &hadamard{k, roundedSize(k), newBitResponse(e)}
}

// roundedSize is the least power of two that is at least n.
func roundedSize(n int) int { return 1 << bits.Len(uint(n-1)) }

// entry is that of the Hadamard matrix: 0 for 1, 1 for −1.
func entry(row, column uint64) uint64 { return uint64(bits.OnesCount64(row&column)) & 1 }

func (h *hadamard) form() form       { return form{coins: []uint64{uint64(h.size)}, numbers: []uint64{2}} }
func (h *hadamard) channel() channel { return plainChannel(h.p, half()) }

func (h *hadamard) reply(s *noise.Stream, r Report, value int) (Report, error) {
	bit, err := h.tell(s, int(entry(uint64(value), r[0])))
	return append(r, uint64(bit)), err
}

func (h *hadamard) law(coins Report, value int) iter.Seq2[Report, *big.Rat] {
	return bitLaws(coins, entry(uint64(value), coins[0]), h.p)
}

// A spectrum adds up the signs that were told of each coefficient. Of it all values' scores
// are one transform.
type spectrum struct {
	k     int
	odd   bool // the row of value v is 2v+1, and not v
	sums  []float64
	n     float64
	point bool // a report is a column, and says that its entry is 1
}

func (h *hadamard) counter() counter { return &spectrum{k: h.k, sums: make([]float64, h.size)} }

func (s *spectrum) add(r Report) {
	s.n++
	if s.point {
		s.sums[r[0]]++
	} else {
		s.sums[r[0]] += 1 - 2*float64(r[1])
	}
}

// scores: agreements less disagreements are the sum, both together n.
func (s *spectrum) scores() []float64 {
	all := append([]float64{}, s.sums...)
	transform(all)
	out := make([]float64, s.k)
	for v := range out {
		row := v
		if s.odd {
			row = 2*v + 1
		}
		out[v] = (s.n + all[row]) / 2
	}
	return out
}

func (s *spectrum) merge(other counter) {
	o := other.(*spectrum)
	s.n += o.n
	for i, x := range o.sums {
		s.sums[i] += x
	}
}

// transform multiplies x by the Hadamard matrix of its size, a power of two.
func transform(x []float64) {
	for h := 1; h < len(x); h *= 2 {
		for i := 0; i < len(x); i += 2 * h {
			for j := i; j < i+h; j++ {
				x[j], x[j+h] = x[j]+x[j+h], x[j]-x[j+h]
			}
		}
	}
}

func (h *hadamard) parameters(d *Description) {
	d.Set("p_keep", near(h.p))
	d.Set("scale", 1/near(minus(plus(h.p, h.p), one())))
	d.pair(h.channel())
}

// hadamardResponse tells a column in which the value's row of the matrix is 1, with probability
// p, or one in which it is −1 (Acharya, Sun and Zhang 2019, for one block). Rows are odd, so that
// half of the entries of each are 1, and columns 2j and 2j+1 differ in every row.
//
// A column is drawn without the value, and of a pair the one is told whose entry the response says:
// the pair is a public coin, and all that the value decides is one bit.
type hadamardResponse struct{ hadamard }

func newHadamardResponse(k int, e privacy.Epsilon) *hadamardResponse {
	return &hadamardResponse{hadamard{k, 2 * roundedSize(k), newBitResponse(e)}}
}

func oddRow(value int) uint64 { return 2*uint64(value) + 1 }

func (h *hadamardResponse) form() form { return form{numbers: []uint64{uint64(h.size)}} }

func (h *hadamardResponse) reply(s *noise.Stream, r Report, value int) (Report, error) {
	pair, err := s.Below(uint64(h.size / 2))
	if err != nil {
		return nil, err
	}
	second, err := h.tell(s, int(entry(oddRow(value), 2*pair))) // the entry of 2·pair is 1, or that of the other
	return append(r, 2*pair+uint64(second)), err
}

func (h *hadamardResponse) law(_ Report, value int) iter.Seq2[Report, *big.Rat] {
	in, out := over(h.p, whole(h.size/2)), over(not(h.p), whole(h.size/2))
	return func(yield func(Report, *big.Rat) bool) {
		for y := range uint64(h.size) {
			p := in
			if entry(oddRow(value), y) == 1 {
				p = out
			}
			if !yield(Report{y}, p) {
				return
			}
		}
	}
}

func (h *hadamardResponse) counter() counter {
	return &spectrum{k: h.k, odd: true, point: true, sums: make([]float64, h.size)}
}
