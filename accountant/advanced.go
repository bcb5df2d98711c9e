package accountant

import (
	"fmt"
	"math"
)

// Advanced composition of (ε_i, δ_i)-DP events into one ε at δ. Each theorem keeps a
// slack δ' for itself; all but the first are stated for events of different ε. The
// least of them is the answer, basic composition included, which is better for few
// events.
//
//   - Dwork, Rothblum and Vadhan 2010 (Dwork and Roth 2014, Theorem 3.20):
//     √(2 ln(1/δ') Σε²) + Σ ε(e^ε-1), with δ = Σδ_i + δ'. For k equal events that is
//     ε√(2k ln(1/δ')) + kε(e^ε-1): the first term has the factor ε, which some
//     tutorials lost.
//   - Kairouz, Oh and Viswanath 2015, Theorem 3.5 (3.4 for equal events): Σ
//     ε·tanh(ε/2) and either √(2 ln(1/δ') Σε²) or √(2 ln(e + √(Σε²)/δ') Σε²), with
//     1-δ = (1-δ') Π(1-δ_i).
//   - Bun and Steinke 2016, after Dwork and Rothblum 2016 (https://differentialprivacy.org/composition-basics/,
//     Theorem 2): ½Σε² + √(2 ln(1/δ') Σε²) for ε-DP events; for (ε, δ)-DP ones with δ
//     as above, because such an event is, but for a part of mass δ_i, ε-DP.
func advancedEpsilon(p *flat, delta float64) (answer, error) {
	basic, err := basicEpsilon(p, delta)
	if err != nil {
		return answer{}, err
	}
	if delta == 0 {
		basic.note = "basic composition: advanced composition needs a δ"
		return basic, nil
	}
	// Events with a curve get half of what the points leave, the slack the rest.
	pts, err := p.points(delta, 0.5)
	if err != nil {
		return answer{}, err
	}
	best := basic
	best.note = "basic composition"
	said := fmt.Sprintf("basic %.6g", basic.High)
	for _, f := range pts.forms(delta) {
		said += fmt.Sprintf(", %s %.6g", f.name, f.eps)
		if f.eps < best.High {
			best.Bracket, best.note = bracket(0, f.eps, f.eps), f.name
		}
	}
	best.note = "by " + best.note + ", the least of: " + said
	if pts.curves > 0 {
		best.note += fmt.Sprintf("; δ = %.3g for each event that has a curve", math.Exp(pts.logShare))
	}
	best.direction = Both
	return best, nil
}

// A form is what one theorem says, rounded up.
type form struct {
	name string
	eps  float64
}

// norm is √(Σε²), rounded up, also where the squares underflow.
func (pts points) norm() float64 {
	most := 0.0
	for _, e := range pts.exact {
		most = math.Max(most, upFloat(e.eps))
	}
	for _, d := range pts.drawn {
		most = math.Max(most, d.eps)
	}
	if most == 0 || math.IsInf(most, 1) {
		return most
	}
	return up(most * math.Sqrt(pts.sum(func(eps float64) float64 { return eps / most * (eps / most) }, nil)))
}

// forms lists those that leave a slack of δ.
func (pts points) forms(delta float64) (all []form) {
	add := func(name string, eps float64) { all = append(all, form{name, up(eps * (1 + 0x1p-48))}) }
	norm := pts.norm()
	left := toFloat(pts.leftover)
	if pts.curves > 0 {
		left /= 2
	}
	if left > 0 {
		steep := pts.sum(func(e float64) float64 { return e * math.Expm1(e) }, nil)
		add("Dwork and Roth 3.20", math.Sqrt(-2*math.Log(down(left)))*norm+steep)
	}
	// 1-δ' = (1-δ)/Π(1-δ_i), a difference that keeps an absolute error of its own.
	slack := -math.Expm1(math.Log1p(-delta)-pts.none) - (delta-pts.none)*0x1p-50
	if pts.none == 0 {
		slack = delta
	}
	if slack > 0 {
		l := -math.Log(down(slack))
		drift := pts.sum(func(e float64) float64 { return e * math.Tanh(e/2) }, nil)
		add("Kairouz, Oh and Viswanath 3.5", drift+math.Sqrt(2*l)*norm)
		add("the same with ln(e+√(Σε²)/δ)", drift+math.Sqrt(2*math.Log(math.E+norm/slack))*norm)
		add("½Σε²+√(2 ln(1/δ)Σε²)", (norm*norm+math.SmallestNonzeroFloat64)/2+math.Sqrt(2*l)*norm)
	}
	return all
}
