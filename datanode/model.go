package datanode

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A Model is trained and evaluated where the data are. Its methods are trusted to be
// functions of their arguments and of its parameters.
type Model interface {
	// Train changes the parameters by rows with a label each.
	Train(rows [][]float64, labels []float64) error
	// Predict returns the label of a row.
	Predict(row []float64) float64
	// Params returns a copy of the parameters, SetParams sets them. How many they are
	// is public.
	Params() []float64
	SetParams(params []float64) error
}

// ParamsName is the name under which a node's model keeps its parameters while they are
// private. They have an access definition of their own, none at first. They are one row:
// all of them depend on every row of the training data.
const ParamsName = "model parameters"

// A trainer is a node's model. Its parameters become private when it is trained on private
// data, and public when public ones are set.
type trainer struct {
	model   Model
	private bool
}

var errModel = errors.New("the model failed") // its own error may depend on private data

// SetModel gives the node a model, whose parameters are public.
func (n *Node) SetModel(m Model) error {
	if m == nil {
		return errors.New("set model: it is missing")
	}
	return n.withModel(func(t *trainer) error {
		t.model, t.private = m, false
		return nil
	})
}

// withModel runs f while nobody else uses the model.
func (n *Node) withModel(f func(*trainer) error) (err error) {
	n.training.Lock()
	defer n.training.Unlock()
	defer func() {
		if recover() != nil {
			err = errModel
		}
	}()
	return f(&n.trainer)
}

// Train trains the model on private numbers; the column "label" has the labels. The
// parameters are private from then on. This is the owner's act: nothing leaves.
func (n *Node) Train(name string) error {
	var d Data
	n.mu.Lock()
	if e := n.entries[name]; e != nil {
		d = e.data
	}
	n.mu.Unlock()
	err := n.withModel(func(t *trainer) error {
		if t.model == nil || d.held == nil {
			return errors.New("the model or the data are missing")
		}
		f := &d.held().frame
		if err := checkLabeled(f.shape(false)); err != nil {
			return err
		}
		rows, labels := f.labeled()
		t.private = true
		if t.model.Train(rows, labels) != nil {
			return errModel
		}
		params, err := Record(t.model.Params())
		if err != nil {
			return errModel
		}
		return n.Set(ParamsName, params)
	})
	if err != nil {
		return fmt.Errorf("train on %q: %w", name, err)
	}
	return nil
}

// checkLabeled refuses data that are not numbers with labels.
func checkLabeled(s shape) error {
	_, err := s.number("label")
	for _, c := range s.columns {
		if err == nil && c.text() {
			err = fmt.Errorf("%w: column %q has texts", ErrQuery, c.name)
		}
	}
	return err
}

// labeled splits rows from their labels.
func (f *frame) labeled() (rows [][]float64, labels []float64) {
	rows = make([][]float64, f.rows)
	for _, c := range f.columns {
		if c.name == "label" {
			labels = slices.Clone(c.numbers)
			continue
		}
		for r, x := range c.numbers {
			rows[r] = append(rows[r], x)
		}
	}
	return rows, labels
}

// SetParams sets the model's parameters to public ones, such as those of an answer.
func (n *Node) SetParams(params []float64) error {
	return n.withModel(func(t *trainer) error {
		if t.model == nil {
			return errors.New("set parameters: there is no model")
		}
		switch err := t.model.SetParams(slices.Clone(params)); {
		case err != nil && t.private: // the error may quote private parameters
			return fmt.Errorf("set parameters: %w", errModel)
		case err != nil:
			return fmt.Errorf("set parameters: %w", err)
		}
		t.private = false
		return nil
	})
}

// ConfigureParams sets the access definition of the parameters; see ParamsName.
func (n *Node) ConfigureParams(ctx context.Context, a Access) error {
	return n.Configure(ctx, ParamsName, a)
}

// QueryParams asks for the parameters, as their access definition allows.
func (n *Node) QueryParams(ctx context.Context) (Answer, error) { return n.Query(ctx, ParamsName) }

// Predict returns the model's prediction for a row of the asker's. It is refused while
// the parameters are private, because predictions show them: set the parameters that
// QueryParams answered first.
func (n *Node) Predict(row []float64) (label float64, err error) {
	err = n.withModel(func(t *trainer) error {
		if t.model == nil || t.private {
			return fmt.Errorf("predict: %w: no model with public parameters", ErrNoAccess)
		}
		label = t.model.Predict(slices.Clone(row))
		return nil
	})
	return label, err
}

// A Performance scores a prediction, between 0 and 1. It must be a pure function.
type Performance func(predicted, label float64) float64

// Accuracy is 1 for a right prediction and 0 for a wrong one; its mean is the share that is
// right.
func Accuracy(predicted, label float64) float64 {
	if predicted == label {
		return 1
	}
	return 0
}

// Evaluate answers a query about the model's performance on private rows with labels,
// one number a row: Mean{Lower: 0, Upper: 1} is its mean. The access definition of the
// rows decides, and must be Adaptive or Unprotected. The parameters must be public, as for
// Predict; then a row's score depends on that row alone.
func (n *Node) Evaluate(ctx context.Context, name string, p Performance, m Mechanism) (Answer, error) {
	var a Answer
	err := n.withModel(func(t *trainer) (err error) {
		if t.model == nil || t.private {
			return fmt.Errorf("%w: no model with public parameters", ErrNoAccess)
		}
		if p == nil {
			return fmt.Errorf("%w: the performance is missing", ErrQuery)
		}
		a, err = n.ask(ctx, name, m, &view{checkLabeled, func(f *frame) []float64 { return evaluate(t.model, p, f) }})
		return err
	})
	if err != nil {
		return Answer{}, fmt.Errorf("evaluate on %q: %w", name, err)
	}
	return a, nil
}

// evaluate scores each row by itself. A row on which the model fails scores 0: the failure
// must not be seen.
func evaluate(m Model, p Performance, f *frame) []float64 {
	scores := make([]float64, f.rows)
	rows, labels := f.labeled()
	for r := range rows {
		scores[r] = score(func() float64 { return p(m.Predict(rows[r]), labels[r]) })
	}
	return scores
}

func score(f func() float64) (s float64) {
	guarded(func() { s = f() })
	if math.IsNaN(s) {
		return 0
	}
	return min(max(s, 0), 1)
}

// Transform replaces each row of numbers of a name by a function of that row alone, so
// that each row is still one unit's; texts are dropped. The function must be pure. A row on
// which it panics, or returns another number of values, becomes missing numbers. This is
// the owner's act: access and budget stay, and a mechanism that answers once answers the
// new data once.
func (n *Node) Transform(name string, columns int, f func(row []float64) []float64) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.entries[name]
	if e == nil || e.data.held == nil || e.data.held().table != nil || f == nil || columns < 1 {
		return fmt.Errorf("transform %q: no rows, no function, or no columns", name)
	}
	out := make([]column, columns)
	for i := range out {
		out[i] = column{name: strconv.Itoa(i), numbers: []float64{}}
	}
	old := e.data.held().frame
	for r := range old.rows {
		var row []float64
		for _, c := range old.columns {
			if !c.text() {
				row = append(row, c.numbers[r])
			}
		}
		for i, x := range transformed(columns, f, row) {
			out[i].numbers = append(out[i].numbers, x)
		}
	}
	e.set(hold(held{frame: frame{old.rows, out}}))
	return nil
}

func transformed(columns int, apply func([]float64) []float64, row []float64) (out []float64) {
	guarded(func() { out = slices.Clone(apply(row)) })
	if len(out) != columns {
		return slices.Repeat([]float64{math.NaN()}, columns)
	}
	return out
}
