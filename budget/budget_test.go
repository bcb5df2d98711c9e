package budget

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/filter"
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

func pure(s string) privacy.Event { return privacy.Pure{Epsilon: eps(s)} }

var budgets = []filter.Budget{
	{Measure: filter.Pure, Epsilon: eps("1")},
	{Measure: filter.Pure, Epsilon: eps("1"), Neighbours: privacy.ReplaceOne},
	{Measure: filter.Approx, Epsilon: eps("1"), Delta: del("1e-6")},
	{Measure: filter.ZCDP, Epsilon: eps("1"), Delta: del("2e-6"), SelectionDelta: del("1e-6")},
	{Measure: filter.Whitehouse, Epsilon: eps("1"), Delta: del("2e-6"), SelectionDelta: del("1e-6")},
	{Measure: filter.RDP, Epsilon: eps("1"), Delta: del("2e-6"), SelectionDelta: del("1e-6")},
	{Measure: filter.GDP, Epsilon: eps("1"), Delta: del("2e-6"), SelectionDelta: del("1e-6")},
}

// memory returns a fresh budget, the first of the list unless another is given.
func memory(t testing.TB, b ...filter.Budget) *InMemory {
	t.Helper()
	m, err := NewInMemory("root", append(b, budgets[0])[0])
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func spend(b Budget, events ...privacy.Event) error {
	_, err := b.Reserve(context.Background(), Release{Statement: "test", Events: events})
	return err
}

func spent(m *InMemory) string { return parts(must(m.Spent(context.Background())), m.filter.Measure()) }
func left(b Budget) string {
	return parts(must(b.Left(context.Background())), b.Filter().Measure())
}

func TestTotalsAreExact(t *testing.T) {
	m := memory(t)
	for range 10 {
		if err := spend(m, pure("0.1")); err != nil {
			t.Fatal(err)
		}
	}
	if got := spent(m); got != "epsilon 1" {
		t.Errorf("ten times 0.1 are %s", got)
	}
	err := spend(m, pure("1e-9"))
	var e *ExceededError
	if !errors.As(err, &e) || !errors.Is(err, ErrExceeded) {
		t.Fatalf("an exhausted budget answers %v", err)
	}
	const want = `the privacy budget does not suffice: budget "root" was asked for epsilon 1e-9 and has epsilon 0 left`
	if err.Error() != want {
		t.Errorf("%v", err)
	}
}

func TestRefusals(t *testing.T) {
	ctx := context.Background()
	ended, cancel := context.WithCancel(ctx)
	cancel()
	m := memory(t)
	gauss := privacy.ZCDP{Rho: must(privacy.ParseRho("0.1"))}
	for name, err := range map[string]error{
		"no events":         spend(m),
		"an event missing":  spend(m, nil),
		"an invalid event":  spend(m, privacy.Pure{}),
		"zCDP under pure":   spend(m, gauss),
		"too much":          spend(m, pure("1.1")),
		"the context ended": second(m.Reserve(ended, Release{Events: []privacy.Event{pure("1")}})),
		"nobody pays":       second(ReserveAll(ctx, nil)),
		"a nil budget":      second(ReserveAll(ctx, []Charge{{}})),
		"a nil parent":      second(Partition(nil, PartitionOptions{Names: []string{"a"}, Spread: 1})),
		"no parts":          second(Partition(m, PartitionOptions{Spread: 1})),
		"no spread":         second(Partition(m, PartitionOptions{Names: []string{"a"}})),
		"a negative spread": second(Partition(m, PartitionOptions{Names: []string{"a"}, Spread: -1})),
		"a quota of nobody": second(NewQuota(nil, "q", budgets[0])),
		"a quota of zero":   second(NewQuota(m, "q", filter.Budget{Measure: filter.Pure})),
		"another measure":   second(NewQuota(m, "q", budgets[3])),
		"another relation":  second(NewQuota(m, "q", budgets[1])),
		"another order": second(NewQuota(memory(t, budgets[5]), "q",
			filter.Budget{Measure: filter.RDP, Epsilon: eps("0.1"), Delta: del("2e-6"), SelectionDelta: del("1e-6")})),
		"no name":       second(NewInMemory("", budgets[0])),
		"a budget of 0": second(NewInMemory("m", filter.Budget{Measure: filter.Pure})),
	} {
		if err == nil {
			t.Errorf("%s was admitted", name)
		}
	}
	if got := spent(m); got != "epsilon 0" {
		t.Errorf("refusals cost %s", got)
	}
}

func second[T any](_ T, err error) error { return err }

// The losses that a budget must have been charged for: of the parts that a unit may
// be in, the most costly ones.
func owed(totals []filter.Total, spread int64) (most filter.Total) {
	used := make([][2]bool, len(totals))
	for range spread {
		loss, delta := -1, -1
		for i, t := range totals {
			if !used[i][0] && (loss < 0 || t.Loss.Cmp(totals[loss].Loss) > 0) {
				loss = i
			}
			if !used[i][1] && (delta < 0 || t.Delta.Cmp(totals[delta].Delta) > 0) {
				delta = i
			}
		}
		if loss >= 0 {
			used[loss][0] = true
			most = most.Add(filter.Total{Loss: totals[loss].Loss})
		}
		if delta >= 0 {
			used[delta][1] = true
			most = most.Add(filter.Total{Delta: totals[delta].Delta})
		}
	}
	return most
}

// A tracker is told which part spends what, and says what the parent pays in all.
type tracker func(part int, e privacy.Event) filter.Total

var errUnder, errOver = errors.New("the parent paid too little"), errors.New("the parent paid too much")

// compare draws releases of random parts, and reports the first after which the parent
// has paid less than is owed, or more than Spread times the maximum.
func compare(t *rapid.T, b filter.Budget, track func(f filter.Filter, parts int, spread int64) tracker) error {
	f := must(filter.New(b))
	n := rapid.IntRange(1, 4).Draw(t, "parts")
	spread := rapid.Int64Range(1, 3).Draw(t, "spread")
	pay := track(f, n, spread)
	totals := make([]filter.Total, n)
	slack := must(f.Charge([]privacy.Event{privacy.Pure{Epsilon: eps("1e-12")}}, privacy.Delta{})) // roots are rounded up
	most := 8
	if b.Measure == filter.GDP {
		most = 3 // its charges take a millisecond
	}
	for range rapid.IntRange(1, most).Draw(t, "releases") {
		i := rapid.IntRange(0, n-1).Draw(t, "part")
		var e privacy.Event = privacy.Pure{Epsilon: eps(fmt.Sprintf("%d/1000", rapid.IntRange(1, 20).Draw(t, "ε")))}
		if b.Delta.Sign() > 0 && rapid.Bool().Draw(t, "with δ") {
			e = privacy.Approx{Epsilon: eps(fmt.Sprintf("%d/1000", rapid.IntRange(0, 20).Draw(t, "ε"))), Delta: del("1e-9")}
		}
		totals[i] = totals[i].Add(must(f.Charge([]privacy.Event{e}, privacy.Delta{})))
		paid := pay(i, e)
		if want := owed(totals, spread); !want.Within(paid) {
			return fmt.Errorf("%w: %v for parts that spent %v, with spread %d", errUnder, paid, totals, spread)
		}
		var most filter.Total
		for _, s := range totals {
			most = most.Max(s)
		}
		if most = most.Times(spread).Add(slack); !paid.Within(most) {
			return fmt.Errorf("%w: %v for parts that spent %v, with spread %d", errOver, paid, totals, spread)
		}
	}
	return nil
}

// A partition of partitions pays as one with the parts of all.
func TestPartitionPaysItsTheorem(t *testing.T) {
	for _, b := range budgets {
		t.Run(fmt.Sprint(b.Measure, b.Neighbours), rapid.MakeCheck(func(t *rapid.T) {
			nested := rapid.Bool().Draw(t, "nested")
			if err := compare(t, b, func(f filter.Filter, n int, spread int64) tracker {
				root := must(NewInMemory("root", b))
				names := strings.Split(strings.Repeat("a ", n), " ")[:n]
				ps := must(Partition(root, PartitionOptions{Names: names, Spread: spread}))
				if nested { // the first part holds all but the last
					inner := must(Partition(ps[0], PartitionOptions{Names: names, Spread: 1}))
					ps = append(inner[:n-1:n-1], ps[n-1])
				}
				return func(i int, e privacy.Event) filter.Total {
					if err := spend(ps[i], e); err != nil {
						panic(err)
					}
					return root.spent
				}
			}); err != nil && (!nested || errors.Is(err, errUnder)) {
				t.Fatal(err)
			}
		}))
	}
}

// Wrong rules underpay, and are caught.
func TestPartitionFaultsAreCaught(t *testing.T) {
	faults := map[string]func(f filter.Filter, n int, spread int64) tracker{
		"the spread is forgotten": func(f filter.Filter, n int, spread int64) tracker {
			totals := make([]filter.Total, n)
			var most filter.Total
			return func(i int, e privacy.Event) filter.Total {
				totals[i] = totals[i].Add(must(f.Charge([]privacy.Event{e}, privacy.Delta{})))
				most = most.Max(totals[i])
				return most
			}
		},
		"the largest release instead of the largest total": func(f filter.Filter, n int, spread int64) tracker {
			var most filter.Total
			return func(i int, e privacy.Event) filter.Total {
				most = most.Max(must(f.Charge([]privacy.Event{e}, privacy.Delta{})))
				return most.Times(spread)
			}
		},
		"the whole total of the part with the most loss": func(f filter.Filter, n int, spread int64) tracker {
			totals := make([]filter.Total, n)
			return func(i int, e privacy.Event) filter.Total {
				totals[i] = totals[i].Add(must(f.Charge([]privacy.Event{e}, privacy.Delta{})))
				var most filter.Total
				for _, s := range totals {
					if s.Loss.Cmp(most.Loss) > 0 {
						most = s
					}
				}
				return most.Times(spread)
			}
		},
		"increases in ε instead of the measure": func(f filter.Filter, n int, spread int64) tracker {
			epsilons := make([]privacy.Epsilon, n)
			var most privacy.Epsilon
			var paid filter.Total
			return func(i int, e privacy.Event) filter.Total {
				eps, delta := epsilonOf(e)
				epsilons[i] = epsilons[i].Add(eps)
				if epsilons[i].Cmp(most) > 0 {
					increase := must(privacy.NewEpsilon(epsilons[i].Rat().Sub(epsilons[i].Rat(), most.Rat())))
					most = epsilons[i]
					paid = paid.Add(must(f.Charge([]privacy.Event{privacy.Pure{Epsilon: increase}}, delta)).Times(spread))
				}
				if delta.Sign() > 0 {
					paid = paid.Add(must(f.Charge([]privacy.Event{privacy.Approx{Delta: delta}}, delta)).Times(spread))
				}
				return paid
			}
		},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			caught := false
			// -short draws 20 times, which is too few: as often as it takes, up to 2,000 draws.
			for i := 0; i < 100 && !caught; i++ {
				rapid.Check(t, func(t *rapid.T) {
					caught = caught || errors.Is(compare(t, budgets[3], fault), errUnder)
				})
			}
			if !caught {
				t.Error("it was not noticed")
			}
		})
	}
}

