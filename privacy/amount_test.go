package privacy

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseAmounts(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"1", "1"}, {"0.1", "0.1"}, {"1e-7", "1e-7"}, {"1/3", "1/3"}, {"0", "0"}, {"3.0", "3"}, {"1e6", "1000000"}, {"1e-300", "1e-300"},
	} {
		if e, err := ParseEpsilon(tc.in); err != nil || e.String() != tc.want {
			t.Errorf("ParseEpsilon(%q) = %v, %v; want %s", tc.in, e, err, tc.want)
		}
	}
	// Attack F2: amounts by which a careless ledger is emptied or overdrawn.
	for _, in := range []string{
		"", "NaN", "nan", "Inf", "-Inf", "+infinity", "-1", "-0.0000001", "1e-400", "1e-301", "1e-400000", "1e7", "1000001", "0x1p-3", "one",
		"1e400000", "5e-324", "1/0", "1/" + strings.Repeat("9", 500),
	} {
		if e, err := ParseEpsilon(in); err == nil {
			t.Errorf("ParseEpsilon(%q) = %v, want an error", in, e)
		}
		if d, err := ParseDelta(in); err == nil {
			t.Errorf("ParseDelta(%q) = %v, want an error", in, d)
		}
	}
	for _, in := range []string{"1", "1.5", "4/3", "1e3"} {
		if d, err := ParseDelta(in); err == nil {
			t.Errorf("ParseDelta(%q) = %v, want an error", in, d)
		}
	}
	if _, err := ParseRho("1e13"); err == nil {
		t.Error("a rho of 1e13 is accepted")
	}
}

func TestAmountFromFloatIsTheDecimalWritten(t *testing.T) {
	tenth, err := EpsilonFromFloat(0.1)
	if err != nil || tenth.Rat().Cmp(big.NewRat(1, 10)) != 0 {
		t.Fatalf("EpsilonFromFloat(0.1) = %v, %v", tenth, err)
	}
	var sum Epsilon
	for range 10 {
		sum = sum.Add(tenth)
	}
	if sum.String() != "1" {
		t.Errorf("ten times 0.1 is %v", sum)
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, math.SmallestNonzeroFloat64, math.MaxFloat64} {
		if e, err := EpsilonFromFloat(f); err == nil {
			t.Errorf("EpsilonFromFloat(%v) = %v, want an error", f, e)
		}
	}
	if d, err := DeltaFromFloat(1e-7); err != nil || d.String() != "1e-7" {
		t.Errorf("DeltaFromFloat(1e-7) = %v, %v", d, err)
	}
	if _, err := RhoFromFloat(-0.5); err == nil {
		t.Error("a negative rho is accepted")
	}
}

func TestAmountsAreImmutable(t *testing.T) {
	r := big.NewRat(1, 2)
	e, err := NewEpsilon(r)
	if err != nil {
		t.Fatal(err)
	}
	r.SetInt64(9)
	e.Rat().SetInt64(9)
	e.Add(e)
	e.MulRat(big.NewRat(3, 1))
	if e.String() != "0.5" {
		t.Errorf("an epsilon of 0.5 became %v", e)
	}
	if _, err := NewEpsilon(nil); err == nil {
		t.Error("a missing number is accepted")
	}
	tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 1<<20))
	if _, err := NewDelta(tiny); err == nil {
		t.Error("a delta of 2^-1048576 is accepted")
	}
	defer func() {
		if recover() == nil {
			t.Error("a negative factor is accepted")
		}
	}()
	e.MulRat(big.NewRat(-1, 1))
}

func TestAmountZeroValue(t *testing.T) {
	var d Delta
	if d.Sign() != 0 || d.String() != "0" || d.Float64() != 0 || !d.Equal(d.Add(d)) || d.Rat().Sign() != 0 {
		t.Errorf("the zero Delta is %v", d)
	}
}

func TestAmountJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, err := NewEpsilon(big.NewRat(rapid.Int64Range(0, 1e9).Draw(t, "num"), rapid.Int64Range(1, 1e9).Draw(t, "den")*1000))
		if err != nil {
			t.Skip()
		}
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Epsilon
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if got.Cmp(want) < 0 || got.Float64() > want.Float64()*(1+1e-15) {
			t.Fatalf("%v is written %s", want, data)
		}
		text, _ := want.MarshalText()
		if err := got.UnmarshalText(text); err != nil || !got.Equal(want) {
			t.Fatalf("%v is written %s, read back as %v (%v)", want, text, got, err)
		}
	})
	third, _ := ParseEpsilon("1/3")
	if data, _ := json.Marshal(third); string(data) != "0.33333333333333333334" {
		t.Errorf("1/3 is written %s", data)
	}
	var e Epsilon
	for _, in := range []string{"-1", `"NaN"`, "null", "{}", "true"} {
		if err := json.Unmarshal([]byte(in), &e); err == nil && in != "null" {
			t.Errorf("%s is read as %v", in, e)
		}
	}
}

func FuzzParseEpsilon(f *testing.F) {
	for _, s := range []string{"1", "1e-7", "1/3", "NaN", "1e-400000", "-1", "0x1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		slow := time.AfterFunc(time.Minute, func() { panic(fmt.Sprintf("%q takes a minute", s)) })
		e, err := ParseEpsilon(s)
		slow.Stop()
		if err == nil && (e.Sign() < 0 || math.IsNaN(e.Float64()) || e.Float64() > 1e6) {
			t.Fatalf("%q is read as %v", s, e)
		}
	})
}
