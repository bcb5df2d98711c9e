package exact

import (
	"context"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// ins makes inputs: a name, and numbers; a slice where the text has brackets.
func ins(pairs ...string) program.Inputs {
	in := program.Inputs{}
	for i := 0; i < len(pairs); i += 2 {
		text := pairs[i+1]
		if !strings.HasPrefix(text, "[") {
			in[pairs[i]] = program.Value{Number: rat(text)}
			continue
		}
		elements := []*big.Rat{}
		for _, e := range strings.Fields(strings.Trim(text, "[]")) {
			elements = append(elements, rat(e))
		}
		in[pairs[i]] = program.Value{Elements: elements}
	}
	return in
}

// outs makes an event of outputs: F, T, a number, lo..hi, .. for anything, and of
// pairs as T,lo..hi.
func outs(text string) Event {
	var e Event
	for _, w := range strings.Fields(text) {
		var tuple []Range
		for _, v := range strings.Split(w, ",") {
			tuple = append(tuple, rangeOf(v))
		}
		e.Outputs = append(e.Outputs, tuple)
	}
	return e
}

func returns(text string) Event { return Event{Return: []Range{rangeOf(text)}} }

func fn(f *program.Function, _ *claim.Claim) *program.Function { return f }

func rangeOf(w string) Range {
	switch {
	case w == "F":
		return Is(new(big.Rat))
	case w == "T":
		return Is(rat("1"))
	}
	lo, hi, ok := strings.Cut(w, "..")
	if !ok {
		return Is(rat(w))
	}
	var r Range
	if lo != "" {
		r.Low = rat(lo)
	}
	if hi != "" {
		r.High = rat(hi)
	}
	return r
}

func rep(s string, n int) string { return strings.Repeat(s+" ", n) }

// The exact counterexamples of the reference, and controls: what the probabilities
// are, and the logarithm of their ratio, at eps = 1.
func TestReferenceCounterexamples(t *testing.T) {
	sv := func(s svt) *program.Function { f, _ := s.build(); return f }
	par := func(q, n string) program.Inputs { return ins("q", q, "T", "0", "N", n, "eps", "1") }
	for _, c := range []struct {
		name   string
		f      *program.Function
		d, e   program.Inputs
		event  Event
		p, q   float64 // 0 where the reference gives none
		ratio  float64
		within float64
	}{
		{"Lyu5", sv(lyu5), par("[0 0 0 0 1]", "1"), par("[1 1 1 1 0]", "1"), outs("F F F F T"), 0.1967, 0, math.Inf(1), 0},
		{"Lyu5 minimal", sv(lyu5), par("[0 1]", "1"), par("[1 0]", "1"), outs("F T"), 0.1967, 0, math.Inf(1), 0},
		{"Lyu6", sv(lyu6), par("[0 0 0 0]", "1"), par("[1 -1 1 -1]", "1"), outs("F T F T"), 0.0333, 0.00606, 1.704, 5e-4},
		{"Lyu6 m=5", sv(lyu6), par("["+rep("0", 10)+"]", "1"), par("["+rep("1", 5)+rep("-1", 5)+"]", "1"), outs(rep("F", 5) + rep("T", 5)), 3.6e-4, 4.1e-6, 4.486, 5e-4},
		{"Lyu6 m=10", sv(lyu6), par("["+rep("0", 20)+"]", "1"), par("["+rep("1", 10)+rep("-1", 10)+"]", "1"), outs(rep("F", 10) + rep("T", 10)), 2.6e-7, 2.4e-11, 9.276, 5e-4},
		{"Lyu4 N=1", sv(lyu4), par("[0 0 0 0 0]", "1"), par("[1 1 1 1 -1]", "1"), outs("F F F F T"), 0.02136, 0.003794, 1.728, 5e-4},
		{"Lyu4 N=2", sv(lyu4), par("[0 0 0 0 0]", "2"), par("[-1 1 1 1 -1]", "2"), outs("T F F F T"), 0.00776, 0.000405, 2.952, 5e-4},
		// Densities of the reference are those of narrow intervals here.
		{"BadGapSVT", sv(badGapSVT), par("[0 0 0 0 0]", "1"), par("[1 1 1 1 -1]", "1"), outs("F,0 F,0 F,0 F,0 T,-1/2000..1/2000"), 1.302e-6, 3.731e-7, 1.250, 5e-4},
		{"BadGapSVT 1", sv(badGapSVT), par("[0 0 0 0 0]", "1"), par("[1 1 1 1 -1]", "1"), outs("F,0 F,0 F,0 F,0 T,1..1001/1000"), 0, 0, 1.200, 5e-4},
		{"BadGapSVT -5", sv(badGapSVT), par("[0 0 0 0 0]", "1"), par("[1 1 1 1 -1]", "1"), outs("F,0 F,0 F,0 F,0 T,-5..-4999/1000"), 0, 0, 0.75, 5e-3},
		{"GapSVT", sv(gapSVT), par("[0 0 0 0 0]", "1"), par("[1 1 1 1 -1]", "1"), outs("F,0 F,0 F,0 F,0 T,0..1/1000"), 0, 0, 0.8145, 5e-4},
		{"Lyu3 m=5", sv(lyu3), par("[0 0 0 0 0 1]", "1"), par("[1 1 1 1 1 0]", "1"), outs("F,0 F,0 F,0 F,0 F,0 T,0..1/1000"), 3.9e-7, 5.3e-8, 2.0, 5e-3},
		{"Lyu3 m=10", sv(lyu3), par("["+rep("0", 10)+"1]", "1"), par("["+rep("1", 10)+"0]", "1"), outs(rep("F,0", 10) + "T,0..1/1000"), 6.7e-9, 7.5e-11, 4.5, 5e-3},
		{"NumSVT", sv(numSVT), par("[0 0 0 0 0]", "1"), par("[1 1 1 1 -1]", "1"), outs("F,0 F,0 F,0 F,0 T,0..1/1000"), 0, 0, 0.9, 0.1},
		{"Lyu2", sv(lyu2), par("[0 0 0 0 0 0]", "2"), par("[1 1 -1 1 1 -1]", "2"), outs("F F T F F T"), 0, 0, 0.5992, 5e-5},
		{"BadAdaptiveSVT", fn(adaptiveSVT(true, "2")), par("[0 0 0 0 0]", "1"), par("[1 1 1 1 -1]", "1"), outs("F,0 F,0 F,0 F,0 2,16..16001/1000"), 6.49e-8, 0, 1.168, 5e-4},
		{"BadAdaptiveSVT 8", fn(adaptiveSVT(true, "2")), par("[0 0 0 0 0]", "1"), par("[1 1 1 1 -1]", "1"), outs("F,0 F,0 F,0 F,0 2,8..8001/1000"), 6e-13, 0, 1.260, 5e-3},
		{"BadAdaptiveSVT k=12", fn(adaptiveSVT(true, "2")), par("["+rep("0", 13)+"]", "1"), par("["+rep("1", 12)+"-1]", "1"), outs(rep("F,0", 12) + "2,16..16001/1000"), 0, 0, 3.246, 0.05},
		{"AdaptiveSVT k=12", fn(adaptiveSVT(false, "2")), par("["+rep("0", 13)+"]", "1"), par("["+rep("1", 12)+"-1]", "1"), outs(rep("F,0", 12) + "2,16..16001/1000"), 0, 0, 0.7496, 5e-4},
		{"BadNoisyMax", fn(noisyMax(program.Laplace, "2", true)), ins("q", "[0 0 0 0 0]", "eps", "1"), ins("q", "[1 1 1 1 1]", "eps", "1"), returns("..-10"), 0, 0, 2.5, 1e-9},
		{"NoisyMax", fn(noisyMax(program.Laplace, "2", false)), ins("q", "[0 1]", "eps", "1"), ins("q", "[1 0]", "eps", "1"), returns("1"), 0, 0, 0.4934, 5e-5},
		{"NoisyMax far", fn(noisyMax(program.Laplace, "2", false)), ins("q", "[0 -40]", "eps", "1"), ins("q", "[1 -41]", "eps", "1"), returns("0"), 0, 0, 0, 1e-6},
		{"NoisyMax far below", fn(noisyMax(program.Laplace, "2", false)), ins("q", "[1 -40]", "eps", "1"), ins("q", "[0 -39]", "eps", "1"), returns("1"), 0, 0, -0.95454, 1e-5},
		{"NoisyMax exponential", fn(noisyMax(program.Exponential, "2", false)), ins("q", "[0 -40]", "eps", "1"), ins("q", "[1 -41]", "eps", "1"), returns("1"), 0, 0, 1, 1e-6},
		{"BadPartialSum", fn(partialSum(program.Laplace, "1/2")), ins("q", "[0]", "eps", "1"), ins("q", "[1]", "eps", "1"), returns("..0"), 0.5, 0.06767, 2, 1e-9},
		{"PrefixSum 3 outputs", fn(prefixSum("1")), ins("q", "[0 0 0 0]", "eps", "1"), ins("q", "[0 1 0 0]", "eps", "1"), outs("-1..1 ..0 ..0 .."), 0, 0, 0.9, 0.1},
		{"SmartSum", fn(smartSum(false)), ins("q", "[0 0 0 0]", "M", "2", "eps", "1"), ins("q", "[1 0 0 0]", "M", "2", "eps", "1"), outs("..0 ..0 ..0 ..0"), 0, 0, 1.8, 0.2},
		{"BadSmartSum", fn(smartSum(true)), ins("q", "[0 0 0 0]", "M", "2", "eps", "1"), ins("q", "[1 0 0 0]", "M", "2", "eps", "1"), outs(".. 0 .. .."), 1, 0, math.Inf(1), 0},
		{"SVTUp", sv(svtUp), par("[0 0 0]", "1"), par("[1 1 0]", "1"), outs("F F T"), 0, 0, 0.5, 0.5},
		{"SVTDown", sv(svtDown), par("[1 1 1]", "1"), par("[1 1 0]", "1"), outs("F F T"), 0, 0, 0.25, 0.25},
		{"SVT 20 F", sv(svtRight), par("["+rep("0", 20)+"]", "1"), par("["+rep("1", 20)+"]", "1"), outs(rep("F", 20)), 0, 0, 0.5, 0.5},
	} {
		p, err := Probability(context.Background(), c.f, c.d, c.event, Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		q, err := Probability(context.Background(), c.f, c.e, c.event, Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		t.Logf("%s: p %v q %v ratio %.5f", c.name, p, q, math.Log(p.Lo/q.Hi))
		if c.p != 0 && math.Abs(p.Lo/c.p-1) > 0.02 || c.q != 0 && math.Abs(q.Hi/c.q-1) > 0.02 {
			t.Errorf("%s: %v and %v, want %v and %v", c.name, p, q, c.p, c.q)
		}
		if ratio := math.Log(p.Lo / q.Hi); !(math.Abs(ratio-c.ratio) <= c.within) && ratio != c.ratio {
			t.Errorf("%s: ratio %v, want %v", c.name, ratio, c.ratio)
		}
	}
}

// show writes inputs as a line.
func show(in program.Inputs) string {
	var names []string
	for name := range in {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		b.WriteString(" " + name + "=")
		if v := in[name]; v.Number != nil {
			b.WriteString(v.Number.RatString())
		} else {
			b.WriteString("[")
			for i, e := range v.Elements {
				if i > 0 {
					b.WriteString(" ")
				}
				b.WriteString(e.RatString())
			}
			b.WriteString("]")
		}
	}
	return strings.TrimSpace(b.String())
}
