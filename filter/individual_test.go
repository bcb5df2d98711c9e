package filter

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/privacy"
)

// Noisy sums with a value a unit and a step: a unit of value x reveals x²/(2σ²) of
// itself. Whatever the values, which may depend on results before, what the steps that
// a unit took part in reveal of it is within the budget, and it leaves for good.
func TestIndividualUnitsStayWithinTheirBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom([]Measure{ZCDP, RDP}).Draw(t, "measure")
		b := Budget{Measure: m, Epsilon: eps("1"), Delta: del("1e-6")}
		f := must(New(b))
		units := rapid.IntRange(1, 5).Draw(t, "units")
		x := must(NewIndividual(b, units))
		spent := make([]Total, units)
		gone := make([]bool, units)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			events := make([]privacy.Event, units)
			for i := range events {
				if v := rapid.Int64Range(0, 40).Draw(t, "value"); v > 0 {
					events[i] = privacy.Gaussian{Variance: rat("10000"), SensitivitySquared: big.NewRat(v*v, 1)}
				}
			}
			var used []int
			err := x.Step(func(i int) privacy.Event { return events[i] }, func(i int) error {
				used = append(used, i)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, e := range events {
				next := spent[i]
				if e != nil {
					next = next.Add(must(f.Charge([]privacy.Event{e}, privacy.Delta{})))
				}
				want := !gone[i] && next.Within(f.Budget())
				if got := slices.Contains(used, i); got != want {
					t.Fatalf("unit %d with %v spent of %v: takes part %v", i, spent[i], f.Budget(), got)
				}
				if gone[i] = !want; want {
					spent[i] = next
				}
			}
		}
	})
}

// The theorem on two noisy sums, by quadrature: a unit of value 30 whose value in the
// second step is chosen by the first result, as large as an adversary likes, has in all
// a divergence within the budget, because it is left out where it cannot pay.
func TestIndividualDivergence(t *testing.T) {
	b := Budget{Measure: RDP, Epsilon: eps("1"), Delta: del("1e-6")}
	f := must(New(b))
	order, _ := Order(f)
	alpha, _ := order.Float64()
	limit, _ := f.Budget().Loss.Rat().Float64()
	const sigma, first = 200.0, 30.0
	event := func(v int64) privacy.Event {
		return privacy.Gaussian{Variance: rat("40000"), SensitivitySquared: big.NewRat(v*v, 1)}
	}
	for name, second := range map[string]func(result float64) int64{
		"as much as fits":   func(float64) int64 { return 32 },
		"too much":          func(float64) int64 { return 40 },
		"by the first sign": func(result float64) int64 { return map[bool]int64{true: 32, false: 1}[result > 0] },
		"more and more":     func(result float64) int64 { return int64(max(1, min(result/4, 100))) },
	} {
		moment := 0.0 // E_q[(p/q)^α] over both results, p with the unit and q without
		const n = 400
		for i := range n {
			z := -16 + 40*(float64(i)+0.5)/n
			result := sigma * z
			x := must(NewIndividual(b, 1))
			values, value := []int64{int64(first), second(result)}, 0.0
			for step, v := range values {
				value = 0
				if err := x.Step(func(int) privacy.Event { return event(v) }, func(int) error { value = float64(v); return nil }); err != nil {
					t.Fatal(err)
				}
				if step == 0 && value != first {
					t.Fatal("the first step does not fit")
				}
			}
			ratio := (result*first - first*first/2) / (sigma * sigma) // ln p/q of the first
			rest := alpha * (alpha - 1) / 2 * value * value / (sigma * sigma)
			moment += 40.0 / n * math.Exp(-z*z/2+alpha*ratio+rest) / math.Sqrt(2*math.Pi)
		}
		if got := math.Log(moment) / (alpha - 1); got > limit*(1+1e-6) || got < limit/10 {
			t.Errorf("%s: divergence %v of %v", name, got, limit)
		}
	}
}

// A unit whose own data reveal little outlasts what the worst unit would allow.
func TestIndividualOutlastsTheWorstUnit(t *testing.T) {
	b := Budget{Measure: ZCDP, Epsilon: eps("1"), Delta: del("1e-6")} // rho 0.0243...
	x := must(NewIndividual(b, 2))
	took := [2]int{}
	for range 1000 {
		err := x.Step(func(unit int) privacy.Event {
			return privacy.ZCDP{Rho: rho([]string{"0.001", "0.00001"}[unit])}
		}, func(unit int) error { took[unit]++; return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	if took != [2]int{24, 1000} {
		t.Errorf("units took part %v times", took)
	}
}

func TestIndividualTellsNothing(t *testing.T) {
	x := must(NewIndividual(Budget{Measure: ZCDP, Epsilon: eps("1"), Delta: del("1e-6")}, 1))
	if err := x.Step(func(int) privacy.Event { return privacy.ZCDP{Rho: rho("0.0123456789")} }, func(int) error { return nil }); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("state", "x", x, "y", *x)
	printed := log.String()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
		printed += fmt.Sprintf(verb+verb, x, *x) + fmt.Sprintf(verb, struct{ X *Individual }{x}) + fmt.Sprintf(verb, struct{ x Individual }{*x})
	}
	if strings.Contains(printed, "123456789") || !strings.Contains(printed, "private") {
		t.Errorf("printed %s", printed)
	}
	for name, encode := range map[string]func(any) error{
		"json": func(v any) error { _, err := json.Marshal(v); return err },
		"xml":  func(v any) error { _, err := xml.Marshal(v); return err },
		"gob":  func(v any) error { return gob.NewEncoder(&bytes.Buffer{}).Encode(v) },
	} {
		if encode(x) == nil || encode(*x) == nil || encode(struct{ X any }{x}) == nil {
			t.Errorf("%s encodes it", name)
		}
	}
	// The refusal of an event does not quote it.
	err := x.Step(func(int) privacy.Event { return privacy.Approx{Epsilon: eps("0.987"), Delta: del("1e-9")} }, func(int) error { return nil })
	if err == nil || strings.Contains(err.Error(), "0.987") {
		t.Errorf("an event with a delta: %v", err)
	}
	stop := errors.New("stop")
	if err := x.Step(func(int) privacy.Event { return nil }, func(int) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the caller's error is %v", err)
	}
}

func TestIndividualRefusals(t *testing.T) {
	good := Budget{Measure: RDP, Epsilon: eps("1"), Delta: del("1e-6")}
	for name, change := range map[string]func(*Budget){
		"approx":      func(b *Budget) { b.Measure = Approx },
		"replace-one": func(b *Budget) { b.Neighbours = privacy.ReplaceOne },
		"kept delta":  func(b *Budget) { b.SelectionDelta = del("1e-7") },
		"no epsilon":  func(b *Budget) { b.Epsilon = privacy.Epsilon{} },
	} {
		b := good
		change(&b)
		if _, err := NewIndividual(b, 3); err == nil {
			t.Errorf("%s: admitted", name)
		}
	}
	if _, err := NewIndividual(good, 0); err == nil {
		t.Error("no units: admitted")
	}
}
