package analysis

import "math"

// A Bound is an ε and the order at which it was found: the Rényi order α, or, of
// LNMax, the moment l = α−1.
type Bound struct {
	Epsilon float64 `json:"epsilon"`
	Order   float64 `json:"order"`
}

// A conversion makes of a Rényi divergence of an order the ε of a δ.
type conversion func(rdp, order float64) float64

// classic is ε = RDP + ln(1/δ)/(α−1) (Mironov 2017, Proposition 3), which both papers
// use. In moments it is (Σa(l) + ln 1/δ)/l.
func classic(delta float64) conversion {
	log := math.Log(delta)
	return func(rdp, order float64) float64 { return rdp - log/(order-1) }
}

// improved is ε = RDP + ln((α−1)/α) − (ln δ + ln α)/(α−1), never above the classic one
// (Canonne, Kamath and Steinke 2020, Proposition 12).
func improved(delta float64) conversion {
	log := math.Log(delta)
	return func(rdp, order float64) float64 {
		return max(0, rdp+math.Log1p(-1/order)-(log+math.Log(order))/(order-1))
	}
}

// Epsilon converts the Rényi divergences of orders to the least ε at δ, and returns it
// with its order.
func Epsilon(orders, rdp []float64, delta float64) Bound {
	b, convert := Bound{Epsilon: math.Inf(1)}, classic(delta)
	for i, order := range orders {
		if eps := convert(rdp[i], order); eps < b.Epsilon {
			b = Bound{eps, order}
		}
	}
	return b
}

// A curve is a Rényi divergence at orders that rise, evaluated where it is needed.
type curve struct {
	orders []float64
	rdp    func(order float64) float64
	known  map[int]float64
}

func newCurve(orders []float64, rdp func(float64) float64) *curve {
	return &curve{orders, rdp, make(map[int]float64)}
}

func (c *curve) at(i int) float64 {
	r, ok := c.known[i]
	if !ok {
		r = c.rdp(c.orders[i])
		c.known[i] = r
	}
	return r
}

// least returns the least ε by a conversion, which rises with the divergence. A
// divergence never falls as its order rises, and neither do the bounds here: α/σ² and
// εl/l do not, ln[(1−q)A^l + qB^l]/l is the logarithm of a power mean, and where one of
// them stops to apply the larger one remains. So what the first of a run of orders has
// is the least of them, and runs that cannot win need no evaluation.
func (c *curve) least(convert conversion) Bound {
	at, eps := -1, math.Inf(1)
	try := func(i int) {
		if e := convert(c.at(i), c.orders[i]); e < eps || e == eps && i < at {
			at, eps = i, e
		}
	}
	var between func(lo, hi int)
	between = func(lo, hi int) {
		hopeless := true
		for i := lo + 1; i < hi; i++ {
			hopeless = hopeless && convert(c.at(lo), c.orders[i]) > eps
		}
		if hopeless {
			return
		}
		mid := (lo + hi) / 2
		try(mid)
		between(lo, mid)
		between(mid, hi)
	}
	try(0)
	try(len(c.orders) - 1)
	between(0, len(c.orders)-1)
	if at < 0 {
		return Bound{Epsilon: math.Inf(1)}
	}
	return Bound{eps, c.orders[at]}
}
