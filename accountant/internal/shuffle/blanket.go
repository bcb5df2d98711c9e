package shuffle

import (
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// A blanket is randomized response over k answers seen through its privacy blanket
// (Balle, Bell, Gascón and Nissim, CRYPTO 2019, Lemma 5.3): each other user, with
// probability k·α by itself, α = 1/(p+k-1), reports a uniform answer, and who does
// not is given away. Given that m users, the replaced one among them, are left, of
// whom a and b give the two answers of that user,
//
//	D_m = (k·α/m)·E[((p-1)·(A - e^ε·B) - (e^ε-1)·m)+],  (A, B) ~ Mult(m; 1/k, 1/k)
//	D   = Σ_m Bin(m-1; n-1, k·α)·D_m
//
// which is exact for that observer. It is what the variation-ratio parameters
// (p, β, q) = (e^eps0, (p-1)/(p+k-1), e^eps0) of Wang et al., VLDB 2024, stand for;
// their own reduction does not show m to the observer and for k >= 4 lies below the
// divergence on real data sets (a test has them), so that it is no bound.
//
// Fakes are uniform answers that users send beside their reports, a number that does not
// depend on the data ("fake users": Cheu and Zhilyaev, S&P 2022). They are among what is
// left, so that D_m stands for m + fakes: the lemma does not ask who sent a uniform answer.
type blanket struct {
	meter *work.Meter
	n     int64
	eps0  float64
	k     int
	slack float64 // by how much, relatively, steps of D_m may overstate the sum
	fakes int64
}

func (b blanket) given(m int64) pair {
	k := float64(b.k)
	return pair{
		meter: b.meter, n: m, eps0: b.eps0,
		rate: 2 / k, rest: (k - 2) / k,
		atom: 1 / (1 + (k-1)*math.Exp(-b.eps0)), other: 1,
	}
}

// logDelta bounds ln D from above. D_m does not increase with m, since the observer
// of m reports can add a uniform one; so a stretch of m counts with its first.
func (b blanket) logDelta(eps, floor float64) float64 {
	if !(eps < b.eps0) {
		return math.Inf(-1)
	}
	k, low := float64(b.k), math.Exp(-b.eps0)
	others := binomial{b.n - 1, k * low / (1 + (k-1)*low), -math.Expm1(-b.eps0) / (1 + (k-1)*low)}
	at := func(m int64) float64 {
		_, hi := b.given(m+b.fakes).logDelta(eps, floor)
		return hi
	}
	ceiling := math.Log(b.given(1).atom) + math.Log(-math.Expm1(eps-b.eps0))
	mode := min(b.n, 1+int64(float64(b.n)*others.rate))
	deviation := int64(math.Sqrt(float64(b.n)*others.rate*others.rest)) + 1
	// A stretch is as long as slack allows where most of the mass is, but not shorter
	// than a 256th of the window. Small deltas change epsilon less.
	slack := b.slack * max(1, -floor/16)
	width := max(1, int64(math.Sqrt(-2*floor)*float64(deviation)/128))
	if back := mode - deviation; back >= 1 {
		width = max(width, int64(slack*float64(deviation)/(at(back)-at(mode)+slack)))
	}

	hi := math.Inf(-1)
	enough := func(tail float64) bool { return tail+ceiling < max(hi, floor)-16 }
	for from := mode; from <= b.n; {
		to := min(b.n+1, from+width)
		hi = logAdd(hi, others.logMass(b.meter, from-1, to-1)+at(from))
		from = to
		if tail := others.logTailAbove(from - 1); from > b.n || enough(tail) {
			hi = logAdd(hi, tail+ceiling)
			break
		}
	}
	for to := mode; to > 1; {
		from := max(1, to-width)
		hi = logAdd(hi, others.logMass(b.meter, from-1, to-1)+at(from))
		to = from
		if tail := others.logTailBelow(to - 2); to == 1 || enough(tail) {
			hi = logAdd(hi, tail+ceiling)
			break
		}
	}
	return math.Nextafter(hi, math.Inf(1))
}

// logMass bounds ln P(from <= X < to) from above.
func (b binomial) logMass(meter *work.Meter, from, to int64) float64 {
	log := math.Inf(-1)
	for from < to {
		end := min(to, from+maxBlock)
		start := b.logPMF(from)
		meter.Spend(64 + int(end-from)/2)
		mass, total := 1.0, 0.0
		for x := from; x < end; x++ {
			total += mass
			mass *= float64(b.n-x) / float64(x+1) * (b.rate / b.rest)
		}
		log = logAdd(log, start+b.errLog(from, start)+math.Log(total)+maxBlock*0x1p-50)
		from = end
	}
	return log
}