func epsilonOf(e privacy.Event) (privacy.Epsilon, privacy.Delta) {
	switch e := e.(type) {
	case privacy.Pure:
		return e.Epsilon, privacy.Delta{}
	case privacy.Approx:
		return e.Epsilon, e.Delta
	}
	panic("another event")
}

func TestPartitionInParts(t *testing.T) {
	root := memory(t)
	ps := must(Partition(root, PartitionOptions{Names: []string{"Oslo", "Rome"}, Spread: 1}))
	for i, c := range []struct {
		part               int
		epsilon, root, has string
	}{
		{0, "0.5", "0.5", "0.5"}, // Oslo 0.5
		{1, "0.25", "0.5", "0.75"},
		{1, "0.75", "1", "0"}, // Rome 1
	} {
		if err := spend(ps[c.part], pure(c.epsilon)); err != nil {
			t.Fatal(err)
		}
		if got := spent(root); got != "epsilon "+c.root {
			t.Errorf("%d: the root has spent %s", i, got)
		}
		if got := left(ps[c.part]); got != "epsilon "+c.has {
			t.Errorf("%d: %s is left to %s", i, got, ps[c.part].Name())
		}
	}
	if got := left(ps[0]); got != "epsilon 0.5" {
		t.Errorf("%s is left to Oslo, for which Rome has paid", got)
	}
	err := spend(ps[0], pure("0.75"))
	const want = `budget "root/Oslo": the privacy budget does not suffice: budget "root" was asked for epsilon 0.25 and has epsilon 0 left`
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	if err := spend(ps[0], pure("0.5")); err != nil {
		t.Errorf("a refused request changed something: %v", err)
	}
}

