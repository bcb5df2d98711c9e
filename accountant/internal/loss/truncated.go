package loss

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/privacy"
)

// ofTruncated is the loss of Gaussian noise on a Poisson sample of which, where it has more
// than B units, a uniformly drawn set of B is kept. Let μ be the norm of one unit's
// contribution over the noise's standard deviation, q the rate, n the number of units at
// most, and w = P(Bin(n-1, q) >= B). Then what happens for a sampled unit at distance μ is
// dominated by a mixture of two pairs that says which it is: with weight 1-w the sampled
// Gaussian of rate q and distance μ, with weight w that of distance 2μ.
//
// Theorem (Ganesh 2025, "Tighter Privacy Analysis for Truncated Poisson Sampling",
// arXiv:2508.15089; the same two pairs are in Google's dp_accounting, there for exactly n
// units and with the smaller rate below).
//
// Proof. Let S be the sample of the other units, at most n-1, and x the unit.
//
//   - If |S| < B, nothing is cut off: the batch is S, and x in it with probability q, as in a
//     Poisson sample.
//   - If |S| = s >= B, the batch without x is a uniform B-subset T of S. With x sampled, x is
//     kept with probability B/(s+1), and the others are then a uniform (B-1)-subset of S, that
//     is T without a uniform element y of it; else the batch is T. Given |S| >= B, T is a uniform
//     B-subset of all others, whatever s is. So x takes y's place with probability
//     r = E[qB/(s+1) | s >= B] <= q, which moves the sum by two contributions, 2μ at most.
//
// The divergence is jointly convex, so it is at most the mean over S, T and y of the
// divergences given these, and so that of the two pairs told apart. At rate r it is no more
// than at rate q: (1-r)Q + rP is a mixture of Q and (1-q)Q + qP. At distance μ it is no more than
// at 2μ, so that the mean grows with w, and w with the number of units: it holds of any number
// up to n. Where x is replaced by x', both take the place of the same y by the same coin, each
// at distance 2μ from T at most: the pair of a replaced unit, of which the same is true.
//
// Below: where the others contribute nothing, y's place is an empty one, and the event is the
// sampled Gaussian at distance μ, at the rate at which x is kept, (1-w)q at least.
func ofTruncated(e privacy.TruncatedPoisson, d Direction) (Event, error) {
	q := rateFrom(e.Rate)
	if err := q.check(); err != nil {
		return Event{}, err
	}
	base, err := plain(e.Event)
	if err != nil {
		return Event{}, err
	}
	noise, ok := base.(gaussian)
	if !ok {
		return Event{}, unsupported("what truncation costs is known of Gaussian noise alone")
	}
	sampled := func(mu float64, q rate) (Pair, error) {
		g, err := Gaussian(mu)
		if err != nil {
			return nil, err
		}
		switch d {
		case Remove:
			return poissonRemove(g, q)
		case Add:
			return poissonAdd(g, q)
		}
		return sampledGaussianReplace(mu/2, q) // mu is the distance of two units
	}
	near, err := sampled(noise.mu, q)
	if err != nil {
		return Event{}, err
	}
	w := Truncation(e)
	if w == 0 {
		return attained(near, nil)
	}
	far, err := sampled(2*noise.mu, q)
	if err != nil {
		return Event{}, err
	}
	l := Event{Above: &either{near, far, w}}
	if kept := q.q * (1 - w) * (1 - 0x1p-40); kept > 0 {
		l.Below, err = sampled(noise.mu, rateOf(kept))
	}
	return l, err
}

// Truncation is P(Bin(n-1, q) >= B), rounded up: how likely the others fill the batch.
func Truncation(e privacy.TruncatedPoisson) float64 {
	return binomialTail(e.N-1, rateFrom(e.Rate), e.AtMost)
}

// binomialTail bounds P(X >= b) of X ~ Bin(m, q) from above: by Stirling's formula
//
//	P(X = b) <= √(m/(2πb(m-b))) e^-D,  D = D(b, mq) + D(m-b, m(1-q)),  D(x, M) = x ln(x/M) + M - x
//
// (MacWilliams and Sloane 1977, Lemma 10.7), and on by the ratios of neighbours, which fall.
// Below the mean it is 1.
func binomialTail(m int64, q rate, b int64) float64 {
	n, x := float64(m), float64(b)
	switch {
	case b > m:
		return 0
	case b <= 0 || q.rest == 0 || x <= n*q.q:
		return 1
	}
	log := n * math.Log(q.q)
	slip := 8 * unit * math.Abs(log)
	if b < m {
		y := n - x
		exponent := apart(x, n*q.q) + apart(y, n*q.rest)
		slip = 64 * unit * (exponent + math.Abs(x-n*q.q) + math.Abs(y-n*q.rest) + 16)
		log = 0.5*math.Log(n/(2*math.Pi*x*y)) - exponent
	}
	sum, term := 0.0, 1.0
	for i := 0.0; ; i++ {
		sum += term
		ratio := (n - x - i) / (x + i + 1) * q.q / q.rest
		term *= ratio
		if i >= 1<<12 || term < 1e-12*sum {
			if ratio < 1 {
				sum += term / (1 - ratio)
				break
			}
			return 1
		}
	}
	// Positive, also where the value underflows.
	return min(1, max(0x1p-1000, math.Exp(log+slip)*sum*(1+0x1p-30)))
}

