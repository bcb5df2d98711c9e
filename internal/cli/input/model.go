package input

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/budget/durable"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/feature"
	"github.com/discreet-dp/discreet/learn/learner"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/pate"
	"github.com/discreet-dp/discreet/learn/score"
	"github.com/discreet-dp/discreet/noise"
)

// ModelData is what a model's file says of the examples that it takes. Nothing of it
// was learned from data.
type ModelData struct {
	Source   string            `json:"source"`
	Model    string            `json:"model"`
	Classes  []string          `json:"classes,omitempty"`
	Encoding *example.Encoding `json:"encoding,omitempty"` // of records
	Shape    []int             `json:"shape,omitempty"`    // of images
	// Scattering takes images to what the network sees, if it does not see them.
	Scattering *scattering       `json:"scattering,omitempty"`
	Selection  example.Selection `json:"selection"`
}

// A Model is a trained network or another learner's model, with the examples that it takes.
type Model struct {
	*learn.Model
	path   string
	Net    *network.Network // nil: it is no network
	Fitted learner.Model    // nil: a network by DP-SGD
	Data   ModelData
	blind  bool // targets are not read
}

// LoadModel reads a model's file.
func LoadModel(path string) (*Model, error) {
	if path == "" {
		return nil, diagnostic.New("D113", diagnostic.Span{}, "the model is missing").Try("--model-file FILE; discreet train makes one")
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a file")
	}
	if err != nil {
		return nil, workplace.Unreadable(path, err)
	}
	unusable := func(err error) error {
		return diagnostic.New("D165", diagnostic.Span{}, "%s is not a model that can be used: %s", path, diagnostic.Cause(err))
	}
	file, err := learn.ReadModel(path)
	switch {
	case errors.Is(err, learn.ErrKind) && IsEnsemble(path):
		return nil, diagnostic.New("D165", diagnostic.Span{}, "%s is not a model but an ensemble of teachers, which is PRIVATE", path).
			Because("the answers of a teacher reveal the records that it was trained on").Try("discreet label --ensemble %s releases labels, charged", path)
	case err != nil:
		return nil, unusable(errors.New(strings.TrimPrefix(err.Error(), path+": ")))
	}
	m := &Model{Model: file, path: path}
	if err := json.Unmarshal(file.Encoding, &m.Data); err != nil {
		return nil, unusable(errors.New("it does not describe its examples"))
	}
	if err := m.Data.check(unusable); err != nil {
		return nil, err
	}
	form := m.Data.Form(false)
	if file.Learner == "" {
		if m.Net, err = file.Build(); err != nil {
			return nil, unusable(err)
		}
		if m.Net.Fits(form.Set) != nil {
			return nil, unusable(errors.New("its examples do not fit its network"))
		}
		return m, nil
	}
	if m.Fitted, err = learner.Read(file.Learner, file.Learned, form); errors.Is(err, learner.ErrKind) {
		return nil, unusable(fmt.Errorf("it is of kind %q, which this program does not read", file.Learner))
	} else if err != nil {
		return nil, unusable(err)
	}
	if n, ok := m.Fitted.(learner.Networked); ok {
		m.Net = n.Network()
	}
	return m, nil
}

// check refuses a file whose parts do not fit together: a person may have written it.
func (d *ModelData) check(unusable func(error) error) error {
	if d.Shape != nil {
		if len(d.Shape) != 3 || slices.Min(d.Shape) < 1 || slices.Max(d.Shape) > 1<<14 || d.Shape[2] != 1 {
			return unusable(fmt.Errorf("images of shape %v", d.Shape))
		}
		if d.Scattering != nil {
			if err := d.Scattering.Check(d.Shape); err != nil {
				return unusable(err)
			}
		}
		return nil
	}
	if d.Scattering != nil {
		return unusable(errors.New("only images have scattering coefficients"))
	}
	if d.Encoding == nil {
		return unusable(errors.New("it does not describe its examples"))
	}
	if err := d.Encoding.Validate(); err != nil {
		return unusable(err)
	}
	if !slices.Equal(d.Classes, d.Encoding.ClassNames()) {
		return unusable(errors.New("its classes are not those of its target"))
	}
	return nil
}

// Forget makes Read leave out targets: what is to be predicted need not be known.
func (m *Model) Forget() { m.blind = true }

