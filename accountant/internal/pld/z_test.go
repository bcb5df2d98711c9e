package pld

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
)

func ev(p loss.Pair, err error) loss.Event {
	if err != nil {
		panic(err)
	}
	return loss.Event{Above: p, Below: p}
}

func TestZ(t *testing.T) {
	g, _ := loss.Gaussian(1)
	show := func(name string, tm []Term, tg Target) {
		t0 := time.Now()
		r, err := Compose(tm, tg)
		d := time.Since(t0)
		if err != nil {
			fmt.Println(name, err)
			return
		}
		var b loss.Bracket
		if tg.Given == GivenDelta {
			b = r.Epsilon(tg.Delta)
		} else {
			b = r.Delta(tg.Epsilon)
		}
		fmt.Printf("%s: %.12g %.12g %.12g rel %.2g %v %s slack %.2g\n", name, b.Low, b.Estimate, b.High, (b.High-b.Low)/b.High, d, r.Note, r.up.slack)
	}
	G := func(mu float64) loss.Event { return ev(loss.Gaussian(mu)) }
	show("gauss1", []Term{{G(1), 1}}, Target{Epsilon: 1, Given: GivenEpsilon})
	fmt.Println(g.Delta(1))
	show("gauss3x", []Term{{G(1 / math.Sqrt(3)), 3}}, Target{Epsilon: 1, Given: GivenEpsilon})
	show("gauss100", []Term{{G(.1), 100}}, Target{Epsilon: 1, Given: GivenEpsilon})
	show("gauss-eps", []Term{{G(.1), 100}}, Target{Delta: 1e-5})
	show("gauss-tiny", []Term{{G(.002), 100}}, Target{Given: GivenEpsilon, Epsilon: .5})
	fmt.Println(func() float64 { q, _ := loss.Gaussian(.02); return q.Delta(.5) }())
	show("gauss-1e-300", []Term{{G(.1), 100}}, Target{Delta: 1e-300})
	show("kov-hs-1", []Term{{ev(loss.RandomizedResponse(1)), 10}}, Target{Epsilon: 5, Given: GivenEpsilon})
	show("kov-hs-2", []Term{{ev(loss.RandomizedResponse(.1)), 100}}, Target{Epsilon: 1, Given: GivenEpsilon})
	show("epsdelta", []Term{{ev(loss.Approximate(1, .1)), 1}, {ev(loss.Approximate(2, .2)), 1}}, Target{Epsilon: 3, Given: GivenEpsilon})
	show("laplacemix", []Term{{ev(loss.Laplace(1)), 3}, {ev(loss.Laplace(.5)), 2}}, Target{Delta: 1e-14})
	show("sublap", []Term{{ev(loss.PoissonRemove(ev(loss.Laplace(2)).Above, .2)), 3}}, Target{Delta: 1e-14})
	for _, q := range [][4]float64{{.01, 2, 1e4, 1}, {.01, 2, 1e4, .8}, {.01, 4, 1e4, 1}} {
		b, _ := loss.Gaussian(1 / q[1])
		show("kosk rem", []Term{{ev(loss.PoissonRemove(b, q[0])), int64(q[2])}}, Target{Epsilon: q[3], Given: GivenEpsilon})
		show("kosk add", []Term{{ev(loss.PoissonAdd(b, q[0])), int64(q[2])}}, Target{Epsilon: q[3], Given: GivenEpsilon})
	}
	show("kosk S", []Term{{ev(loss.SampledGaussianReplace(.5, .01)), 10000}}, Target{Epsilon: 1, Given: GivenEpsilon})
	b, _ := loss.Gaussian(1 / 1.1)
	show("mnist", []Term{{ev(loss.PoissonRemove(b, 256./60000)), 14062}}, Target{Delta: 1e-5})
	show("mnist add", []Term{{ev(loss.PoissonAdd(b, 256./60000)), 14062}}, Target{Delta: 1e-5})
	b, _ = loss.Gaussian(1 / 1.5)
	show("opacus", []Term{{ev(loss.PoissonRemove(b, .04)), 2249}}, Target{Delta: 1e-5})
	var many []Term
	for i := range 1000 {
		b, _ = loss.Gaussian(1 / (1 + float64(i)/500))
		many = append(many, Term{ev(loss.PoissonRemove(b, .01+float64(i)*1e-5)), 1})
	}
	show("1000", many, Target{Delta: 1e-5})
	many = nil
	for i := range 1000 {
		many = append(many, Term{ev(loss.Gaussian(.05 + float64(i)*1e-4)), 1})
	}
	show("1000g", many, Target{Delta: 1e-5})
	many = nil
	for i := range 1000 {
		many = append(many, Term{ev(loss.Laplace(.05 + float64(i)*1e-4)), 1})
	}
	show("1000lap", many, Target{Delta: 1e-5})
}
