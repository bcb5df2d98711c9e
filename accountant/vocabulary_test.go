package accountant

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/accountant/internal/referee"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// vocabulary has a plan for every type of event. TestVocabulary holds it against the source
// of package privacy, so that whoever adds an event is led through all of its consumers.
var vocabulary = map[string][]string{
	"Laplace":            {"laplace(2, sensitivity=1.5)"},
	"DiscreteLaplace":    {"discrete_laplace(2, sensitivity=3)", "discrete_laplace(2, sensitivity=1/2)"},
	"Gaussian":           {"gaussian(2, sensitivity=1.5)"},
	"DiscreteGaussian":   {"discrete_gaussian(2, sensitivity=3)", "discrete_gaussian(2, sensitivity=sqrt(2))"},
	"Skellam":            {"skellam(4, sensitivity=3, l1=3)", "skellam(100, sensitivity=2, l1=4)"},
	"RepeatAndSelect":    {"repeat_and_select(10, gaussian(4))", "repeat_and_select(3, laplace(2), shape=0.5)"},
	"Tree":               {"tree(4, 8, sensitivity=1)"},
	"Pure":               {"pure(0.1)"},
	"Approx":             {"approx(0.1, 1e-9)", "approx(0, 1e-9)"},
	"Selection":          {"selection(0.1, 1e-9)"},
	"Exponential":        {"exponential(0.2)"},
	"PermuteAndFlip":     {"permute_and_flip(0.2)"},
	"NoisyMax":           {"noisy_max(0.2)"},
	"SparseVector":       {"sparse_vector(0.2)"},
	"RandomizedResponse": {"randomized_response(0.75, k=2)", "randomized_response(0.1, k=5)", "randomized_response(0.75, k=4)"},
	"ZCDP":               {"zcdp(0.01)"},
	"GDP":                {"gdp(0.1)"},
	"RDP":                {"rdp(2: 0.1, 8: 0.5)"},
	"Pair": {"pair(0.75: 0.25, 0.25: 0.75)", "pair(0.5: 0.25, 0.5: 0.75)", "pair(0.5: 0.25, 0.4: 0.65, 0.1: 0.1)", "pair(0.9: 0.9, 0.1: 0, 0: 0.1)",
		"pair(0.5: 0.3, 0.4999: 0.7, 0.0001: 0)"},
	"Poisson":            {"poisson(0.1, gaussian(2))", "poisson(0.1, laplace(2) + pure(0.1))"},
	"TruncatedPoisson":   {"truncated_poisson(0.1, 1000, 120, gaussian(2))", "truncated_poisson(0.5, 10, 7, gaussian(3) + 2*gaussian(4))"},
	"WithoutReplacement": {"without_replacement(5, 100, gaussian(2))"},
	"WithReplacement":    {"with_replacement(5, 100, pure(0.1))"},
	"Shuffled":           {"shuffled(100, randomized_response(0.75))", "shuffled(100, laplace(2))"},
	"Parallel":           {"parallel(pure(0.1), gaussian(3))"},
	"Sum":                {"pure(0.1) + gaussian(3)"},
	"Repeat":             {"3*laplace(2)"},
	"Under":              {"add_remove(gaussian(2))", "replace_one(gaussian(2))", "replace_special(gaussian(2))"},
}

// eventTypes lists the types of package privacy that are events: those with its method.
func eventTypes(t *testing.T) (types []string) {
	t.Helper()
	files, err := filepath.Glob("../privacy/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "event" || f.Type.Params.NumFields() > 0 || f.Type.Results != nil {
				continue
			}
			if id, ok := f.Recv.List[0].Type.(*ast.Ident); ok {
				types = append(types, id.Name)
			}
		}
	}
	return types
}

// relations are all that a plan may be accounted for.
func relations() (all []privacy.Neighbours) {
	for n := privacy.AddRemove; ; n++ {
		if _, err := n.MarshalText(); err != nil {
			return all
		}
		all = append(all, n)
	}
}

// within names a plan and the consumer that is asked about it, and takes its panics.
func within(t *testing.T, plan, consumer string, f func()) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: %s panics: %v\n%s", plan, consumer, r, debug.Stack())
		}
	}()
	f()
}

// refuses fails where an error says nothing.
func refuses(t *testing.T, plan, consumer string, err error) {
	t.Helper()
	if err != nil && (len(strings.TrimSpace(err.Error())) < 10 || errors.Is(err, errContradiction)) {
		t.Errorf("%s: %s refuses it with %q", plan, consumer, err)
	}
}

