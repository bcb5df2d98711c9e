package additive_test

import (
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/additive"
	"github.com/discreet-dp/discreet/noise"
)

// words hands out a list of words.
type words []uint64

func (w *words) Uint64() (uint64, error) {
	if len(*w) == 0 {
		return 0, errors.New("no more bits")
	}
	x := (*w)[0]
	*w = (*w)[1:]
	return x, nil
}

func split(t *testing.T, r additive.Ring, value int64, random []uint64) (view [][]byte) {
	t.Helper()
	w := words(random)
	view, err := r.Split(&w, []*big.Int{big.NewInt(value)}, len(random)+1)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// The law of any m−1 shares, by enumeration of all random bits: in a ring of eight elements
// among three parties each of the 64 views comes once, whatever the value.
func TestAllSharesButOneAreUniform(t *testing.T) {
	r := additive.Ring{Bits: 3}
	for value := int64(-4); value < 4; value++ {
		for missing := range 3 {
			seen := map[string]bool{}
			for a := range uint64(8) {
				for b := range uint64(8) {
					view := split(t, r, value, []uint64{a, b})
					seen[string(view[(missing+1)%3])+string(view[(missing+2)%3])] = true
				}
			}
			if len(seen) != 64 {
				t.Errorf("value %d without share %d: %d views of 64", value, missing, len(seen))
			}
		}
	}
}

// Shares of several holders add up, element by element, to the sum of what they hold.
func TestSharesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := new(big.Int).Lsh(big.NewInt(1), rapid.UintRange(0, 300).Draw(t, "bits"))
		parties, n := rapid.IntRange(2, 5).Draw(t, "parties"), rapid.IntRange(0, 4).Draw(t, "n")
		holders := rapid.IntRange(1, 4).Draw(t, "holders")
		r, err := additive.Fit(new(big.Int).Mul(bound, big.NewInt(int64(holders))))
		if err != nil {
			t.Fatal(err)
		}
		want := make([]*big.Int, n)
		for i := range want {
			want[i] = new(big.Int)
		}
		total := make([]byte, r.Size(n))
		for range holders {
			values := make([]*big.Int, n)
			for i := range values {
				v, err := noise.Uniform(noise.System(), new(big.Int).Add(bound, big.NewInt(1)))
				if err != nil {
					t.Fatal(err)
				}
				if rapid.Bool().Draw(t, "negative") {
					v.Neg(v)
				}
				values[i] = v
				want[i].Add(want[i], v)
			}
			shares, err := r.Split(noise.System(), values, parties)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range shares {
				if err := r.Check(s, n); err != nil {
					t.Fatal(err)
				}
				if err := r.Add(total, s); err != nil {
					t.Fatal(err)
				}
			}
		}
		got, err := r.Lift(total)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if got[i].Cmp(want[i]) != 0 {
				t.Fatalf("element %d is %v, want %v", i, got[i], want[i])
			}
		}
	})
}

// A ring holds what it was chosen for, and says what it does not hold.
func TestRingsHoldTheirBound(t *testing.T) {
	for _, shift := range []uint{0, 1, 62, 63, 64, 127, 128, 500} {
		bound := new(big.Int).Lsh(big.NewInt(1), shift)
		r, err := additive.Fit(bound)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []*big.Int{bound, new(big.Int).Neg(bound)} {
			encoded, err := r.Encode([]*big.Int{v})
			if err != nil {
				t.Fatal(err)
			}
			back, err := r.Lift(encoded)
			if err != nil || back[0].Cmp(v) != 0 {
				t.Errorf("%v comes back as %v from %d bits: %v", v, back, r.Bits, err)
			}
		}
		if !r.Holds(bound) || r.Holds(new(big.Int).Lsh(big.NewInt(1), uint(r.Bits-1))) {
			t.Errorf("a ring of %d bits holds %v: %v, and 2^%d: %v", r.Bits, bound, r.Holds(bound), r.Bits-1, r.Holds(new(big.Int).Lsh(big.NewInt(1), uint(r.Bits-1))))
		}
	}
}

func TestWhatIsNoVectorIsRefused(t *testing.T) {
	r := additive.Ring{Bits: 70}
	ok := make([]byte, 16)
	for name, err := range map[string]error{
		"short": r.Check(ok[:8], 1), "long": r.Check(ok, 2), "beyond the ring": r.Check(append(make([]byte, 15), 1), 1),
		"sum": r.Add(ok, ok[:8]), "one party": second(r.Split(noise.System(), nil, 1)), "no bits": second(r.Split(&words{}, []*big.Int{big.NewInt(1)}, 2)),
		"no ring": second(additive.Ring{}.Lift(ok)), "nil": second(r.Encode([]*big.Int{nil})), "huge": second(additive.Fit(new(big.Int).Lsh(big.NewInt(1), 5000))),
	} {
		if err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if err := r.Check(ok, 1); err != nil {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }
