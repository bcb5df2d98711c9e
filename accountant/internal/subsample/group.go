package subsample

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// A Group gives the profile of an event for neighbours that differ in k >= 1 units.
type Group func(k int64) Profile

// Groups returns a general bound from the profile for one unit: through k-1 databases
// between, with P_0, ..., P_k and H_{e^(a+b)}(P‖R) <= H_{e^a}(P‖Q) + e^a·H_{e^b}(Q‖R),
//
//	δ_k(ε) <= Σ_{j<k} e^(jε/k)·δ(ε/k) = δ(ε/k)·(e^ε-1)/(e^(ε/k)-1)
//
// (Vadhan 2017, Lemma 2.2; Balle, Barthe and Gaboardi 2018, on group privacy).
func Groups(event Profile) Group {
	return func(k int64) Profile {
		return func(eps float64) float64 {
			step := eps / float64(k)
			sum := float64(k)
			switch {
			case eps > 700:
				return 1
			case step > 0:
				sum = math.Expm1(eps) / math.Expm1(step)
			}
			return math.Min(1, sum*event(step*(1-0x1p-50))*(1+1e-12))
		}
	}
}

// Gaussian is that of μ-GDP events, of which k units are kμ-GDP, exactly: Dong, Roth and
// Su 2022, on group privacy. Additive Gaussian noise is one.
func Gaussian(mu float64) (Group, error) {
	if _, err := loss.Gaussian(mu); err != nil {
		return nil, fmt.Errorf("groups of a gaussian event: %w", err)
	}
	return func(k int64) Profile {
		p, err := loss.Gaussian(mu * float64(k) * (1 + 0x1p-50))
		if err != nil { // the shift leaves the range
			return func(float64) float64 { return 1 }
		}
		return ofPair(p)
	}, nil
}

// Approximate is that of (e, delta)-DP events: k units are (k·e, delta·(e^ke-1)/(e^e-1))-DP
// (Dwork and Roth 2014, Theorem 2.2; Vadhan 2017, Lemma 2.2).
func Approximate(e, delta float64) (Group, error) {
	if _, err := loss.Approximate(e, delta); err != nil {
		return nil, fmt.Errorf("groups of an approximate event: %w", err)
	}
	return func(k int64) Profile {
		x := e * float64(k) * (1 + 0x1p-50)
		d := delta * float64(k)
		if delta > 0 && e > 0 {
			d = delta * math.Expm1(x) / math.Expm1(e) * (1 + 1e-12)
		}
		p, err := loss.Approximate(x, d)
		if err != nil { // delta is not below 1, or the range is left
			return func(float64) float64 { return 1 }
		}
		return ofPair(p)
	}, nil
}

// ZCDP is that of ρ-zCDP events, of which k units are k²ρ-zCDP (Bun and Steinke 2016,
// Proposition 1.9). Its profile is (Canonne, Kamath and Steinke 2020, Proposition 12)
//
//	δ(ε) = min over α > 1 of e^((α-1)(αρ-ε))·(1-1/α)^α/(α-1),
//
// of which every α gives an upper bound: the least is sought, not certified.
func ZCDP(meter *work.Meter, rho float64) (Group, error) {
	if !(rho > 0) || math.IsInf(rho, 1) {
		return nil, fmt.Errorf("groups of a zCDP event: ρ = %v", rho)
	}
	return func(k int64) Profile {
		r := rho * float64(k) * float64(k) * (1 + 0x1p-49)
		return func(eps float64) float64 {
			meter.Spend(240)
			at := func(x float64) float64 { // x = ln(α-1)
				a := math.Exp(x) + 1
				return (a-1)*(a*r-eps) + a*math.Log1p(-1/a) - x
			}
			// At the least, α is near (ε+ρ)/2ρ: at most that, and (α-1)²ρ is at least about ½.
			top := math.Log(math.Max(eps/(2*r), 1/math.Sqrt(r)) + 1)
			bottom := math.Min(math.Log(0.1/math.Sqrt(r)), top) - 8
			for range 60 { // golden sections; ln δ is unimodal where it matters
				third := (top - bottom) * 0.381966
				if at(bottom+third) < at(top-third) {
					top -= third
				} else {
					bottom += third
				}
			}
			log := at((top + bottom) / 2)
			return math.Min(1, math.Exp(log)*(1+1e-12+math.Abs(log)*1e-15)+tiny)
		}
	}, nil
}

// rdp returns the Rényi curve for k units from that for one, doubling the group ⌈log2 k⌉
// times by the weak triangle inequality (Mironov 2017, Proposition 11 with p = q = 2):
//
//	R_2k(α) <= (α-½)/(α-1)·R_k(2α) + R_k(2α-1).
func rdp(curve func(order float64) float64, k int64) func(order float64) float64 {
	for ; k > 1; k = (k + 1) / 2 {
		one := curve
		curve = func(a float64) float64 {
			return ((a-0.5)/(a-1)*one(2*a) + one(2*a-1)) * (1 + 0x1p-50)
		}
	}
	return curve
}

// WithReplacementRDP returns the Rényi curve of WithReplacement's sample under
// replace-one neighbours from those for groups. Given how often K the unit comes the
// two laws are those of a group of K, and e^((α-1)D_α) is jointly convex (van Erven and
// Harremoës 2014, Theorem 13 and its proof):
//
//	e^((α-1)R'(α)) <= E e^((α-1)·R_K(α)),   K ~ Bin(m, 1/n), R_0 = 0.
//
// Nothing better is proved for every event; for Gaussian noise R_K grows as K², and the
// profile says more. +Inf where a number of copies has no finite divergence, or more
// than maxCopies may come.
func WithReplacementRDP(meter *work.Meter, m, n int64, group func(k int64, order float64) float64) (func(order float64) float64, error) {
	if m < 1 || n < 1 {
		return nil, fmt.Errorf("sample with replacement: %d of %d, want both at least 1", m, n)
	}
	trials, rate := float64(m), 1/float64(n)
	return func(a float64) float64 {
		log := trials * math.Log1p(-rate) // of P(K = k), and so far all of it is k = 0
		excess := math.Inf(-1)            // ln E(e^((α-1)R_K) - 1)
		for k := int64(1); k <= m; k++ {
			if k > maxCopies {
				return math.Inf(1)
			}
			meter.Spend(8)
			x := float64(k)
			if n > 1 {
				log += math.Log((trials-x+1)/x) - math.Log(float64(n-1))
			} else if log = math.Inf(-1); k == m {
				log = 0
			}
			r := (a - 1) * group(k, a)
			if math.IsInf(r, 1) || math.IsNaN(r) {
				return math.Inf(1)
			}
			term := log + r
			if r < 30 {
				term = log + math.Log(math.Expm1(r))
			}
			excess = logSum(excess, term)
		}
		if excess > 30 {
			return (excess + math.Exp(-excess)) / (a - 1) * (1 + 1e-12)
		}
		return math.Log1p(math.Exp(excess)) / (a - 1) * (1 + 1e-10)
	}, nil
}

func logSum(x, y float64) float64 {
	if x < y {
		x, y = y, x
	}
	if math.IsInf(x, 0) {
		return x
	}
	return x + math.Log1p(math.Exp(y-x))
}
