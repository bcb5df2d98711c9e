package numeric

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseDecimal(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"0", "0"}, {"3", "3"}, {"0.1", "1/10"}, {".5", "1/2"}, {"5.", "5"}, {"-0.25", "-1/4"},
		{"1e-7", "1/10000000"}, {"1E+2", "100"}, {"12.50e1", "125"}, {"+7", "7"}, {"-0", "0"},
	} {
		got, err := ParseDecimal(tc.in)
		if err != nil || got.RatString() != tc.want {
			t.Errorf("ParseDecimal(%q) = %v, %v; want %s", tc.in, got, err, tc.want)
		}
	}
	for _, in := range []string{
		"", ".", "-", "e5", "1e", "1e+-2", "1e++2", "--1", "NaN", "inf", "Infinity", "0x10", "1_000", " 1", "1 ", "1e1.5",
		"1,5", "1e-400000", "1e999999999999999999999", "٣", strings.Repeat("9", 1001),
	} {
		if got, err := ParseDecimal(in); err == nil {
			t.Errorf("ParseDecimal(%q) = %v, want an error", in, got)
		}
	}
	for _, in := range []string{"1/0", "1/", "/2", "1/-2", "1/2/3", "0.5/2", "1/+2"} {
		if got, err := ParseRat(in); err == nil {
			t.Errorf("ParseRat(%q) = %v, want an error", in, got)
		}
	}
}

func TestFormatRat(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"0", "0"}, {"1", "1"}, {"-1", "-1"}, {"100", "100"}, {"1/10", "0.1"}, {"1/3", "1/3"}, {"-5/4", "-1.25"},
		{"1/10000000", "1e-7"}, {"3/20000000", "1.5e-7"}, {"1/1000000", "0.000001"}, {"1000000000000000000000000", "1e24"},
		{"4611686018427387904", "4611686018427387904"},
		{"1/1361129467683753853853498429727072845824", "1/1361129467683753853853498429727072845824"},
	} {
		r, _ := new(big.Rat).SetString(tc.in)
		if got := FormatRat(r); got != tc.want {
			t.Errorf("FormatRat(%s) = %s, want %s", tc.in, got, tc.want)
		}
	}
}

func TestFormatRatReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		den := rapid.OneOf(rapid.Int64Range(1, math.MaxInt64), rapid.SampledFrom([]int64{1, 8, 625, 1e9, 1 << 40})).Draw(t, "den")
		want := big.NewRat(rapid.Int64().Draw(t, "num"), den)
		got, err := ParseRat(FormatRat(want))
		if err != nil || got.Cmp(want) != 0 {
			t.Fatalf("ParseRat(%q) = %v, %v", FormatRat(want), got, err)
		}
	})
}

func TestFromFloat(t *testing.T) {
	for f, want := range map[float64]string{0.1: "1/10", 3: "3", 1e-7: "1/10000000", 0: "0"} {
		if got, err := FromFloat(f); err != nil || got.RatString() != want {
			t.Errorf("FromFloat(%v) = %v, %v", f, got, err)
		}
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat64, -0x1p-1030} {
		if got, err := FromFloat(f); err == nil {
			t.Errorf("FromFloat(%v) = %v, want an error", f, got)
		}
	}
}

func FuzzParseRat(f *testing.F) {
	for _, s := range []string{"1", "0.1", "1e-7", "1/3", "-5e3", "1e-400000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRat(s)
		if err != nil {
			return
		}
		if r.Num().BitLen() > 3000 || r.Denom().BitLen() > 3000 {
			return // printed, it may exceed the limits on what is read
		}
		text := FormatRat(r)
		if again, err := ParseRat(text); err != nil || again.Cmp(r) != 0 {
			t.Fatalf("%q reads as %v, printed %q, reads back as %v, %v", s, r, text, again, err)
		}
	})
}