// Every event, by itself and in every combination, gets from every consumer a bound or a
// refusal with its reason: no panic, no silence, no zero. CI takes a third of the combinations,
// with each form of them, others in each run, DISCREET_SOAK all of all plans.
func TestVocabulary(t *testing.T) {
	types := eventTypes(t)
	if len(types) < 24 {
		t.Fatalf("only %d types of events were found in the source", len(types))
	}
	filters := map[privacy.Neighbours]map[filter.Measure]filter.Filter{}
	for _, n := range relations() {
		filters[n] = everyFilter(t, n)
	}
	for _, name := range types {
		if vocabulary[name] == nil {
			t.Errorf("there is no plan for privacy.%s here", name)
		}
	}
	taken := share(3)
	for at, name := range slices.Sorted(maps.Keys(vocabulary)) {
		plans := vocabulary[name]
		if !slices.Contains(types, name) {
			t.Errorf("privacy.%s is no event", name)
		}
		for i, text := range plans {
			e := parse(t, text)
			if got := reflect.TypeOf(e).Name(); got != name {
				t.Errorf("%s is a %s, not a %s", text, got, name)
			}
			within(t, text, "the language", func() { readBack(t, e) })
			within(t, text, "Map", func() { mapped(t, e) })
			within(t, text, "sensitivities", func() { doubles(t, e) })
			unknowns(t, text)
			for f, form := range combinations {
				if form != "%s" && (!taken(at+f) || i > 0 && os.Getenv("DISCREET_SOAK") == "") {
					continue
				}
				text := fmt.Sprintf(form, text)
				p, err := plan.Parse(text)
				if err != nil {
					t.Errorf("%s: %v", text, err)
					continue
				}
				if e, err = p.Event(); err != nil {
					t.Errorf("%s: %v", text, err)
					continue
				}
				for _, n := range relations() {
					consumed(t, e, n, filters[n])
					if form == "%s" && i == 0 {
						tradedOff(t, e, n)
					}
				}
			}
		}
	}
}

// combinations are the plans that have another in them.
var combinations = []string{"%s", "3*(%s)", "(%s) + laplace(2)", "poisson(0.1, %s)", "without_replacement(5, 100, %s)", "with_replacement(5, 100, %s)",
	"shuffled(50, %s)", "parallel(%s, pure(0.1))", "add_remove(%s)", "replace_one(%s)", "replace_special(%s)"}

// boundless are events of which a float64 does not hold ε, or what is computed from it.
var boundless = []string{"laplace(1e-258, sensitivity=1e247)", "laplace(1e-154)", "laplace(1e-308)", "laplace(1e-400)",
	"discrete_laplace(1e-400)", "gaussian(1e-200, sensitivity=1e200)", "gaussian(1e-154)", "gaussian(1e-400)",
	"discrete_gaussian(1e-200, sensitivity=1000000)", "pure(1e6)", "approx(1e6, 1e-300)",
	"exponential(1e6)", "selection(1e6, 1e-300)", "zcdp(1e12)",
	"rdp(2: 1e12)", "rdp(1e6: 1e12)", "gdp(1e155)", "gdp(1e400)", "tree(1e-300, 1000000000000)", "tree(1e-400, 2)",
	"randomized_response(1-1e-400)", "randomized_response(1e-400, k=1000)"}

// Amounts beyond what is computed in are refused or bounded, in every combination, of which CI
// takes a fifth, and so are reports that reveal next to nothing.
func TestBoundlessAmounts(t *testing.T) {
	taken := share(5)
	for _, n := range relations() {
		filters := everyFilter(t, n)
		for at, plan := range boundless {
			for f, form := range combinations {
				if testing.Short() && form != "%s" && form != "shuffled(50, %s)" || form != "%s" && !taken(at+f) {
					continue
				}
				consumed(t, parse(t, fmt.Sprintf(form, plan)), n, filters)
			}
		}
	}
	for _, report := range []string{"laplace(1.4e250, sensitivity=1.13e-290)", "laplace(1e197, sensitivity=1e-125)", "laplace(1e99)", "laplace(1e150)"} {
		plan := "7*shuffled(50, " + report + ")"
		within(t, plan, "the accountants", func() {
			o := Options{Neighbours: privacy.ReplaceOne, Work: 1 << 22}
			_, err := Epsilon(t.Context(), parse(t, plan), 1e-9, o)
			refuses(t, plan, "Epsilon", err)
			_, err = Delta(t.Context(), parse(t, plan), 1e-9, o)
			refuses(t, plan, "Delta", err)
		})
	}
}

