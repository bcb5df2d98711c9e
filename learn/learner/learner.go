// Package learner finds the classic learners by name, under one interface: a learner states what a
// run will reveal before it reads an example, and reads back the models that it wrote.
//
// It guarantees nothing of its own: the guarantees are the learners'. Whoever fits a Run
// must have charged its events before.
package learner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/feature"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A Learner is one way to one kind of model. All has those that there are.
type Learner struct {
	Model    string // what is learned: "tree"
	Method   string // how, where there are several ways to it: "objective"
	Kind     string // of its models in files, by which Read is found
	About    string // in a line
	Predicts Predicts
	// Pure says that it is worth having under a pure guarantee, with no delta.
	Pure bool
	// Point says that its guarantee with a delta is an (ε, δ) and no zCDP.
	Point bool
	// Lines says that it sees a number only as a line, and wants parts of the range of
	// each among the features.
	Lines bool
	// Settings are those that it heeds, by their names as flags.
	Settings []string

	plan func(budget.Budget, Form, Settings, cost.Options) (Run, error)
	read func([]byte, Form) (Model, error)
}

// Predicts says what a model predicts.
type Predicts int

// What is predicted.
const (
	Either  Predicts = iota // classes, or a number
	Classes                 // classes
	Number                  // a number
	Nothing                 // it learns without a target
)

// A Form is what is known of examples before any is read.
type Form struct {
	Set      *example.Set // of the form, without examples
	Features []feature.Feature
	Norm     float64      // bounds the L2 norm of an example's features
	Network  network.Spec // for learners of networks
}

// Settings are what may be chosen; what is 0 a learner chooses by itself.
type Settings struct {
	Examples       int     `json:"examples,omitempty"` // about how many there are, if that is public
	Rounds         int     `json:"rounds,omitempty"`
	Steps          int     `json:"steps,omitempty"`
	Rate           float64 `json:"rate,omitempty"`
	Clip           float64 `json:"clip,omitempty"`
	Regularization float64 `json:"regularization,omitempty"`
	Clusters       int     `json:"clusters,omitempty"`
	Components     int     `json:"components,omitempty"`
	Seed           uint64  `json:"seed,omitempty"` // of a network's initial weights, which protect nobody
}

// A Run is planned, and not yet made or paid for.
type Run interface {
	// Events are what it reveals, for the relation of the budget that it was planned
	// for; Event is the same as one plan of package accountant.
	Events() []privacy.Event
	Event() privacy.Event
	// Charge returns the event that stands for the whole in that budget. It charges nothing.
	Charge(ctx context.Context) (privacy.Event, error)
	// Fit makes it, over a set that was read after Events were charged.
	Fit(ctx context.Context, bits noise.Bits, set *example.Set) (Model, error)
}

// A Model is what was learned. As JSON it is what a file holds of it.
type Model interface {
	// Outputs writes what it says of an example: of two classes the logit of the second;
	// of more the logarithm of each one's share, but for a constant; a target on the
	// scale of the examples; or, where nothing is predicted, a number for each of Names.
	Outputs(features, to []float32)
	// Names are of the outputs of a model that predicts nothing; nil otherwise.
	Names() []string
}

// A Networked model is a network.
type Networked interface{ Network() *network.Network }

// Find returns a learner; an empty method finds the one of a model that has one way.
func Find(model, method string) (Learner, bool) {
	for _, l := range All() {
		if l.Model == model && l.Method == method {
			return l, true
		}
	}
	return Learner{}, false
}

// Plan plans a run that b is to pay for, over examples of a form. Nothing is charged.
func (l Learner) Plan(b budget.Budget, f Form, s Settings, o cost.Options) (Run, error) {
	if f.Set == nil || f.Set.Len() > 0 {
		return nil, errors.New("plan run: the form of the examples is missing, or has examples")
	}
	return l.plan(b, f, s, o)
}

// ErrKind is returned for a model that no learner reads.
var ErrKind = errors.New("no learner of this program reads it")

// ErrModel is returned for a model that does not fit together, or not with the examples.
var ErrModel = errors.New("the model does not fit together")

// Read returns a model of a kind, as its JSON, for examples of a form.
func Read(kind string, data []byte, f Form) (Model, error) {
	for _, l := range All() {
		if l.Kind == kind {
			m, err := l.read(data, f)
			if err != nil {
				return nil, fmt.Errorf("read model of kind %q: %w", kind, err)
			}
			return m, nil
		}
	}
	return nil, fmt.Errorf("read model of kind %q: %w", kind, ErrKind)
}

// A run is a learner's own.
type run[M any] struct {
	*cost.Run[M]
	model func(M) (Model, error)
}

func (r run[M]) Fit(ctx context.Context, bits noise.Bits, set *example.Set) (Model, error) {
	m, err := r.Run.Fit(ctx, bits, set)
	if err != nil {
		return nil, err
	}
	return r.model(m)
}

// planned makes a Run of a learner's own one.
func planned[M any](r *cost.Run[M], err error, model func(M) (Model, error)) (Run, error) {
	if err != nil {
		return nil, err
	}
	return run[M]{r, model}, nil
}

// decode reads JSON, and nothing beside it.
func decode(data []byte, to any) error {
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%w: %w", ErrModel, err)
	}
	return nil
}

// fits wraps the reason why a model does not fit.
func fits(err error) error {
	if err != nil {
		return fmt.Errorf("%w: %w", ErrModel, err)
	}
	return nil
}