// With a unit in two parts the parent pays twice the most.
func TestPartitionWithSpread(t *testing.T) {
	root := memory(t)
	ps := must(Partition(root, PartitionOptions{Names: []string{"a", "b", "c"}, Spread: 2}))
	if err := errors.Join(spend(ps[0], pure("0.3")), spend(ps[1], pure("0.1"))); err != nil {
		t.Fatal(err)
	}
	if spent(root) != "epsilon 0.6" || left(ps[0]) != "epsilon 0.2" || left(ps[1]) != "epsilon 0.4" {
		t.Errorf("spent %s, left %s and %s", spent(root), left(ps[0]), left(ps[1]))
	}
	if err := spend(ps[1], pure("0.4")); err != nil {
		t.Errorf("what is left is refused: %v", err)
	}
}

func TestQuota(t *testing.T) {
	root := memory(t)
	alice := must(NewQuota(root, "alice", filter.Budget{Measure: filter.Pure, Epsilon: eps("0.6")}))
	bob := must(NewQuota(root, "bob", filter.Budget{Measure: filter.Pure, Epsilon: eps("0.6")}))
	if err := spend(alice, pure("0.7")); err == nil || !strings.Contains(err.Error(), `budget "alice" was asked for epsilon 0.7 and has epsilon 0.6 left`) {
		t.Errorf("a quota admits more than its cap: %v", err)
	}
	if err := errors.Join(spend(alice, pure("0.6")), spend(bob, pure("0.3"))); err != nil {
		t.Fatal(err)
	}
	inner := must(Partition(bob, PartitionOptions{Names: []string{"a"}, Spread: 1}))
	if must(Root(inner[0])) != root || must(Root(root)) != root {
		t.Error("the root is another")
	}
	if got := left(bob); got != "epsilon 0.1" {
		t.Errorf("%s is left to bob, whose root has 0.1", got)
	}
	const want = `budget "bob": the privacy budget does not suffice: budget "root" was asked for epsilon 0.2 and has epsilon 0.1 left`
	if err := spend(bob, pure("0.2")); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	if err := spend(bob, pure("0.1")); err != nil {
		t.Errorf("a refused request changed the quota: %v", err)
	}
}