// readBack: text and JSON are the event.
func readBack(t *testing.T, e privacy.Event) {
	t.Helper()
	data, err := json.Marshal(e)
	if err != nil {
		t.Errorf("%v: %v", e, err)
		return
	}
	back, err := plan.UnmarshalEvent(data)
	if err != nil || back.String() != e.String() {
		t.Errorf("%v is written %s, read back as %v, %v", e, data, back, err)
	}
	if again := parse(t, e.String()); again.String() != e.String() {
		t.Errorf("%v reads back as %v", e, again)
	}
}

// inner returns the events in the fields of e, found without knowing its type.
func inner(e privacy.Event) (all []privacy.Event) {
	v := reflect.ValueOf(e)
	for i := range v.NumField() {
		switch f := v.Field(i).Interface().(type) {
		case privacy.Event:
			all = append(all, f)
		case []privacy.Event:
			all = append(all, f...)
		}
	}
	return all
}

// mapped: Map reaches all events in e, and what relations cannot speak of is refused
// wherever it stands.
func mapped(t *testing.T, e privacy.Event) {
	t.Helper()
	var count func(e privacy.Event) int
	count = func(e privacy.Event) int {
		n := 1
		for _, in := range inner(e) {
			n += count(in)
		}
		return n
	}
	seen := 0
	privacy.Map(e, func(e privacy.Event) privacy.Event { seen++; return e })
	if want := count(e); seen != want {
		t.Errorf("%v: Map reaches %d of %d events", e, seen, want)
	}
	for _, n := range relations() {
		for _, other := range relations() {
			if privacy.Holds(e, n) != nil || other == n || len(inner(e)) == 0 {
				continue
			}
			stated := privacy.Map(e, func(in privacy.Event) privacy.Event {
				if len(inner(in)) == 0 {
					return privacy.Under{Neighbours: other, Event: in}
				}
				return in
			})
			if privacy.Holds(stated, n) == nil {
				t.Errorf("%v holds under %v, and what is in it under %v", stated, n, other)
			}
		}
	}
}

// doubles: a plan's sensitivities are those of add-remove. Under replace-one noise costs
// what it does with twice the sensitivity, whoever asks; events that state replace-one
// have their own.
func doubles(t *testing.T, e privacy.Event) {
	t.Helper()
	v := reflect.New(reflect.TypeOf(e)).Elem()
	v.Set(reflect.ValueOf(e))
	changed := false
	for i := range v.NumField() {
		by := int64(0)
		switch v.Type().Field(i).Name {
		case "Sensitivity", "L1":
			by = 2
		case "SensitivitySquared":
			by = 4
		}
		if x, ok := v.Field(i).Interface().(*big.Rat); ok && by > 0 {
			v.Field(i).Set(reflect.ValueOf(new(big.Rat).Mul(x, big.NewRat(by, 1))))
			changed = true
		}
	}
	if !changed || len(inner(e)) > 0 {
		return
	}
	twice := v.Interface().(privacy.Event)
	if got := privacy.OfPlan(e, privacy.ReplaceOne); got.String() != twice.String() {
		t.Errorf("%v: a ledger takes it for %v under replace-one, not %v", e, got, twice)
	}
	if got := planned(privacy.Under{Neighbours: privacy.ReplaceOne, Event: twice}, privacy.ReplaceOne); got.String() != e.String() {
		t.Errorf("%v: stated for replace-one it is the plan %v, not %v", twice, got, e)
	}
	same := func(what string, a privacy.Event, n privacy.Neighbours, b privacy.Event, m privacy.Neighbours) {
		x, errX := Epsilon(t.Context(), a, 1e-9, Options{Neighbours: n, Work: 1 << 22})
		y, errY := Epsilon(t.Context(), b, 1e-9, Options{Neighbours: m, Work: 1 << 22})
		if errX != nil || errY != nil {
			t.Errorf("%v: %v, %v", e, errX, errY)
			return
		}
		for _, bound := range x.Bounds {
			i := slices.IndexFunc(y.Bounds, func(b Bound) bool { return b.Accountant == bound.Accountant })
			if i < 0 || math.Abs(y.Bounds[i].Epsilon.High/bound.Epsilon.High-1) > 1e-6 {
				t.Errorf("%v: %s, by %s: %v, and %v", e, what, bound.Accountant, bound.Epsilon, y.Bounds)
			}
		}
	}
	same("replaced, and with twice the sensitivity", e, privacy.ReplaceOne, twice, privacy.AddRemove)
	same("stated for replace-one", privacy.Under{Neighbours: privacy.ReplaceOne, Event: twice}, privacy.ReplaceOne, e, privacy.ReplaceOne)
	same("in groups of two, and with twice the sensitivity", e, privacy.ReplaceOne, privacy.Repeat{Count: 1, Event: e}, privacy.ReplaceOne)
}

