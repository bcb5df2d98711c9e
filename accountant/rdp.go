package accountant

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/privacy"
)

// Rényi differential privacy (Mironov 2017): at each order the divergences of the
// events of a plan add up (Proposition 1, also under adaptive choice), and each
// order gives an (ε, δ). The two accountants differ in that conversion alone:
//
//   - moments (Abadi et al. 2016, Theorem 2; Mironov 2017, Proposition 3):
//     ε = R + ln(1/δ)/(α-1), δ = e^((α-1)(R-ε)). The moment λ is α-1.
//   - rdp (Canonne, Kamath and Steinke 2020, Proposition 12):
//     ε = R + ln(1-1/α) - ln(αδ)/(α-1), δ = e^((α-1)(R-ε)) (1-1/α)^α / (α-1).

// DefaultOrders are the orders of moments and rdp: those that most libraries take,
// so that figures compare, and four more. Where the best one is the first or the
// last, more extreme ones are tried.
func DefaultOrders() []float64 {
	var orders []float64
	for i := 11; i < 110; i++ {
		orders = append(orders, float64(i)/10)
	}
	for i := 11; i < 64; i++ {
		orders = append(orders, float64(i))
	}
	return append(orders, 128, 256, 512, 1024)
}

// extremeOrders lie outside of the default ones, thinly.
func extremeOrders(high bool) (orders []float64) {
	if high {
		for x := 2048.0; x <= 1<<34; x *= 2 {
			orders = append(orders, x)
		}
		return orders
	}
	for x := 0x1p-4; x >= 0x1p-27; x /= math.Sqrt2 {
		orders = append(orders, 1+x)
	}
	return orders
}

// A conversion is ε at ln δ, and ln δ at ε, for divergence r of order a.
type conversion struct {
	name              string
	epsilon, logDelta func(r, a, x float64) float64
}

var (
	mironov = conversion{
		"Mironov 2017, Proposition 3",
		func(r, a, logDelta float64) float64 { return r - logDelta/(a-1) },
		func(r, a, eps float64) float64 { return (a - 1) * (r - eps) },
	}
	canonne = conversion{
		"Canonne, Kamath and Steinke 2020, Proposition 12",
		func(r, a, logDelta float64) float64 {
			return r + math.Log1p(-1/a) - (logDelta+math.Log(a))/(a-1)
		},
		func(r, a, eps float64) float64 {
			return (a-1)*(r-eps) + a*math.Log1p(-1/a) - math.Log(a-1)
		},
	}
)

func momentsEpsilon(p *flat, delta float64) (answer, error) { return renyiEpsilon(p, mironov, delta) }
func momentsDelta(p *flat, eps float64) (answer, error)     { return renyiDelta(p, mironov, eps) }
func rdpEpsilon(p *flat, delta float64) (answer, error)     { return renyiEpsilon(p, canonne, delta) }
func rdpDelta(p *flat, eps float64) (answer, error)         { return renyiDelta(p, canonne, eps) }

func renyiEpsilon(p *flat, c conversion, delta float64) (answer, error) {
	logDelta := math.Log(delta)
	eps, order, err := p.overOrders(func(r, a float64) float64 {
		e := c.epsilon(r, a, logDelta)
		return math.Max(0, e+(math.Abs(logDelta)/(a-1)+1)*0x1p-50)
	})
	if err != nil {
		return answer{}, err
	}
	if delta == 0 {
		eps = math.Inf(1)
	}
	high := up(eps)
	low := min(p.floorEpsilon(delta), high)
	return answer{bracket(low, max(low, eps), high), Both, renyiNote(c, order), nil}, nil
}

func renyiDelta(p *flat, c conversion, eps float64) (answer, error) {
	log, order, err := p.overOrders(func(r, a float64) float64 {
		l := c.logDelta(r, a, eps)
		return math.Min(0, l+((a-1)*(r+eps)+2+math.Abs(math.Log(a-1)))*0x1p-50)
	})
	if err != nil {
		return answer{}, err
	}
	d := math.Min(1, up(math.Exp(log)))
	return answer{bracket(min(p.floorDelta(eps), d), d, d), Both, renyiNote(c, order), nil}, nil
}