// apart is x ln(x/M) + M - x.
func apart(x, m float64) float64 {
	if t := (m - x) / x; math.Abs(t) < 0.5 {
		return x * (t - math.Log1p(t))
	}
	return x*math.Log(x/m) + m - x
}

// either is a pair that is near with probability 1-w and far with probability w, and says
// which; both are without atoms.
type either struct {
	near, far Pair
	w         float64
}

func (e *either) Atoms() []Atom  { return nil }
func (e *either) Max() float64   { return max(e.near.Max(), e.far.Max()) }
func (e *either) steps() int     { return Steps(e.near) + Steps(e.far) }
func (e *either) cellSteps() int { return CellSteps(e.near) + CellSteps(e.far) + 8 }

func (e *either) Ends() (p, q float64) {
	p, q = e.near.Ends()
	fp, fq := e.far.Ends()
	return (1-e.w)*p + e.w*fp, (1-e.w)*q + e.w*fq
}

func (e *either) Delta(epsilon float64) float64 {
	return (1-e.w)*e.near.Delta(epsilon) + e.w*e.far.Delta(epsilon)
}

func (e *either) Thresholds(n int) []float64 {
	t := append(e.near.Thresholds(max(2, n/2)), e.far.Thresholds(max(2, n-n/2))...)
	slices.Sort(t)
	return increasing(t)
}

// Cells adds up both measures of a cell. With s <= 1/2 the lesser's share of P, Q/P is
// e^-one(1 + s(e^(one-other) - 1)): an error of ln s counts by at most twice s times as much as
// the two ratios differ.
func (e *either) Cells(t, logP, ratio []float64) Rounding {
	farP, farRatio := make([]float64, len(logP)), make([]float64, len(ratio))
	r := e.near.Cells(t, logP, ratio).join(e.far.Cells(t, farP, farRatio))
	var more Rounding
	for i := range logP {
		a, b := logP[i]+math.Log1p(-e.w), farP[i]+math.Log(e.w)
		switch {
		case math.IsInf(b, -1):
			logP[i] = a
		case math.IsInf(a, -1):
			logP[i], ratio[i] = b, farRatio[i]
		default:
			// ln Q - ln P of the sum, from the greater part.
			one, other, gap := ratio[i], farRatio[i], b-a
			if logP[i] = a + math.Log1p(math.Exp(gap)); b > a {
				one, other, gap = other, one, -gap
				logP[i] = b + math.Log1p(math.Exp(gap))
			}
			share := math.Exp(gap) / (1 + math.Exp(gap))
			ratio[i] = one - math.Log1p(share*math.Expm1(one-other))
			if logP[i] > -745 {
				slip := 8 * unit * (math.Abs(a) + math.Abs(b) + 8)
				more = more.join(Rounding{
					Mass:  slip,
					Ratio: 2*(slip+2*r.Mass)*share*math.Abs(math.Expm1(one-other)) + 4*unit*math.Abs(ratio[i]),
				})
			}
		}
	}
	return Rounding{r.Mass + more.Mass + 32*unit*(1-math.Log(e.w)), r.Ratio + more.Ratio}
}

// TruncatedRenyi joins the divergences of order α of both pairs:
// e^((α-1)D) = (1-w)e^((α-1)near) + w e^((α-1)far).
func TruncatedRenyi(order, near, far, w float64) (float64, error) {
	if !(near >= 0 && far >= 0 && w >= 0 && w <= 1 && order > 1) {
		return 0, fmt.Errorf("divergences %v and %v with weight %v", near, far, w)
	}
	far = max(near, far)
	x := (order - 1) * (far - near)
	switch {
	case math.IsInf(far, 1):
		return far, nil
	case x > 700: // ln(1-w+we^x) <= x + ln(w+e^-x)
		return near + (x+math.Log(w+math.Exp(-x)))/(order-1), nil
	}
	return near + math.Log1p(w*math.Expm1(x))/(order-1), nil
}