var numeral = regexp.MustCompile(`\b[0-9][0-9.]*(e-?[0-9]+)?\b`)

// unknowns: each number of a plan can be asked for.
func unknowns(t *testing.T, of string) {
	t.Helper()
	for _, at := range numeral.FindAllStringIndex(of, -1) {
		text := of[:at[0]] + "?" + of[at[1]:]
		within(t, text, "Calibrate", func() {
			p, err := plan.Parse(text)
			if refuses(t, text, "Parse", err); err != nil {
				return
			}
			for _, n := range relations() {
				c, err := Calibrate(t.Context(), p, 1, 1e-6, Options{Neighbours: n, Work: 1 << 18})
				if refuses(t, text, "Calibrate", err); err != nil {
					continue
				}
				if !(c.Value > 0) || math.IsInf(c.Value, 1) || c.Accountant == "" {
					t.Errorf("%s: Calibrate finds %+v", text, c)
				}
			}
		})
	}
}

// measures are those of all filters.
var measures = []filter.Measure{filter.Pure, filter.Approx, filter.ZCDP, filter.Whitehouse, filter.RDP, filter.GDP, filter.Rogers}

// everyFilter returns the filters of a relation, which refuse by themselves what they do
// not speak of.
func everyFilter(t *testing.T, n privacy.Neighbours) map[filter.Measure]filter.Filter {
	t.Helper()
	all := map[filter.Measure]filter.Filter{}
	for _, m := range measures {
		b := filter.Budget{Measure: m, Epsilon: epsilonOfText(t, "1"), Delta: deltaOfText(t, "0.1"), Neighbours: n}
		switch m {
		case filter.Pure:
			b.Delta = privacy.Delta{}
		case filter.Approx:
		default:
			b.SelectionDelta = deltaOfText(t, "1e-6")
		}
		f, err := filter.New(b)
		if refuses(t, n.String(), "the filter "+string(m), err); err == nil {
			all[m] = f
		}
	}
	return all
}