func renyiNote(c conversion, order float64) string {
	return fmt.Sprintf("order %.6g; %s; an upper bound", order, c.name)
}

// overOrders returns the least value over the orders, and its order.
func (p *flat) overOrders(value func(r, a float64) float64) (least, order float64, err error) {
	least = math.Inf(1)
	search := func(orders []float64) error {
		rs, err := p.divergences(orders)
		if err != nil {
			return err
		}
		for i, r := range rs {
			v := value(r, orders[i])
			if math.IsNaN(v) {
				return fmt.Errorf("order %v: the divergence %v gives no number", orders[i], r)
			}
			if v < least || order == 0 {
				least, order = v, orders[i]
			}
		}
		return nil
	}
	orders := p.orders
	if orders == nil {
		orders = DefaultOrders()
	}
	orders = p.withGiven(orders)
	if err := search(orders); err != nil {
		return 0, 0, err
	}
	if p.orders == nil && (order <= 1.1 || order >= 1024) {
		if err := search(extremeOrders(order >= 1024)); err != nil {
			return 0, 0, err
		}
	}
	return least, order, nil
}

// withGiven adds the orders that the plan's own rdp events state.
func (p *flat) withGiven(orders []float64) []float64 {
	for _, t := range p.terms {
		if e, ok := t.event.(privacy.RDP); ok && p.orders == nil {
			for _, o := range e.Orders {
				orders = append(orders, toFloat(o))
			}
		}
	}
	return orders
}

// A spectrum is a plan's divergences at some orders.
type spectrum struct{ orders, divergences []float64 }

// divergences returns the divergence of the whole plan at each order. One that is
// negative or no number is an error: it must never make a small ε. Both accountants
// ask for the same ones.
func (p *flat) divergences(orders []float64) ([]float64, error) {
	for _, s := range p.found {
		if slices.Equal(s.orders, orders) {
			return s.divergences, nil
		}
	}
	total, one := make([]float64, len(orders)), make([]float64, len(orders))
	for _, t := range p.terms {
		p.meter.Spend(8 * len(orders))
		if t.rdp == nil {
			return nil, unsupported(t, "no Rényi divergence is known; wrap it as rdp(order: eps, ...) or zcdp(rho)")
		}
		t.rdp(orders, one)
		for i, r := range one {
			if !(r > 0) { // every event costs something: a zero is a number that was lost
				return nil, fmt.Errorf("%v: the Rényi divergence of order %v came out as %v, which it is not", t.event, orders[i], r)
			}
			total[i] += t.count * r
		}
	}
	for i := range total {
		total[i] = total[i]*(1+rdpError) + denormal // the product of a denormal may be rounded to itself
	}
	p.found = append(p.found, spectrum{slices.Clone(orders), total})
	return total, nil
}

// curveOfRDP is the (ε, δ) curve that divergences give, at the default orders.
func curveOfRDP(rdp func(orders, out []float64)) func(logDelta float64) float64 {
	orders := slices.Concat(DefaultOrders(), extremeOrders(true), extremeOrders(false))
	var rs []float64
	return func(logDelta float64) float64 {
		if rs == nil {
			all := make([]float64, len(orders))
			rdp(orders, all)
			rs = all // set after rdp has returned, which the limit of work may stop
		}
		least := math.Inf(1)
		for i, r := range rs {
			eps := math.Max(0, canonne.epsilon(r*(1+rdpError), orders[i], logDelta)+(math.Abs(logDelta)/(orders[i]-1)+1)*0x1p-50)
			if math.IsNaN(eps) {
				return eps
			}
			least = math.Min(least, eps)
		}
		return least
	}
}