// Fits refuses examples that the model cannot take.
func (m *Model) Fits(ctx context.Context, e *Examples) error {
	wrong := func(why string) error {
		return diagnostic.New("D165", diagnostic.Span{}, "the model in %s takes no %s", m.path, why).
			Because("it was trained on %s", m.Data.Source)
	}
	switch {
	case (e.Images != "") != (m.Data.Shape != nil):
		if e.Images != "" {
			return wrong("images")
		}
		return wrong("records")
	case e.HeldOut && m.Data.Selection.Holdout == 0:
		return diagnostic.New("D165", diagnostic.Span{}, "training held no records out").
			Because("the model in %s was trained without --holdout", m.path).Try("train with --holdout 0.2, or evaluate on other data")
	case m.Fitted != nil && m.Fitted.Names() != nil && !m.blind:
		return diagnostic.New("D165", diagnostic.Span{}, "the model in %s predicts nothing, so it cannot be evaluated", m.path).
			Because("it was trained without a target").Try("discreet predict tells what it says of each record")
	case e.Images != "" && e.Labels == "" && !m.blind:
		return diagnostic.New("D113", diagnostic.Span{}, "images without --labels").Because("the data do not say whether a prediction is right")
	case e.CSV != "":
		return e.Unread(example.CheckCSV(ctx, e.CSV, m.Encoding(), e.Unit))
	case e.Declared == nil:
		return nil
	}
	encoding := m.Encoding()
	for i, name := range encoding.Needs() {
		c, ok := e.Declared.Column(name)
		if !ok {
			return e.columnRefusal(&example.ColumnError{Table: e.Table, Column: name, Unknown: true})
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

// Encoding is how records are read.
func (m *Model) Encoding() *example.Encoding {
	e := *m.Data.Encoding
	if m.blind {
		e.Target = nil
	}
	return &e
}

// Read reads examples in the way in which the model's training did, at most so many of a
// unit.
func (m *Model) Read(ctx context.Context, w *workplace.Workplace, e *Examples, perUnit int) (*example.Set, error) {
	if m.Data.Shape != nil {
		return m.Data.Images(ctx, e, len(m.Data.Classes))
	}
	s := example.Selection{PerUnit: perUnit}
	if e.HeldOut { // the key in the model decides which examples are held out
		s = m.Data.Selection
		s.PerUnit, s.Held = perUnit, true
	} else {
		var err error
		if s.Key, err = NewKey(noise.System()); err != nil {
			return nil, err
		}
	}
	return e.Read(ctx, w, m.Encoding(), s)
}

// Outputs asks the network about all examples.
func (m *Model) Outputs(ctx context.Context, t *terminal.Terminal, set *example.Set) ([]float32, error) {
	const batch = 256
	n, width := set.Len(), m.Scorer().Width()
	out := make([]float32, n*width)
	if m.Net == nil {
		step, done := t.Progress(ctx, "predicting", max(1, n))
		defer done()
		for i := range n {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			m.Fitted.Outputs(set.Features[i*set.Width:(i+1)*set.Width], out[i*width:(i+1)*width])
			step()
		}
		return out, nil
	}
	pass := m.Net.NewPass(network.PassOptions{})
	step, done := t.Progress(ctx, "predicting", max(1, (n+batch-1)/batch))
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

// Scorer says what the model's outputs mean.
func (m *Model) Scorer() score.Scorer {
	s := score.Scorer{Encoding: m.Data.Encoding, Classes: len(m.Data.Classes)}
	switch {
	case m.Fitted != nil && m.Fitted.Names() != nil:
		s.Names = m.Fitted.Names()
	case m.Net != nil:
		if s.Loss = m.Net.Spec().Loss; s.Loss == network.Squared {
			s.Classes = 0
		}
	case s.Classes == 0:
		s.Loss = network.Squared
	case s.Classes == 2:
		s.Loss = network.Logistic
	default:
		s.Loss = network.CrossEntropy
	}
	return s
}

// Class names a class.
func (m *Model) Class(i int) string {
	if i < len(m.Data.Classes) {
		return m.Data.Classes[i]
	}
	return fmt.Sprint(i)
}

// Budget returns the budget that pays for what is learned of the examples: that of the
// table's domain, or of the domain that was named for a file. It is nil for public data, and
// for a file for which no domain was named.
func (e *Examples) Budget(ctx context.Context, w *workplace.Workplace, domain, analyst string) (*durable.Budget, error) {
	if d := e.Domain(); d != nil {
		domain = d.ID
	}
	if domain == "" {
		return nil, nil
	}
	w.Resolve()
	if err := w.OpenGuarding(ctx); err != nil {
		return nil, err
	}
	return durable.New(ctx, w.Ledger, durable.Options{Domain: domain, Analyst: cmp.Or(analyst, workplace.DefaultAnalyst()), Now: time.Now})
}

// Norm bounds a record's features in norm: at most three of a column are not 0 at once,
// or four, of which no more than half count on average.
func (d ModelData) Norm() float64 {
	if d.Shape != nil { // a pixel is at most 1; a scattering coefficient is, on average
		return math.Sqrt(float64(Product(d.Input())))
	}
	squares := 1.0
	for _, c := range d.Encoding.Columns {
		if squares++; c.Bins > 0 {
			squares += 2
		}
	}
	return math.Sqrt(squares)
}

// Form is what is known of the examples before any is read.
func (d *ModelData) Form(units bool) learner.Form {
	set := &example.Set{Outputs: 1, Classes: len(d.Classes), Features: []float32{}}
	f := learner.Form{Set: set, Norm: d.Norm()}
	set.Width = Product(d.Input())
	switch {
	case d.Scattering != nil: // coefficients have no bounds of their own
	case d.Shape != nil:
		for i := range set.Width {
			f.Features = append(f.Features, feature.Feature{Name: fmt.Sprintf("pixel %d, %d", i/d.Shape[1], i%d.Shape[1]), At: i, Lower: -1, Upper: 1})
		}
	default:
		f.Features = feature.Of(d.Encoding)
	}
	if len(d.Classes) == 0 && (d.Encoding == nil || d.Encoding.Target == nil) {
		set.Classes = 1 // without labels: see example.NewBuilder
	}
	if set.Classes > 0 {
		set.Labels = []int32{}
	} else {
		set.Targets = []float32{}
	}
	if units {
		set.Units = []int32{}
	}
	return f
}

// IsEnsemble reports whether a file is an ensemble of teachers.
func IsEnsemble(path string) bool {
	_, _, err := pate.ReadEnsemble(path)
	return !errors.Is(err, pate.ErrKind)
}

// Product is the number of values of a shape.
func Product(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}