// consumed asks everybody who takes an event about e.
func consumed(t *testing.T, e privacy.Event, n privacy.Neighbours, filters map[filter.Measure]filter.Filter) {
	t.Helper()
	plan := fmt.Sprintf("%v under %v", e, n)
	o := Options{Neighbours: n, Work: 1 << 18}
	for _, group := range []int{1, 2} {
		o.Group = group
		within(t, plan, "the accountants", func() {
			for _, asksDelta := range []bool{false, true} {
				var r *Report
				var err error
				if asksDelta {
					r, err = Delta(t.Context(), e, 0.5, o)
				} else {
					r, err = Epsilon(t.Context(), e, 1e-6, o)
				}
				if refuses(t, plan, "all accountants", err); err != nil && !errors.Is(err, ErrNoBound) {
					continue
				}
				var all []Name
				for _, b := range r.Bounds {
					all = append(all, b.Accountant)
					if v := b.value(); v.check() != nil || !(v.High > 0) && !asksDelta || b.Note == "" {
						if !costless(e, asksDelta, v) {
							t.Errorf("%s, groups of %d: %s says %+v", plan, group, b.Accountant, b)
						}
					}
				}
				for _, f := range r.Refused {
					all = append(all, f.Accountant)
					refuses(t, plan, string(f.Accountant), errors.New(f.Why))
				}
				slices.Sort(all)
				want := Names()
				slices.Sort(want)
				if !slices.Equal(all, want) {
					t.Errorf("%s: of the accountants %v these answered: %v", plan, want, all)
				}
			}
		})
		within(t, plan, "RenyiCurve", func() {
			points, err := RenyiCurve(t.Context(), e, []float64{2}, o)
			if refuses(t, plan, "RenyiCurve", err); err == nil && !(points[0].Y.High > 0) {
				t.Errorf("%s: divergence %v", plan, points)
			}
		})
	}
	o.Group = 0
	within(t, plan, "the referee", func() {
		b := referee.Of(e, n, 1, 64)
		for _, eps := range []*big.Rat{new(big.Rat), big.NewRat(1, 2)} {
			if b.Floor != nil && b.Ceiling != nil && b.Floor.At(eps).Cmp(b.Ceiling.At(eps)) > 0 {
				t.Errorf("%s: floor %v, ceiling %v", plan, b.Floor.At(eps), b.Ceiling.At(eps))
			}
		}
	})
	one, tenth, delta := epsilonOfText(t, "1"), deltaOfText(t, "0.1"), deltaOfText(t, "1e-6")
	var point privacy.Event
	for _, m := range measures {
		within(t, plan, "Admitted by "+string(m), func() {
			count, err := filter.Admitted(m, e, one, tenth, n)
			if refuses(t, plan, "Admitted by "+string(m), err); err == nil && (count == nil || count.Sign() < 0) {
				t.Errorf("%s: %s admits %v", plan, m, count)
			}
		})
		f := filters[m]
		if f == nil {
			continue
		}
		within(t, plan, "the filter "+string(m), func() {
			charge, err := f.Charge([]privacy.Event{e}, delta)
			if refuses(t, plan, "the filter "+string(m), err); err == nil && charge.Loss.Sign() == 0 && charge.Delta.Sign() == 0 {
				t.Errorf("%s: the filter %s charges nothing", plan, m)
			}
		})
		within(t, plan, "Guarantee of "+string(m), func() {
			g := point // what both enter as
			if m != filter.Whitehouse {
				var err error
				g, err = Guarantee(t.Context(), e, f, delta, o)
				if refuses(t, plan, "Guarantee of "+string(m), err); err != nil {
					return
				}
			}
			if m == filter.Approx {
				point = g
			}
			if g == nil {
				return
			}
			charge, err := f.Charge([]privacy.Event{g}, delta)
			if err != nil || charge.Loss.Sign() == 0 && charge.Delta.Sign() == 0 {
				t.Errorf("%s: the guarantee %v is charged %v, %v", plan, g, charge, err)
			}
		})
	}
	within(t, plan, "the odometers", func() {
		s, err := filter.SpentOf([]privacy.Event{e}, n)
		if refuses(t, plan, "the odometers", err); err == nil && s.Squares.Sign() == 0 && s.Delta.Sign() == 0 {
			t.Errorf("%s: an odometer counts nothing", plan)
		}
	})
}

// tradedOff asks for the trade-off curve, which takes many reports.
func tradedOff(t *testing.T, e privacy.Event, n privacy.Neighbours) {
	t.Helper()
	plan := fmt.Sprintf("%v under %v", e, n)
	within(t, plan, "TradeOff", func() {
		points, err := TradeOff(t.Context(), e, []float64{0.1}, Options{Neighbours: n, Work: 1 << 18, Accountant: "rdp"})
		if refuses(t, plan, "TradeOff", err); err == nil && !(points[0].Y.Low < 0.9) {
			t.Errorf("%s: trade-off %v", plan, points)
		}
	})
}

// costless reports whether a bound of nothing is true: an event that reveals all with
// a small probability, and nothing else, has ε = 0 at that δ.
func costless(e privacy.Event, asksDelta bool, v Bracket) bool {
	return !asksDelta && v.High == 0 && strings.Contains(e.String(), "approx(0")
}

func epsilonOfText(t *testing.T, text string) privacy.Epsilon {
	t.Helper()
	r, _ := new(big.Rat).SetString(text)
	e, err := privacy.NewEpsilon(r)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func deltaOfText(t *testing.T, text string) privacy.Delta {
	t.Helper()
	r, _ := new(big.Rat).SetString(text)
	d, err := privacy.NewDelta(r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The manual names every event in its table.
func TestManualNamesEveryEvent(t *testing.T) {
	page, err := os.ReadFile("../docs/accounting.md")
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?s)\| event \| what is released \|.*?\n\n`).Find(page)
	for _, plans := range vocabulary {
		e := parse(t, plans[0])
		switch e.(type) {
		case privacy.Sum, privacy.Repeat: // + and *
			continue
		}
		name, _, _ := strings.Cut(e.String(), "(")
		if !strings.Contains(string(table), "`"+name+"(") {
			t.Errorf("docs/accounting.md: the table of events lacks %s", name)
		}
	}
}
