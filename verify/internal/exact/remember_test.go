package exact

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// What a measurer remembers is of the numbers that it was computed of: it says the same on
// other inputs, and of a draw whose parameter changes, as one that remembers nothing.
func TestRemembered(t *testing.T) {
	b := function("Remembered")
	x := b.input("x", program.Real, false)
	y := b.input("y", program.Real, false)
	all, one := local("all", program.Bool), local("one", program.Bool)
	z, i := local("z", program.Real), local("i", program.Int)
	call := func(name string, e ex) ex { return program.Call{Func: name, Args: []ex{e}} }
	toss := func(p ex) []stmt {
		return []stmt{law(one, program.Bernoulli, p), set(all, bin(ref(all), program.And, ref(one)))}
	}
	exceeds := func(sigma ex) []stmt {
		return []stmt{law(z, program.Gaussian, sigma), set(all, bin(ref(all), program.And, ge(ref(z), num("1"))))}
	}
	b.f.Body = append([]stmt{set(all, yes()), set(i, intOf(0))}, toss(call("sqrt", ref(y)))...)
	b.f.Body = append(b.f.Body, toss(quo(num("1"), call("exp", ref(y))))...)
	b.f.Body = append(b.f.Body, &program.Loop{ // x grows: the parameter is another one each time
		Cond: bin(ref(i), program.Lt, intOf(3)),
		Body: append(toss(quo(num("1"), call("exp", ref(x)))), set(x, add(ref(x), num("1")))),
		Post: []stmt{set(i, add(ref(i), intOf(1)))},
	})
	b.f.Body = append(b.f.Body, exceeds(ref(y))...)
	b.f.Body = append(b.f.Body, exceeds(add(ref(y), num("1")))...)
	b.f.Body = append(b.f.Body, ret(ref(all)))
	c, err := compile(b.f)
	if err != nil {
		t.Fatal(err)
	}
	tail := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	m := newMeasurer(c)
	for range 2 {
		for _, in := range [][2]string{{"1", "1/4"}, {"1/2", "1/4"}, {"1", "1/2"}, {"1/4", "1"}} {
			values := c.bind([][]rational{{rationalOf(rat(in[0]))}, {rationalOf(rat(in[1]))}})
			p, err := m.event(t.Context(), values, &Event{Return: []Range{Is(rat("1"))}}, evaluation())
			if err != nil {
				t.Fatal(err)
			}
			x, _ := rat(in[0]).Float64()
			y, _ := rat(in[1]).Float64()
			want := math.Sqrt(y) * math.Exp(-y) * math.Exp(-3*x-3) * tail(1/y) * tail(1/(y+1))
			if p.lo > want*(1+1e-9) || p.hi < want*(1-1e-9) || p.hi-p.lo > 1e-6*want {
				t.Errorf("of x = %s and y = %s: %v, want %v", in[0], in[1], p, want)
			}
		}
	}
}
