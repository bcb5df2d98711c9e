package datanode

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/big"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/budget/durable"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/noise"
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

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

func clock() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

var decided = Decision{By: "the owner", Why: "a test"}

// testNode has the numbers 1 to 4 at "x" and no access definition.
func testNode(t testing.TB, n privacy.Neighbours) *Node {
	t.Helper()
	node, err := New(noise.System(), Options{Name: "clinic", Neighbours: n, Log: NewMemoryLog(), Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Set("x", Vector([]float64{1, 2, 3, 4})); err != nil {
		t.Fatal(err)
	}
	return node
}

func memory(name string, b filter.Budget) *budget.InMemory { return must(budget.NewInMemory(name, b)) }

func pureBudget(name, e string) *budget.InMemory {
	return memory(name, filter.Budget{Measure: filter.Pure, Epsilon: eps(e)})
}

// loud is a mechanism whose noise is small: its value is nearly the query's.
func loud(q Query) Mechanism { return Laplace{q, eps("100000")} }

var ctx = context.Background()

func TestAccessIsRefusedUntilItIsConfigured(t *testing.T) {
	node := testNode(t, privacy.AddRemove)
	_, missing := node.Query(ctx, "nothing")
	_, refused := node.Query(ctx, "x")
	for _, err := range []error{missing, refused} {
		if !errors.Is(err, ErrNoAccess) {
			t.Error(err)
		}
	}
	// Whether there are data is not said.
	if a, b := missing.Error(), refused.Error(); strings.ReplaceAll(a, "nothing", "x") != b {
		t.Errorf("%q and %q", a, b)
	}
	if _, err := node.QueryWith(ctx, "x", loud(Count{})); !errors.Is(err, ErrNoAccess) {
		t.Error(err)
	}
	if err := node.Configure(ctx, "x", loud(Count{})); err != nil {
		t.Fatal(err)
	}
	if a, err := node.Query(ctx, "x"); err != nil || a.Value() != 4 {
		t.Errorf("%v, %v", a, err)
	}
	// The mechanism is the owner's choice.
	if _, err := node.QueryWith(ctx, "x", loud(Sum{"", 0, 9})); !errors.Is(err, ErrNoAccess) {
		t.Error(err)
	}
	if err := node.Configure(ctx, "x", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Query(ctx, "x"); !errors.Is(err, ErrNoAccess) {
		t.Error(err)
	}
}

func TestNothingPrintsPrivateData(t *testing.T) {
	const number, text = 47110815.25, "quite secret" // no address looks like these
	d := Vector([]float64{number})
	column := Texts("c", []string{text})
	shown := func(s string) bool {
		for _, secret := range []string{text, fmt.Sprintf("%x", text), "711081525", "47110815", "1.676d4fa"} {
			if strings.Contains(s, secret) {
				return true
			}
		}
		return false
	}
	node := testNode(t, privacy.AddRemove)
	if err := node.Set("s", d); err != nil {
		t.Fatal(err)
	}
	type inside struct{ data any }
	type hidden struct { // fmt asks no method of unexported fields
		d Data
		c Column
		n *Node
		m Node
		r Rows
	}
	rows := rowsOf(&d.held().frame)
	for _, v := range []any{d, &d, column, &column, node, *node, rows, &rows, []Data{d}, map[string]Data{"d": d},
		inside{d}, &inside{d}, hidden{d, column, node, *node, rows}, &hidden{d, column, node, *node, rows}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%g", "%T"} {
			if text := fmt.Sprintf(verb, v); shown(text) {
				t.Errorf("%s of %T prints %s", verb, v, text)
			}
		}
		if text, err := json.Marshal(v); shown(string(text)) {
			t.Errorf("JSON of %T is %s, %v", v, text, err)
		}
		var b bytes.Buffer
		_ = gob.NewEncoder(&b).Encode(v)
		slog.New(slog.NewTextHandler(&b, nil)).Info("is", "v", v)
		slog.New(slog.NewJSONHandler(&b, nil)).Info("is", "v", v)
		if shown(b.String()) {
			t.Errorf("%T is encoded or logged as %s", v, b.String())
		}
	}
	for _, v := range []any{d, column, node, rows} {
		if text := fmt.Sprintf("%#v", v); text != redacted {
			t.Errorf("%s", text)
		}
		if _, err := json.Marshal(v); !errors.Is(err, errWithheld) {
			t.Errorf("%T: %v", v, err)
		}
	}
	// The test sees what is not withheld.
	for _, verb := range []string{"%v", "%x", "%f"} {
		if !shown(fmt.Sprintf(verb, struct{ f frame }{d.held().frame})) {
			t.Error("a frame without its wall is not printed")
		}
	}
}

// The caller's slices are not the node's.
func TestDataAreCopies(t *testing.T) {
	x, names := []float64{1, 2}, []string{"a", "b"}
	d := must(Table(Numbers("x", x), Texts("t", names)))
	x[0], names[0] = 100, "z"
	if f := d.held().frame; f.columns[0].numbers[0] != 1 || f.columns[1].texts[0] != "a" {
		t.Error("the data changed")
	}
}

// Asked again, a mechanism without a budget gives the same answer, whatever was
// configured in between.
func TestMechanismAnswersOnce(t *testing.T) {
	node := testNode(t, privacy.AddRemove)
	noisy := Laplace{Sum{"", 0, 1000}, eps("0.001")}
	other := Laplace{Sum{"", 0, 1000}, eps("0.002")}
	var first float64
	for i, m := range []Mechanism{noisy, noisy, other, noisy} {
		if err := node.Configure(ctx, "x", m); err != nil {
			t.Fatal(err)
		}
		a, err := node.Query(ctx, "x")
		if err != nil {
			t.Fatal(err)
		}
		// Two draws on a grid of 2^-30 coincide with probability below 1e-12.
		if i == 0 {
			first = a.Value()
		} else if (a.Value() == first) != (m.String() == noisy.String()) {
			t.Errorf("answer %d is %v, the first %v", i, a.Value(), first)
		}
	}
	must(node.Query(ctx, "x")).Values[0]++ // is nobody else's answer
	if a := must(node.Query(ctx, "x")); a.Value() != first {
		t.Error("one asker changed another's answer")
	}
	if err := node.Configure(ctx, "x", Unmetered{decided, noisy}); err != nil {
		t.Fatal(err)
	}
	if a := must(node.Query(ctx, "x")); a.Value() == first {
		t.Error("an unmetered answer is an old one")
	}
}

// What is remembered is an answer about data, by a mechanism: not by its text, which two
// functions of one name share, and not about data that are no longer there. However it is
// changed, a budget that comes pays for all answers that left.
func TestAnswersAreOfTheirDataAndMechanism(t *testing.T) {
	noisy := Laplace{Sum{"", 0, 1000}, eps("0.1")}
	for name, change := range map[string]struct {
		f     func(*testing.T, *Node)
		again bool // the answer is the first one
	}{
		"nothing":             {func(*testing.T, *Node) {}, true},
		"access, to the same": {func(t *testing.T, n *Node) { configure(t, n, Laplace{Sum{"", 0, 1000}, eps("0.1")}) }, true},
		"access, and back": {func(t *testing.T, n *Node) {
			configure(t, n, nil)
			configure(t, n, noisy)
		}, true},
		"other data": {func(t *testing.T, n *Node) {
			if err := n.Set("x", Vector([]float64{5, 6})); err != nil {
				t.Fatal(err)
			}
		}, false},
		"transformed data": {func(t *testing.T, n *Node) {
			if err := n.Transform("x", 1, func(row []float64) []float64 { return row }); err != nil {
				t.Fatal(err)
			}
		}, false},
		"another range": {func(t *testing.T, n *Node) { configure(t, n, Laplace{Sum{"", 0, 2000}, eps("0.1")}) }, false},
	} {
		node := testNode(t, privacy.AddRemove)
		configure(t, node, noisy)
		first := must(node.Query(ctx, "x"))
		change.f(t, node)
		// Two draws on a grid of 2^-30 coincide with probability below 1e-12.
		second := must(node.Query(ctx, "x"))
		if (first.Value() == second.Value()) != change.again {
			t.Errorf("%s changed: %v after %v", name, second.Value(), first.Value())
		}
		if third := must(node.Query(ctx, "x")); third.Value() != second.Value() {
			t.Errorf("%s changed: asked again, it answers anew", name)
		}
		b := pureBudget("study", "1")
		configure(t, node, Adaptive{Budget: b})
		want := "0.8"
		if change.again {
			want = "0.9"
		}
		if left := must(b.Left(ctx)); left.Epsilon.String() != want {
			t.Errorf("%s changed: a budget that comes has %v left, want %s", name, left.Epsilon, want)
		}
	}
}

// Two functions of one name are two mechanisms; one that was configured is one, however
// often it is asked.
func TestFunctionsAreNotTheirNames(t *testing.T) {
	constant := func(x float64) Mechanism {
		return Laplace{Function{Values: 1, F: func(Rows) []float64 { return []float64{x} },
			Sensitivity: Vouched{Of: "mean", L1: rat("1e-6"), Decision: decided}}, eps("1")}
	}
	node := testNode(t, privacy.AddRemove)
	for _, x := range []float64{1, 2} {
		configure(t, node, constant(x))
		a := must(node.Query(ctx, "x"))
		if b := must(node.Query(ctx, "x")); a.Value() != b.Value() || math.Abs(a.Value()-x) > 0.1 { // but for e^-10^5
			t.Errorf("the function that is %v is %v, then %v", x, a.Value(), b.Value())
		}
	}
}

func configure(t *testing.T, n *Node, a Access) {
	t.Helper()
	if err := n.Configure(ctx, "x", a); err != nil {
		t.Fatal(err)
	}
}

func TestAdaptive(t *testing.T) {
	node := testNode(t, privacy.AddRemove)
	b := pureBudget("study", "1")
	if err := node.Configure(ctx, "x", Adaptive{}); err == nil {
		t.Error("adaptive without a budget")
	}
	if err := node.Configure(ctx, "x", Adaptive{Budget: b}); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Query(ctx, "x"); !errors.Is(err, ErrNoAccess) {
		t.Error(err)
	}
	sum := Laplace{Sum{"", 0, 9}, eps("0.4")}
	first, second := must(node.QueryWith(ctx, "x", sum)), must(node.QueryWith(ctx, "x", sum))
	if first.Value() == second.Value() {
		t.Error("an answer that was paid for is an old one")
	}
	_, err := node.QueryWith(ctx, "x", sum)
	var exceeded *budget.ExceededError
	if !errors.Is(err, ErrBudgetExceeded) || !errors.As(err, &exceeded) || exceeded.Budget != "study" {
		t.Fatal(err)
	}
	if exceeded.Asked.Epsilon.String() != "0.4" || exceeded.Left.Epsilon.String() != "0.2" || !strings.Contains(err.Error(), `"study"`) {
		t.Error(err)
	}
	// Refused for other reasons, nothing is charged.
	for _, m := range []Mechanism{
		Laplace{Sum{"", 9, 0}, eps("0.1")}, Laplace{Sum{"y", 0, 9}, eps("0.1")}, Laplace{Sum{"", 0, 9}, eps("0")}, Laplace{nil, eps("0.1")},
		Gaussian{Count{}, rho("0.1"), del("1e-9")}, Gaussian{Query: Count{}}, Laplace{Identity{"", 0, 9}, eps("0.1")},
		Declared{Answer: func(noise.Bits, Rows) ([]float64, error) { return nil, nil }, Vouched: Vouched{Of: "m", Decision: decided}},
	} {
		if _, err := node.QueryWith(ctx, "x", m); err == nil || errors.Is(err, ErrBudgetExceeded) {
			t.Errorf("%v: %v", m, err)
		}
	}
	if left := must(b.Left(ctx)); left.Epsilon.String() != "0.2" {
		t.Errorf("left: %v", left)
	}
	if _, err := node.QueryWith(ctx, "x", Laplace{Count{}, eps("0.2")}); err != nil {
		t.Error(err)
	}
}

// What was spent is spent, whatever is configured.
func TestReconfiguringResetsNothing(t *testing.T) {
	node := testNode(t, privacy.AddRemove)
	study, fresh := pureBudget("study", "1"), pureBudget("fresh", "1")
	count := Laplace{Count{}, eps("0.6")}
	steps := []struct {
		access Access
		want   error
	}{
		{Adaptive{Budget: study}, nil},
		{Adaptive{Budget: fresh}, ErrBound},
		{Adaptive{Budget: study}, nil},
		{nil, nil},
		{Adaptive{Budget: fresh, Mechanism: count}, ErrBound},
		{Adaptive{Mechanism: count}, nil},
		{Unprotected{decided}, nil},
		{Adaptive{}, nil},
	}
	for i, step := range steps {
		if err := node.Configure(ctx, "x", step.access); !errors.Is(err, step.want) {
			t.Errorf("step %d: %v", i, err)
		}
		if err := node.Set("x", Vector([]float64{5, 6})); err != nil { // nor does setting data
			t.Error(err)
		}
		if i == 0 {
			if _, err := node.QueryWith(ctx, "x", count); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := node.QueryWith(ctx, "x", count); !errors.Is(err, ErrBudgetExceeded) {
		t.Error(err)
	}
	// A mechanism by itself pays from the name's budget as well.
	if err := node.Configure(ctx, "x", count); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Query(ctx, "x"); !errors.Is(err, ErrBudgetExceeded) {
		t.Error(err)
	}
}

// A budget that comes later pays for what was answered before.
func TestBudgetPaysForEarlierAnswers(t *testing.T) {
	once := Laplace{Count{}, eps("0.6")}
	answered := func() *Node {
		node := testNode(t, privacy.AddRemove)
		if err := node.Configure(ctx, "x", once); err != nil {
			t.Fatal(err)
		}
		must(node.Query(ctx, "x"))
		return node
	}
	node, b := answered(), pureBudget("study", "1")
	if err := node.Configure(ctx, "x", Adaptive{Budget: b}); err != nil {
		t.Fatal(err)
	}
	if left := must(b.Left(ctx)); left.Epsilon.String() != "0.4" {
		t.Errorf("left: %v", left)
	}
	if err := node.Configure(ctx, "x", Adaptive{Budget: b}); err != nil || must(b.Left(ctx)).Epsilon.String() != "0.4" {
		t.Errorf("paid twice: %v", err)
	}
	if err := answered().Configure(ctx, "x", Adaptive{Budget: pureBudget("small", "0.5")}); !errors.Is(err, ErrBudgetExceeded) {
		t.Error(err)
	}
	replaced := memory("replaced", filter.Budget{Measure: filter.Pure, Epsilon: eps("9"), Neighbours: privacy.ReplaceOne})
	if err := answered().Configure(ctx, "x", Adaptive{Budget: replaced}); !errors.Is(err, ErrBound) {
		t.Error(err)
	}
}

// Every measure's budget decides by its own filter.
func TestFiltersOfEveryMeasure(t *testing.T) {
	for _, b := range []filter.Budget{
		{Measure: filter.Pure, Epsilon: eps("1")},
		{Measure: filter.Approx, Epsilon: eps("1"), Delta: del("1e-6")},
		{Measure: filter.ZCDP, Epsilon: eps("1"), Delta: del("2e-6"), SelectionDelta: del("1e-6")},
		{Measure: filter.Whitehouse, Epsilon: eps("1"), Delta: del("2e-6"), SelectionDelta: del("1e-6")},
		{Measure: filter.RDP, Epsilon: eps("1"), Delta: del("2e-6"), SelectionDelta: del("1e-6")},
		{Measure: filter.GDP, Epsilon: eps("1"), Delta: del("2e-6"), SelectionDelta: del("1e-6")},
	} {
		node := testNode(t, privacy.AddRemove)
		m := memory(string(b.Measure), b)
		if err := node.Configure(ctx, "x", Adaptive{Budget: m, Mechanism: Laplace{Count{}, eps("0.05")}}); err != nil {
			t.Fatal(err)
		}
		admitted := int64(0)
		for ; ; admitted++ {
			if _, err := node.Query(ctx, "x"); errors.Is(err, ErrBudgetExceeded) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", b.Measure, err)
			}
		}
		asked, total := must(m.Filter().Charge([]privacy.Event{privacy.Pure{Epsilon: eps("0.05")}}, privacy.Delta{})), filter.Total{}
		want := int64(-1)
		for ; total.Within(m.Filter().Budget()); want++ {
			total = total.Add(asked)
		}
		if admitted != want {
			t.Errorf("%s admits %d, its filter %d", b.Measure, admitted, want)
		}
	}
}

// A ledger remembers what another node, another process, has spent.
func TestSpendingIsDurable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.db")
	domain := ledger.DomainBudget{ID: "patient", Measure: filter.Pure, Epsilon: eps("1")}
	l := must(ledger.Create(ctx, path, ledger.Options{Domains: []ledger.DomainBudget{domain}, Now: clock()}))
	for i := range 3 {
		node := testNode(t, privacy.AddRemove)
		b := must(durable.New(ctx, l, durable.Options{Domain: "patient", Now: clock}))
		if err := node.Configure(ctx, "x", Adaptive{Budget: b, Mechanism: Laplace{Count{}, eps("0.5")}}); err != nil {
			t.Fatal(err)
		}
		if _, err := node.Query(ctx, "x"); errors.Is(err, ErrBudgetExceeded) != (i == 2) {
			t.Errorf("node %d: %v", i, err)
		} else if i == 2 && (!errors.Is(err, ledger.ErrExhausted) || !strings.Contains(err.Error(), "patient")) {
			t.Error(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = must(ledger.Open(ctx, path, ledger.Options{Domains: []ledger.DomainBudget{domain}, Now: clock()}))
	}
	defer l.Close()
	var seen int
	for _, e := range must(l.History(ctx)) {
		if e.Kind == "reserve" && e.Statement == "x: laplace(epsilon=0.5) of count()" && e.Committed {
			seen++
		}
	}
	if seen != 2 {
		t.Errorf("the ledger has %d answers", seen)
	}
}

func TestUnprotectedAccessIsDecidedAndRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "acts")
	log := must(OpenLog(path))
	node := must(New(noise.System(), Options{Name: "clinic", Log: log, Now: clock}))
	if err := node.Set("t", must(Table(Numbers("n", []float64{1, 2}), Texts("s", []string{"a", "b"})))); err != nil {
		t.Fatal(err)
	}
	for _, d := range []Decision{{}, {By: "me"}, {Why: "so"}} {
		if err := node.Configure(ctx, "t", Unprotected{d}); !errors.Is(err, ErrUndecided) {
			t.Error(err)
		}
		if err := node.Configure(ctx, "t", Unmetered{d, loud(Count{})}); !errors.Is(err, ErrUndecided) {
			t.Error(err)
		}
	}
	if err := node.Configure(ctx, "t", Unprotected{Decision{"the owner", "they are public since May"}}); err != nil {
		t.Fatal(err)
	}
	if a := must(node.Query(ctx, "t")); fmt.Sprint(a.Values, a.Texts, a.Labels) != "[1 2] [a b] [n s]" {
		t.Errorf("%+v", a)
	}
	if err := node.Configure(ctx, "t", Unmetered{decided, loud(Count{})}); err != nil {
		t.Fatal(err)
	}
	must(node.Query(ctx, "t"))
	// The history is on disk, also behind a torn line.
	if _, err := log.file.WriteString(`{"time":"20`); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	// What cannot be recorded does not leave.
	if _, err := node.Query(ctx, "t"); err == nil {
		t.Error("an answer left without its record")
	}
	if err := node.Configure(ctx, "t", Unprotected{decided}); err == nil {
		t.Error("a decision without its record")
	}
	again := must(OpenLog(path))
	defer again.Close()
	if err := again.Append(ctx, Act{Kind: "last"}); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, a := range must(again.Acts(ctx)) {
		kinds = append(kinds, a.Kind)
		if a.Kind == "unprotected" && (a.By != "the owner" || a.Why != "they are public since May" || a.Name != "t" || a.Node != "clinic" || !a.Time.Equal(clock())) {
			t.Errorf("%+v", a)
		}
	}
	if got := strings.Join(kinds, " "); got != "access unprotected access unmetered last" {
		t.Error(got)
	}
}

// A node is used by many at once: the budget is never exceeded, one answer is given
// once, and two budgets never bind one name.
func TestConcurrentUse(t *testing.T) {
	node := testNode(t, privacy.AddRemove)
	if err := node.Set("y", Vector([]float64{1})); err != nil {
		t.Fatal(err)
	}
	once := Laplace{Sum{"", 0, 1000}, eps("0.001")}
	if err := node.Configure(ctx, "y", once); err != nil {
		t.Fatal(err)
	}
	budgets := []*budget.InMemory{pureBudget("a", "1"), pureBudget("b", "1")}
	var wg sync.WaitGroup
	var mu sync.Mutex
	given, admitted := map[float64]bool{}, 0
	for i := range 8 {
		wg.Go(func() {
			_ = node.Configure(ctx, "x", Adaptive{Budget: budgets[i%2]})
			for range 20 {
				_, err := node.QueryWith(ctx, "x", Laplace{Count{}, eps("0.1")})
				a, failure := node.Query(ctx, "y")
				mu.Lock()
				if err == nil {
					admitted++
				} else if !errors.Is(err, ErrBudgetExceeded) && !errors.Is(err, ErrNoAccess) {
					t.Error(err)
				}
				if failure != nil {
					t.Error(failure)
				}
				given[a.Value()] = true
				mu.Unlock()
				_ = node.Set("z", Number(1))
				_ = node.Names()
			}
		})
	}
	wg.Wait()
	if admitted != 10 || len(given) != 1 {
		t.Errorf("%d answers admitted, %d different ones to the same question", admitted, len(given))
	}
	left := [2]string{must(budgets[0].Left(ctx)).Epsilon.String(), must(budgets[1].Left(ctx)).Epsilon.String()}
	if left != [2]string{"0", "1"} && left != [2]string{"1", "0"} {
		t.Errorf("left: %v", left)
	}
}
