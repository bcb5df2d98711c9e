package datanode

import (
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// threshold predicts 1 above the mean of the rows labelled 1 and of the others.
type threshold struct{ at float64 }

func (m *threshold) Train(rows [][]float64, labels []float64) error {
	var sum [2]float64
	var n [2]float64
	for i, l := range labels {
		sum[int(l)] += rows[i][0]
		n[int(l)]++
	}
	m.at = (sum[0]/n[0] + sum[1]/n[1]) / 2
	return nil
}

func (m *threshold) Predict(row []float64) float64 {
	if row[0] > m.at {
		return 1
	}
	return 0
}

func (m *threshold) Params() []float64 { return []float64{m.at} }

func (m *threshold) SetParams(p []float64) error {
	if len(p) != 1 {
		return errors.New("one parameter")
	}
	m.at = p[0]
	return nil
}

// modelNode has rows 0..99 labelled 1 from 50 on, for training and for testing.
func modelNode(t *testing.T) *Node {
	t.Helper()
	node := testNode(t, privacy.ReplaceOne)
	var rows [][]float64
	var labels []float64
	for i := range 100 {
		rows = append(rows, []float64{float64(i)})
		labels = append(labels, float64(i/50))
	}
	for _, name := range []string{"train", "test"} {
		if err := node.Set(name, must(Labeled(rows, labels))); err != nil {
			t.Fatal(err)
		}
	}
	if err := node.SetModel(new(threshold)); err != nil {
		t.Fatal(err)
	}
	return node
}

// A trained model tells nothing until its parameters were let out.
func TestModel(t *testing.T) {
	node := modelNode(t)
	if _, err := node.Predict([]float64{1}); err != nil {
		t.Error("the parameters are public before training:", err)
	}
	if err := node.Train("train"); err != nil {
		t.Fatal(err)
	}
	study := memory("study", filter.Budget{Measure: filter.Pure, Epsilon: eps("1000"), Neighbours: privacy.ReplaceOne})
	for _, name := range []string{ParamsName, "test"} {
		if _, err := node.Query(ctx, name); !errors.Is(err, ErrNoAccess) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := node.Predict([]float64{1}); !errors.Is(err, ErrNoAccess) {
		t.Error(err)
	}
	mean := Laplace{Mean{"", 0, 1}, eps("300")}
	if err := node.Configure(ctx, "test", Adaptive{Budget: study}); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Evaluate(ctx, "test", Accuracy, mean); !errors.Is(err, ErrNoAccess) {
		t.Error(err)
	}
	if err := node.ConfigureParams(ctx, Adaptive{Budget: study, Mechanism: Laplace{Identity{"", 0, 100}, eps("600")}}); err != nil {
		t.Fatal(err)
	}
	a, err := node.QueryParams(ctx)
	if err != nil || math.Abs(a.Value()-49.5) > 10 { // noise of scale 1/6 is beyond 10 with e^-60
		t.Fatalf("%v, %v", a, err)
	}
	if err := node.SetParams(a.Values); err != nil {
		t.Fatal(err)
	}
	if l, err := node.Predict([]float64{90}); err != nil || l != 1 {
		t.Errorf("%v, %v", l, err)
	}
	a, err = node.Evaluate(ctx, "test", Accuracy, mean)
	if err != nil || a.Value() < 0.8 {
		t.Errorf("%v, %v", a, err)
	}
	if left := must(study.Left(ctx)).Epsilon.String(); left != "100" {
		t.Errorf("left: %v", left)
	}
	if _, err := node.Evaluate(ctx, "test", Accuracy, mean); !errors.Is(err, ErrBudgetExceeded) {
		t.Error(err)
	}
	// Evaluation asks about scores, not about the rows.
	if _, err := node.Evaluate(ctx, "test", Accuracy, Laplace{Sum{"0", 0, 1}, eps("1")}); !errors.Is(err, ErrQuery) {
		t.Error(err)
	}
	if _, err := node.Evaluate(ctx, "x", Accuracy, nil); !errors.Is(err, ErrNoAccess) {
		t.Error(err)
	}
	if err := node.Train("test"); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Predict([]float64{1}); !errors.Is(err, ErrNoAccess) {
		t.Error("trained again, and public:", err)
	}
}

// What a model does shows in scores between 0 and 1 only.
type wild struct{ threshold }

func (wild) Predict(row []float64) float64 {
	switch int(row[0]) % 4 {
	case 0:
		if int(row[0])%8 == 4 {
			runtime.Goexit() // as t.FailNow does
		}
		panic("4711")
	case 1:
		return math.NaN()
	}
	return math.Inf(1)
}

func (wild) Train([][]float64, []float64) error { return errors.New("4711") }
func (wild) SetParams([]float64) error          { return errors.New("4711") }

func TestWildModel(t *testing.T) {
	node := modelNode(t)
	if err := node.SetModel(&wild{}); err != nil {
		t.Fatal(err)
	}
	b := memory("study", filter.Budget{Measure: filter.Pure, Epsilon: eps("2e5"), Neighbours: privacy.ReplaceOne})
	if err := node.Configure(ctx, "test", Adaptive{Budget: b}); err != nil {
		t.Fatal(err)
	}
	identity := func(predicted, _ float64) float64 { return predicted }
	a, err := node.Evaluate(ctx, "test", identity, loud(Sum{"", 0, 1}))
	if err != nil || math.Abs(a.Value()-50) > 0.1 {
		t.Errorf("%v, %v", a, err)
	}
	if _, err := node.Predict([]float64{0}); !errors.Is(err, errModel) {
		t.Error(err)
	}
	if err := node.Train("train"); !errors.Is(err, errModel) || !noDigits(err) {
		t.Error(err)
	}
	if err := node.SetParams([]float64{1}); !errors.Is(err, errModel) || !noDigits(err) {
		t.Error(err)
	}
	if err := node.Train("nothing"); err == nil {
		t.Error("trained on nothing")
	}
	if err := node.Train("x"); !errors.Is(err, ErrQuery) {
		t.Error(err)
	}
	for _, err := range []error{node.SetModel(nil), node.SetParams(nil), testNode(t, privacy.AddRemove).SetParams(nil)} {
		if err == nil {
			t.Error("accepted")
		}
	}
}

func noDigits(err error) bool {
	for _, c := range err.Error() {
		if c >= '0' && c <= '9' {
			return false
		}
	}
	return true
}

// A transformation works on each row by itself, and changes no budget.
func TestTransform(t *testing.T) {
	node := testNode(t, privacy.AddRemove)
	b := pureBudget("study", "1e6")
	if err := node.Configure(ctx, "x", Adaptive{Budget: b}); err != nil {
		t.Fatal(err)
	}
	normalize := func(row []float64) []float64 {
		if row[0] == 3 {
			runtime.Goexit()
		}
		return []float64{(row[0] - 2) / 10, 1}
	}
	if err := node.Transform("x", 2, normalize); err != nil {
		t.Fatal(err)
	}
	for q, want := range map[Query]float64{Sum{"0", -1, 1}: 0.1, Sum{"1", 0, 1}: 3, Count{}: 4} {
		if a, err := node.QueryWith(ctx, "x", loud(q)); err != nil || math.Abs(a.Value()-want) > 0.01 {
			t.Errorf("%v: %v, %v", q, a, err)
		}
	}
	var bound budget.Budget = b
	if node.entries["x"].budget != bound {
		t.Error("the budget is another")
	}
	for _, err := range []error{node.Transform("y", 1, normalize), node.Transform("x", 0, normalize), node.Transform("x", 1, nil)} {
		if err == nil {
			t.Error("accepted")
		}
	}
	if err := node.Set("none", Vector(nil)); err != nil || node.Transform("none", 3, normalize) != nil || len(node.entries["none"].data.held().frame.columns) != 3 {
		t.Error("columns of no rows")
	}
}