// One charge of two budgets, of which the second refuses, leaves the first alone; so
// with two parts of one partition.
func TestAllOrNothing(t *testing.T) {
	ctx := context.Background()
	a, b := memory(t), memory(t)
	ps := must(Partition(a, PartitionOptions{Names: []string{"x", "y"}, Spread: 1}))
	half, whole := Release{Events: []privacy.Event{pure("0.5")}}, Release{Events: []privacy.Event{pure("1.5")}}
	if _, err := ReserveAll(ctx, []Charge{{a, half}, {ps[0], half}, {b, whole}}); !errors.Is(err, ErrExceeded) {
		t.Fatal(err)
	}
	if spent(a) != "epsilon 0" || left(ps[0]) != "epsilon 1" {
		t.Errorf("a refusal cost %s and left %s", spent(a), left(ps[0]))
	}
	if _, err := ReserveAll(ctx, []Charge{{ps[0], half}, {ps[1], half}, {b, half}}); err != nil {
		t.Fatal(err)
	}
	if spent(a) != "epsilon 0.5" || spent(b) != "epsilon 0.5" {
		t.Errorf("spent %s and %s", spent(a), spent(b))
	}
}

// Many goroutines charge budgets with common and with different roots, in any order of
// locks. What was admitted is what was spent, and never more than there is.
func TestConcurrentCharges(t *testing.T) {
	ctx := context.Background()
	a, b := memory(t), memory(t)
	ps := must(Partition(a, PartitionOptions{Names: []string{"x", "y"}, Spread: 2}))
	q := must(NewQuota(b, "quota", filter.Budget{Measure: filter.Pure, Epsilon: eps("0.5")}))
	r := Release{Events: []privacy.Event{pure("0.01")}}
	all := [][]Charge{
		{{a, r}, {b, r}}, {{b, r}, {a, r}}, {{ps[0], r}, {q, r}}, {{q, r}, {ps[1], r}}, {{ps[0], r}}, {{q, r}}, {{b, r}},
	}
	var mu sync.Mutex
	admitted := make([]int, len(all))
	var wait sync.WaitGroup
	for i := range all {
		for range 40 {
			wait.Go(func() {
				_, err := ReserveAll(ctx, all[i])
				if err != nil && !errors.Is(err, ErrExceeded) {
					t.Error(err)
				}
				if err == nil {
					mu.Lock()
					admitted[i]++
					mu.Unlock()
				}
			})
		}
	}
	wait.Wait()
	n := admitted
	x, y := n[2]+n[4], n[3]
	wantA := n[0] + n[1] + 2*max(x, y)
	wantB, wantQ := n[0]+n[1]+n[2]+n[3]+n[5]+n[6], n[2]+n[3]+n[5]
	hundredths := func(n int) string { return eps(fmt.Sprintf("%d/100", n)).String() }
	if got := spent(a); got != "epsilon "+hundredths(wantA) || wantA > 100 {
		t.Errorf("%d hundredths admitted, spent %s", wantA, got)
	}
	if got := spent(b); got != "epsilon "+hundredths(wantB) || wantB > 100 {
		t.Errorf("%d hundredths admitted, spent %s", wantB, got)
	}
	if wantQ > 50 {
		t.Errorf("the quota of 50 hundredths admitted %d", wantQ)
	}
}

func TestSpend(t *testing.T) {
	ctx := context.Background()
	m := memory(t)
	r := Release{Events: []privacy.Event{pure("0.5")}}
	if got, err := Spend(ctx, m, r, func() (int, error) { return 42, nil }); got != 42 || err != nil {
		t.Fatal(got, err)
	}
	broken := errors.New("broken")
	if got, err := Spend(ctx, m, r, func() (int, error) { return 42, broken }); got != 0 || !errors.Is(err, broken) {
		t.Errorf("a failed answer is %d, %v", got, err)
	}
	if got := left(m); got != "epsilon 0" {
		t.Errorf("a failed answer gave back %s", got)
	}
	if _, err := Spend(ctx, m, r, func() (int, error) { t.Error("computed without a charge"); return 0, nil }); !errors.Is(err, ErrExceeded) {
		t.Error(err)
	}
}
