package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/budget/durable"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/learner"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/noise"
)

// modelData is what a model's file says of the examples that it takes. Nothing in it
// was learned from data.
type modelData struct {
	Source    string            `json:"source"`
	Model     string            `json:"model"`
	Classes   []string          `json:"classes,omitempty"`
	Encoding  *example.Encoding `json:"encoding,omitempty"` // of records
	Shape     []int             `json:"shape,omitempty"`    // of images
	Selection example.Selection `json:"selection"`
	Count     string            `json:"count,omitempty"` // the event of a noisy count of units, which was charged beside the run
}

// A model is a trained network, or what another learner made, and how to ask it.
type model struct {
	*learn.Model
	path    string
	net     *network.Network // nil: learned is no network
	learned learner.Model    // nil: a network by DP-SGD
	data    modelData
	blind   bool // its target is not read
}

// loadModel reads a model's file.
func loadModel(path string) (*model, error) {
	if path == "" {
		return nil, diagnostic.New("D113", diagnostic.Span{}, "nothing says which model").Try("--model-file FILE; discreet train makes one")
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a file")
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	unusable := func(err error) error {
		return diagnostic.New("D165", diagnostic.Span{}, "%s is no model that can be used: %v", path, err)
	}
	file, err := learn.ReadModel(path)
	switch {
	case errors.Is(err, learn.ErrKind) && isEnsemble(path):
		return nil, diagnostic.New("D165", diagnostic.Span{}, "%s is an ensemble of teachers, which is PRIVATE, and no model", path).
			Because("what a teacher says shows the records that it was trained on").Try("discreet label --ensemble %s releases labels, charged", path)
	case err != nil:
		return nil, unusable(errors.New(strings.TrimPrefix(err.Error(), path+": ")))
	}
	m := &model{Model: file, path: path}
	if err := json.Unmarshal(file.Encoding, &m.data); err != nil {
		return nil, unusable(errors.New("it does not say what its examples are"))
	}
	if err := m.data.check(unusable); err != nil {
		return nil, err
	}
	form := m.data.form(false)
	if file.Learner == "" {
		if m.net, err = file.Build(); err != nil {
			return nil, unusable(err)
		}
		if m.net.Fits(form.Set) != nil {
			return nil, unusable(errors.New("its examples are not what its network takes"))
		}
		return m, nil
	}
	if m.learned, err = learner.Read(file.Learner, file.Learned, form); errors.Is(err, learner.ErrKind) {
		return nil, unusable(fmt.Errorf("it is of kind %q, which this program does not read", file.Learner))
	} else if err != nil {
		return nil, unusable(err)
	}
	if n, ok := m.learned.(learner.Networked); ok {
		m.net = n.Network()
	}
	return m, nil
}

// check refuses data that does not fit together: somebody may have written it.
func (d *modelData) check(unusable func(error) error) error {
	if d.Shape != nil {
		if len(d.Shape) != 3 || slices.Min(d.Shape) < 1 || slices.Max(d.Shape) > 1<<14 || d.Shape[2] != 1 {
			return unusable(fmt.Errorf("images of shape %v", d.Shape))
		}
		return nil
	}
	if d.Encoding == nil {
		return unusable(errors.New("it does not say what its examples are"))
	}
	if err := d.Encoding.Validate(); err != nil {
		return unusable(err)
	}
	if !slices.Equal(d.Classes, d.Encoding.ClassNames()) {
		return unusable(errors.New("its classes are not those of its target"))
	}
	return nil
}

// forget reads no targets: what is to be predicted need not be known.
func (m *model) forget() { m.blind = true }

// fits refuses examples that the model cannot take.
func (m *model) fits(ctx context.Context, e *exampleFlags) error {
	wrong := func(why string) error {
		return diagnostic.New("D165", diagnostic.Span{}, "the model in %s takes no %s", m.path, why).
			Because("it was trained on %s", m.data.Source)
	}
	switch {
	case (e.images != "") != (m.data.Shape != nil):
		if e.images != "" {
			return wrong("images")
		}
		return wrong("records")
	case e.heldOut && m.data.Selection.Holdout == 0:
		return diagnostic.New("D165", diagnostic.Span{}, "training held nothing out").
			Because("the model in %s was trained without --holdout", m.path).Try("train with --holdout 0.2, or evaluate on other data")
	case m.learned != nil && m.learned.Names() != nil && !m.blind:
		return diagnostic.New("D165", diagnostic.Span{}, "the model in %s predicts nothing that could be right", m.path).
			Because("it was trained without a target").Try("discreet predict tells what it says of each record")
	case e.images != "" && e.labels == "" && !m.blind:
		return diagnostic.New("D113", diagnostic.Span{}, "images without --labels").Because("whether a prediction is right is not known")
	case e.csv != "":
		return e.unread(example.CheckCSV(ctx, e.csv, m.encoding(), e.unit))
	case e.declared == nil:
		return nil
	}
	encoding := m.encoding()
	for i, name := range encoding.Needs() {
		c, ok := e.declared.Column(name)
		if !ok {
			return e.columnRefusal(&example.ColumnError{Table: e.table, Column: name, Unknown: true})
		}
		want := encoding.Target
		if i < len(encoding.Columns) {
			want = &encoding.Columns[i]
		}
		if c.Type.String() != want.Type {
			return diagnostic.New("D165", diagnostic.Span{}, "column %q is %s, and the model was trained on %s", name, c.Type, want.Type)
		}
	}
	return nil
}

// encoding is how records are read.
func (m *model) encoding() *example.Encoding {
	e := *m.data.Encoding
	if m.blind {
		e.Target = nil
	}
	return &e
}

// read reads examples as those were read that the model was trained on; of a unit at
// most so many.
func (m *model) read(ctx context.Context, w *workplace, e *exampleFlags, perUnit int) (*example.Set, error) {
	if m.data.Shape != nil {
		set, _, err := e.readImages(ctx, example.IDXOptions{Shape: m.data.Shape[:2], Classes: len(m.data.Classes)})
		return set, err
	}
	s := example.Selection{PerUnit: perUnit}
	if e.heldOut { // by the key that decided it
		s = m.data.Selection
		s.PerUnit, s.Held = perUnit, true
	} else {
		var err error
		if s.Key, err = newKey(noise.System()); err != nil {
			return nil, err
		}
	}
	return e.read(ctx, w, m.encoding(), s)
}

// outputs asks the network about all examples.
func (m *model) outputs(ctx context.Context, t *terminal, set *example.Set) ([]float32, error) {
	const batch = 256
	n, width := set.Len(), m.scorer().scores()
	out := make([]float32, n*width)
	if m.net == nil {
		step, done := t.progress(ctx, "predicting", max(1, n))
		defer done()
		for i := range n {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			m.learned.Outputs(set.Features[i*set.Width:(i+1)*set.Width], out[i*width:(i+1)*width])
			step()
		}
		return out, nil
	}
	pass := m.net.NewPass(network.PassOptions{})
	step, done := t.progress(ctx, "predicting", max(1, (n+batch-1)/batch))
	defer done()
	rows := make([]int, 0, batch)
	for from := 0; from < n; from += batch {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rows = rows[:0]
		for i := from; i < min(n, from+batch); i++ {
			rows = append(rows, i)
		}
		if err := pass.Outputs(set, rows, out[from*width:(from+len(rows))*width]); err != nil {
			return nil, diagnostic.New("D165", diagnostic.Span{}, "the network takes other examples")
		}
		step()
	}
	return out, nil
}

func (m *model) scorer() scorer {
	s := scorer{encoding: m.data.Encoding, classes: len(m.data.Classes)}
	switch {
	case m.learned != nil && m.learned.Names() != nil:
		s.names = m.learned.Names()
	case m.net != nil:
		if s.loss = m.net.Spec().Loss; s.loss == network.Squared {
			s.classes = 0
		}
	case s.classes == 0:
		s.loss = network.Squared
	case s.classes == 2:
		s.loss = network.Logistic
	default:
		s.loss = network.CrossEntropy
	}
	return s
}

// class names a class.
func (m *model) class(i int) string {
	if i < len(m.data.Classes) {
		return m.data.Classes[i]
	}
	return fmt.Sprint(i)
}

// budget is who pays for what is learned of the examples: the domain of a table, or of
// a file the one that was named. It is nil for data that are public, and for a file
// whose owner named none.
func (e *exampleFlags) budget(ctx context.Context, w *workplace, domain, analyst string) (*durable.Budget, error) {
	if d := e.domain(); d != nil {
		domain = d.ID
	}
	if domain == "" {
		return nil, nil
	}
	w.resolve()
	if err := w.openGuarding(ctx); err != nil {
		return nil, err
	}
	return durable.New(ctx, w.ledger, durable.Options{Domain: domain, Analyst: cmp.Or(analyst, defaultAnalyst()), Now: time.Now})
}
