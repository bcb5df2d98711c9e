package filter

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func eps(s string) privacy.Epsilon { return must(privacy.ParseEpsilon(s)) }
func del(s string) privacy.Delta   { return must(privacy.ParseDelta(s)) }
func rho(s string) privacy.Rho     { return must(privacy.ParseRho(s)) }

// The vectors come from other implementations; each names its source.
func TestConversionVectors(t *testing.T) {
	var vectors []struct {
		ID, Kind  string
		Params    struct{ Rho, Epsilon, Delta json.Number }
		Expected  json.Number
		Tolerance any
	}
	data := must(os.ReadFile("testdata/zcdp.json"))
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		var got *big.Rat
		switch v.Kind {
		case "zcdp_delta":
			got = must(ZCDPDelta(rho(v.Params.Rho.String()), eps(v.Params.Epsilon.String()))).Rat()
		case "zcdp_epsilon":
			got = must(ZCDPEpsilon(rho(v.Params.Rho.String()), del(v.Params.Delta.String()))).Rat()
		default:
			t.Fatalf("%s: unknown kind", v.ID)
		}
		want := must(numeric.ParseDecimal(v.Expected.String()))
		relative, _ := new(big.Rat).Quo(new(big.Rat).Sub(got, want), want).Float64()
		if math.Abs(relative) > 1e-9 {
			t.Errorf("%s: got %s, want %s, off by %g", v.ID, got.FloatString(20), want.FloatString(20), relative)
		}
	}
	if len(vectors) == 0 {
		t.Error("no vectors")
	}
}

func drawRho(t *rapid.T) privacy.Rho {
	return must(privacy.RhoFromFloat(math.Exp(rapid.Float64Range(-40, 8).Draw(t, "ln rho"))))
}

func drawDelta(t *rapid.T) privacy.Delta {
	return must(privacy.DeltaFromFloat(math.Exp(rapid.Float64Range(-300, -0.1).Draw(t, "ln delta"))))
}

// The three conversions are one inequality solved for three variables: going
// round must come back, never on the side of the spender, and not far off.
func TestConversionsAgreeOnTheSafeSide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, d := drawRho(t), drawDelta(t)
		e := must(ZCDPEpsilon(r, d))
		if e.Sign() == 0 {
			return
		}
		back, err := ZCDPRho(e, d)
		if err != nil {
			t.Fatal(err)
		}
		if ratio := back.Float64() / r.Float64(); ratio < 1-1e-9 {
			t.Fatalf("rho %v, epsilon %v, delta %v: back to %v", r, e, d, back)
		}
		// The conversion of the rho given must stay within epsilon: this is the
		// filter's promise. It may fall short only by the search's imprecision.
		again := must(ZCDPEpsilon(back, d))
		if again.Cmp(e) > 0 || again.Float64() < e.Float64()*(1-1e-7) {
			t.Fatalf("rho %v at delta %v is epsilon %v, want %v or just below", back, d, again, e)
		}
		if again, err := ZCDPDelta(r, e); err != nil || math.Abs(math.Log(again.Float64()/d.Float64())) > 1e-5 {
			t.Fatalf("rho %v at epsilon %v is delta %v (%v), want about %v", r, e, again, err, d)
		}
	})
}

// Gaussian noise is rho-zCDP, and its (epsilon, delta) curve is known exactly
// (Balle and Wang 2018, Theorem 8): no valid conversion of rho lies below it, and
// this one lies within a fifth above.
func TestConversionCoversTheGaussian(t *testing.T) {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	for _, r := range []float64{1e-4, 0.01, 0.125, 0.5, 2} {
		mu := math.Sqrt(2 * r)
		for _, e := range []float64{mu, 2 * mu, 4 * mu} {
			truth := phi(mu/2-e/mu) - math.Exp(e)*phi(-mu/2-e/mu)
			bound := must(ZCDPDelta(must(privacy.RhoFromFloat(r)), must(privacy.EpsilonFromFloat(e)))).Float64()
			if bound < truth || bound > 20*truth {
				t.Errorf("rho %v at epsilon %v: delta %v, the Gaussian's own is %v", r, e, bound, truth)
			}
		}
	}
}

func TestConversionEdges(t *testing.T) {
	if e, err := ZCDPEpsilon(privacy.Rho{}, privacy.Delta{}); err != nil || e.Sign() != 0 {
		t.Errorf("rho 0 is epsilon %v, %v", e, err)
	}
	if d, err := ZCDPDelta(privacy.Rho{}, eps("1")); err != nil || d.Sign() != 0 {
		t.Errorf("rho 0 is delta %v, %v", d, err)
	}
	if e, err := ZCDPEpsilon(rho("1"), privacy.Delta{}); err == nil {
		t.Errorf("delta 0 gives epsilon %v", e)
	}
	if r, err := ZCDPRho(eps("1"), privacy.Delta{}); err == nil {
		t.Errorf("delta 0 gives rho %v", r)
	}
	if r, err := ZCDPRho(privacy.Epsilon{}, del("1e-6")); err == nil {
		t.Errorf("epsilon 0 gives rho %v", r)
	}
	if d, err := ZCDPDelta(rho("1000000"), eps("1")); err == nil && d.Float64() < 0.999 {
		t.Errorf("rho 1000000 at epsilon 1 is delta %v", d)
	}
	for _, r := range []string{"1e-300", "1e-100", "1000000000000"} {
		_, _ = ZCDPEpsilon(rho(r), del("1e-300")) // no panic, no hang
		_, _ = ZCDPDelta(rho(r), eps("1000000"))
		_, _ = ZCDPDelta(rho(r), eps("1e-300"))
		_, _ = ZCDPDelta(rho(r), eps("0"))
	}
	_, _ = ZCDPRho(eps("1e-300"), del("1e-300"))
	_, _ = ZCDPRho(eps("1000000"), del("1e-300"))
	_, _ = ZCDPRho(eps("1e-300"), del("0.999999"))
}

func BenchmarkZCDPEpsilon(b *testing.B) {
	for b.Loop() {
		must(ZCDPEpsilon(rho("0.1"), del("1e-7")))
	}
}

func BenchmarkZCDPRho(b *testing.B) {
	for b.Loop() {
		must(ZCDPRho(eps("1"), del("1e-7")))
	}
}
