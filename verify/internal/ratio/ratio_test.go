package ratio

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// A specimen is proved at a cost, or is not: the text says what the error must say.
type specimen struct{ name, src, least, err string }

var programs = []specimen{
	{"randomized response", `
//dp:adjacent |x| <= 1
//dp:requires 0.5 < p && p < 1
//dp:cost math.Log(p/(1-p))
func f(x bool, p float64, src *noise.Source) bool {
	if src.Bernoulli(p) {
		return x
	}
	return !x
}`, "math.Log(p/(1 - p))", ""},
	{"randomized response, lie more often", `
//dp:adjacent |x| <= 1
//dp:requires 0 < p && p < 1
//dp:cost math.Log(p/(1-p))
func f(x bool, p float64, src *noise.Source) bool {
	if src.Bernoulli(p) {
		return x
	}
	return !x
}`, "", "least cost"},
	{"randomized response, either way", `
//dp:adjacent |x| <= 1
//dp:requires 0 < p && p < 1
//dp:cost math.Abs(math.Log(p/(1-p)))
func f(x bool, p float64, src *noise.Source) bool {
	if src.Bernoulli(p) {
		return x
	}
	return !x
}`, "max(math.Log((1 - p)/p), math.Log(p/(1 - p)))", ""},
	{"two odds, of which a ratio bounds all quotients", `
//dp:adjacent |x| <= 1
//dp:requires 0 < p && p < 1 && 0 < q && q < 1 && r > 0
//dp:requires p <= r*q && q <= r*p
//dp:requires 1-p <= r*(1-q) && 2*(1-q) <= 2*r*(1-p)
//dp:cost math.Log(r)
func f(x bool, p, q, r float64, src *noise.Source) bool {
	if x {
		return src.Bernoulli(p)
	}
	return src.Bernoulli(q)
}`, "max(math.Log((1 - p)/(1 - q)), math.Log((1 - q)/(1 - p)), math.Log(p/q), math.Log(q/p))", ""},
	{"two odds, of which the ratio says that they are odds", `
//dp:adjacent |x| <= 1
//dp:requires 0 <= p && p < 2 && 0 < q && q <= 1
//dp:requires p <= r*q && q <= r*p && q < 1 && r >= 0
//dp:requires 2-p <= r*(1-q) && 1-q <= r*(1-p)
//dp:cost math.Log(r)
func f(x bool, p, q, r float64, src *noise.Source) bool {
	if x {
		return src.Bernoulli(p)
	}
	return src.Bernoulli(q)
}`, "max(math.Log((1 - p)/(1 - q)), math.Log((1 - q)/(1 - p)), math.Log(p/q), math.Log(q/p))", ""},
	{"two odds, of which nothing says that they are odds", `
//dp:adjacent |x| <= 1
//dp:requires 0 <= p && p < 2 && 0 < q && q < 1 && r > 0
//dp:requires p <= r*q && q <= r*p && 1-p <= r*(1-q)
//dp:cost math.Log(r)
func f(x bool, p, q, r float64, src *noise.Source) bool {
	if x {
		return src.Bernoulli(p)
	}
	return src.Bernoulli(q)
}`, "", "depends on private data"},
	{"requirements that contradict each other", `
//dp:adjacent |x| <= 1
//dp:requires 0 < p && 0 < q && r < 0 && p <= r*q
//dp:cost math.Log(r)
func f(x bool, p, q, r float64, src *noise.Source) bool {
	if src.Bernoulli(p) {
		return x
	}
	return !x
}`, "0", ""},
	{"requirements that nearly contradict each other", `
//dp:adjacent |x| <= 1
//dp:requires 0 < p && p < 1 && 0 < q && r <= 1 && p <= r*q
//dp:cost r
func f(x bool, p, q, r float64, src *noise.Source) bool {
	if src.Bernoulli(p) {
		return x
	}
	return !x
}`, "", "least cost"},
	{"two odds, of which a ratio bounds all quotients but one", `
//dp:adjacent |x| <= 1
//dp:requires 0 < p && p < 1 && 0 < q && q < 1 && r > 0
//dp:requires p <= r*q && q <= r*p
//dp:requires 1-p <= r*(1-q) && 1-q >= r*(1-p)
//dp:cost math.Log(r)
func f(x bool, p, q, r float64, src *noise.Source) bool {
	if x {
		return src.Bernoulli(p)
	}
	return src.Bernoulli(q)
}`, "", "least cost"},
	{"randomized response by epsilon", `
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func f(x bool, eps float64, src *noise.Source) bool {
	p := math.Exp(eps) / (1 + math.Exp(eps))
	if src.Bernoulli(p) {
		return x
	}
	return !x
}`, "eps", ""},
	{"half of it claimed", `
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps/2
func f(x bool, eps float64, src *noise.Source) bool {
	p := math.Exp(eps) / (1 + math.Exp(eps))
	if src.Bernoulli(p) {
		return x
	}
	return !x
}`, "", "least cost"},
	{"two coins", `
//dp:adjacent |x| <= 1
//dp:cost math.Log(3)
func f(x bool, src *noise.Source) bool {
	if src.Bernoulli(0.5) {
		return x
	}
	return src.Bernoulli(0.5)
}`, "math.Log(3)", ""},
	{"two coins, a decimal just above ln 3", `
//dp:adjacent |x| <= 1
//dp:cost 1.0986122886681099
func f(x bool, src *noise.Source) bool {
	if src.Bernoulli(0.5) {
		return x
	}
	return src.Bernoulli(0.5)
}`, "math.Log(3)", ""},
	{"two coins, a decimal just below ln 3", `
//dp:adjacent |x| <= 1
//dp:cost 1.0986122886681096
func f(x bool, src *noise.Source) bool {
	if src.Bernoulli(0.5) {
		return x
	}
	return src.Bernoulli(0.5)
}`, "", "least cost"},
	{"the second coin is biased", `
//dp:adjacent |x| <= 1
//dp:cost math.Log(3)
func f(x bool, src *noise.Source) bool {
	if src.Bernoulli(0.5) {
		return x
	}
	return src.Bernoulli(0.25)
}`, "", "least cost"},
	{"the truth is always told", `
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func f(x bool, eps float64, src *noise.Source) bool {
	if src.Bernoulli(1) {
		return x
	}
	return !x
}`, "", "impossible"},
	{"what is no probability", `
//dp:adjacent |x| <= 1
//dp:requires p > 0.5
//dp:cost math.Log(p/(1-p))
func f(x bool, p float64, src *noise.Source) bool {
	if src.Bernoulli(p) {
		return x
	}
	return !x
}`, "", "not proved"},
	{"answers of five", `
//dp:adjacent |x| <= 4
//dp:requires eps > 0 && 0 <= x && x < 5
//dp:cost eps
func f(x int, eps float64, src *noise.Source) int {
	scores := make([]float64, 5)
	scores[x] = 1
	return src.Choose(scores, 2*eps)
}`, "eps", ""},
	{"answers of k", `
//dp:adjacent |x| <= k
//dp:requires eps > 0 && 0 <= x && x < k
//dp:cost eps
func f(x, k int, eps float64, src *noise.Source) int {
	scores := make([]float64, k)
	scores[x] = 1
	return src.Choose(scores, 2*eps)
}`, "eps", ""},
	{"answers of k, out of range", `
//dp:adjacent |x| <= k
//dp:requires eps > 0 && 0 <= x && x <= k
//dp:cost eps
func f(x, k int, eps float64, src *noise.Source) int {
	scores := make([]float64, k)
	scores[x] = 1
	return src.Choose(scores, 2*eps)
}`, "", "in range"},
	{"answers of four by coins", `
//dp:adjacent |x| <= 3
//dp:requires 0 <= x && x < 4 && 0 < p && p < 1
//dp:cost math.Log((1+3*p)/(1-p))
func f(x int, p float64, src *noise.Source) int {
	if src.Bernoulli(p) {
		return x
	}
	for i := 0; i < 3; i++ {
		if src.Bernoulli(1/float64(4-i)) {
			return i
		}
	}
	return 3
}`, "math.Log((1 + 3*p)/(1 - p))", ""},
	{"bits, one differs", `
//dp:adjacent one(bits) <= 1
//dp:requires eps > 0
//dp:cost eps
func f(bits []bool, eps float64, src *noise.Source) []bool {
	var out []bool
	for _, b := range bits {
		if src.Bernoulli(1 / (1 + math.Exp(eps))) {
			out = append(out, !b)
		} else {
			out = append(out, b)
		}
	}
	return out
}`, "eps", ""},
	{"bits, each may differ", `
//dp:adjacent each(bits) <= 1
//dp:requires eps > 0
//dp:cost eps*float64(len(bits))
func f(bits []bool, eps float64, src *noise.Source) []bool {
	out := make([]bool, len(bits))
	for i, b := range bits {
		if src.Bernoulli(1 / (1 + math.Exp(eps))) {
			out[i] = !b
		} else {
			out[i] = b
		}
	}
	return out
}`, "eps*len(bits)", ""},
	{"bits, each may differ, one is paid for", `
//dp:adjacent each(bits) <= 1
//dp:requires eps > 0
//dp:cost eps
func f(bits []bool, eps float64, src *noise.Source) []bool {
	var out []bool
	for _, b := range bits {
		if src.Bernoulli(1 / (1 + math.Exp(eps))) {
			out = append(out, !b)
		} else {
			out = append(out, b)
		}
	}
	return out
}`, "", "least cost"},
	{"RAPPOR", `
//dp:adjacent each(bits) <= 1
//dp:requires 0 < h && h < 1
//dp:cost float64(len(bits))*math.Log((1-h/2)/(h/2))
func f(bits []bool, h float64, src *noise.Source) []bool {
	var out []bool
	for _, b := range bits {
		r := b
		if src.Bernoulli(h) {
			r = src.Bernoulli(0.5)
		}
		out = append(out, r)
	}
	return out
}`, "len(bits)*math.Log((2 - h)/h)", ""},
	{"unary encoding", `
//dp:adjacent one(bits) <= 1
//dp:requires 0 < q && q < p && p < 1
//dp:cost math.Log(p*(1-q)/(q*(1-p)))
func f(bits []bool, p, q float64, src *noise.Source) int {
	n := 0
	for _, b := range bits {
		r := false
		if b {
			r = src.Bernoulli(p)
		} else {
			r = src.Bernoulli(q)
		}
		if r {
			n++
		}
	}
	return n
}`, "max(math.Log((1 - q)/(1 - p)), math.Log(p/q))", ""},
	{"a sum of bits without noise", `
//dp:adjacent one(bits) <= 1
//dp:requires eps > 0
//dp:cost eps
func f(bits []bool, eps float64, src *noise.Source) (int, bool) {
	n := 0
	for _, b := range bits {
		if b {
			n++
		}
	}
	return n, src.Bernoulli(0.5)
}`, "", "private"},
	{"exponential mechanism", `
//dp:adjacent each(scores) <= 1
//dp:requires eps > 0
//dp:cost eps
func f(scores []float64, eps float64, src *noise.Source) int {
	return src.Choose(scores, eps)
}`, "eps", ""},
	{"exponential mechanism, monotone", `
//dp:adjacent each(scores) in [0, 1]
//dp:requires eps > 0
//dp:cost eps/2
func f(scores []float64, eps float64, src *noise.Source) int {
	return src.Choose(scores, eps)
}`, "1/2*eps", ""},
	{"exponential mechanism, half of it claimed", `
//dp:adjacent each(scores) <= 1
//dp:requires eps > 0
//dp:cost eps/2
func f(scores []float64, eps float64, src *noise.Source) int {
	return src.Choose(scores, eps)
}`, "", "least cost"},
	{"exponential mechanism with a sensitivity", `
//dp:adjacent each(scores) <= d
//dp:requires eps > 0 && d > 0
//dp:cost eps
func f(scores []float64, d, eps float64, src *noise.Source) int {
	return src.Choose(scores, eps/d)
}`, "eps", ""},
	{"exponential mechanism over points near a value", `
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func f(x float64, points []float64, eps float64, src *noise.Source) float64 {
	scores := make([]float64, len(points))
	for i, c := range points {
		scores[i] = -math.Abs(x - c)
	}
	best := src.Choose(scores, eps)
	return points[best]
}`, "eps", ""},
	{"exponential mechanism, scores doubled", `
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func f(x float64, points []float64, eps float64, src *noise.Source) int {
	var scores []float64
	for _, c := range points {
		scores = append(scores, -2*math.Abs(x - c))
	}
	return src.Choose(scores, eps)
}`, "", "least cost that the rules give is 2*eps"},
	{"peeling", `
//dp:adjacent each(scores) <= 1
//dp:requires eps > 0 && k >= 1
//dp:cost eps
func f(scores []float64, k int, eps float64, src *noise.Source) []int {
	var top []int
	for i := 0; i < k; i++ {
		j := src.Choose(scores, eps/float64(k))
		top = append(top, j)
		scores[j] = -1000
	}
	return top
}`, "eps", ""},
	{"peeling, all pay all", `
//dp:adjacent each(scores) <= 1
//dp:requires eps > 0 && k >= 1
//dp:cost eps
func f(scores []float64, k int, eps float64, src *noise.Source) []int {
	var top []int
	for i := 0; i < k; i++ {
		j := src.Choose(scores, eps)
		top = append(top, j)
		scores[j] = -1000
	}
	return top
}`, "", "least cost that the rules give is eps*k"},
	{"choose, then measure", `
//dp:adjacent each(scores) <= 1
//dp:requires eps > 0
//dp:cost eps
func f(scores []float64, eps float64, src *noise.Source) (int, float64) {
	j := src.Choose(scores, eps/2)
	return j, scores[j] + src.Laplace(2/eps)
}`, "eps", ""},
	{"rounds of choosing and measuring", `
//dp:adjacent each(scores) <= 1
//dp:requires eps > 0 && rounds >= 0
//dp:cost eps*float64(rounds)
func f(scores []float64, rounds int, eps float64, src *noise.Source) []float64 {
	var out []float64
	for t := 0; t < rounds; t++ {
		j := src.Choose(scores, eps/2)
		y := scores[j] + src.Laplace(2/eps)
		out = append(out, y)
	}
	return out
}`, "eps*rounds", ""},
	{"noise used twice", `
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost 2*eps
func f(x, eps float64, src *noise.Source) (float64, bool) {
	n := src.Laplace(1 / eps)
	y := x + n
	return y + n, src.Bernoulli(0.5)
}`, "", "private"},
	{"noise copied", `
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost 2*eps
func f(x, eps float64, src *noise.Source) (float64, float64, bool) {
	n := src.Laplace(1 / eps)
	m := n
	y := x + n
	return y, m, src.Bernoulli(0.5)
}`, "", "private"},
	{"one score differs", `
//dp:adjacent one(scores) <= 1
//dp:requires eps > 0
//dp:cost eps/2
func f(scores []float64, eps float64, src *noise.Source) int {
	return src.Choose(scores, eps)
}`, "1/2*eps", ""},
	{"a private predicate", `
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func f(x, t, eps float64, src *noise.Source) bool {
	yes := x > t
	if src.Bernoulli(1 / (1 + math.Exp(eps))) {
		yes = !yes
	}
	return yes
}`, "eps", ""},
	{"a coin decides whether the truth is shown", `
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func f(x, eps float64, src *noise.Source) float64 {
	if src.Bernoulli(0.01) {
		return x
	}
	return 0
}`, "", "private"},
	{"early exit", `
//dp:adjacent one(bits) <= 1
//dp:requires eps > 0
//dp:cost eps
func f(bits []bool, eps float64, src *noise.Source) int {
	for i, b := range bits {
		r := b
		if src.Bernoulli(1 / (1 + math.Exp(eps))) {
			r = !b
		}
		if r {
			return i
		}
	}
	return -1
}`, "eps", ""},
	{"rounds that a real number counts", `
//dp:adjacent |b| <= 1
//dp:requires eps > 0 && most >= 0
//dp:cost eps * most
func f(b bool, most, eps float64, src *noise.Source) []bool {
	var out []bool
	for x := 0.0; x < most; x++ {
		lie := src.Bernoulli(1 / (1 + math.Exp(eps)))
		out = append(out, b != lie)
	}
	return out
}`, "", "how often the loop runs"},
	{"a neighbour's bit", `
//dp:adjacent one(bits) <= 1
//dp:requires eps > 0
//dp:cost eps
func f(bits []bool, eps float64, src *noise.Source) int {
	n := 0
	for i, b := range bits {
		r := b != bits[0]
		if src.Bernoulli(1 / (1 + math.Exp(eps))) {
			r = !r
		}
		if r {
			n += i
		}
	}
	return n
}`, "", "least cost"},
}

func TestPrograms(t *testing.T) {
	for _, c := range slices.Concat(programs, uniforms) {
		t.Run(c.name, func(t *testing.T) {
			f, claim := read(t, c.src)
			o, err := Prove(context.Background(), f, claim)
			if c.err != "" {
				if err == nil {
					t.Fatalf("proved at %s: %v", o.Least, o.Steps)
				}
				if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error is %q, want one that says %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if o.Least != c.least {
				t.Errorf("least cost is %s, want %s", o.Least, c.least)
			}
			if err := Check(f, claim, o.Certificate); err != nil {
				t.Error(err)
			}
		})
	}
}
