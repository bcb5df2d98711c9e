package pate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/pate/analysis"
)

// A Learner trains a teacher on its part, or a student. It must look at nothing but
// the set that it is given, and be safe for concurrent use.
type Learner interface {
	Train(ctx context.Context, set *example.Set) (Classifier, error)
}

// A Classifier names a class of each example. It must be safe for concurrent use.
type Classifier interface {
	Predict(ctx context.Context, set *example.Set) ([]int32, error)
}

// EnsembleOptions say how teachers are trained.
type EnsembleOptions struct {
	Teachers int // required; public
	Learner  Learner
	Workers  int // teachers that are trained at the same time; 0 is GOMAXPROCS
	// Progress is called after each teacher, from any goroutine, if it is not nil. How
	// long a teacher takes depends on its data.
	Progress func()
}

// An Ensemble is teachers. It is private as the data are, and prints as a redaction.
type Ensemble struct {
	teachers []Classifier  // nil: one that could not be trained
	network  *network.Spec // of teachers that a Network trained; else nil
	classes  int
	workers  int
	failures []error
}

// Train trains an ensemble on private examples. A teacher that has none, or that its
// learner fails on, is no error, because the data decide it: it votes for class 0.
func Train(ctx context.Context, set *example.Set, o EnsembleOptions) (*Ensemble, error) {
	if err := set.Validate(); err != nil {
		return nil, fmt.Errorf("train ensemble: %w", err)
	}
	if set.Classes < 2 || set.Outputs != 1 {
		return nil, fmt.Errorf("train ensemble: want one label of two classes or more an example")
	}
	if o.Learner == nil {
		return nil, errors.New("train ensemble: no learner")
	}
	a, err := NewAssignment(o.Teachers)
	if err != nil {
		return nil, fmt.Errorf("train ensemble: %w", err)
	}
	e := &Ensemble{classes: set.Classes, workers: cmp.Or(o.Workers, runtime.GOMAXPROCS(0)),
		teachers: make([]Classifier, o.Teachers), failures: make([]error, o.Teachers)}
	if n, ok := o.Learner.(*Network); ok {
		e.network = &n.Spec
	}
	parts := a.Parts(set)
	err = each(ctx, e.workers, o.Teachers, func(t int) {
		if parts[t].Len() > 0 {
			e.teachers[t], e.failures[t] = train(ctx, o.Learner, parts[t])
		}
		if o.Progress != nil {
			o.Progress()
		}
	})
	if err != nil {
		return nil, fmt.Errorf("train ensemble: %w", err)
	}
	return e, nil
}

// train makes an error of a learner's panic.
func train(ctx context.Context, l Learner, part *example.Set) (c Classifier, err error) {
	defer func() {
		if r := recover(); r != nil {
			c, err = nil, fmt.Errorf("the learner panicked: %v", r)
		}
	}()
	return l.Train(ctx, part)
}

// each calls f with 0 to n-1 by so many goroutines, until the context is done.
func each(ctx context.Context, workers, n int, f func(int)) error {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(workers, n) {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	group.Wait()
	return ctx.Err()
}

// Teachers returns their number.
func (e *Ensemble) Teachers() int { return len(e.teachers) }

// Network returns the network of the teachers; false if they are not networks.
func (e *Ensemble) Network() (network.Spec, bool) {
	if e.network == nil {
		return network.Spec{}, false
	}
	return *e.network, true
}

// Classes returns the number of classes that teachers vote for.
func (e *Ensemble) Classes() int { return e.classes }

// Learned returns how many teachers learned anything. It is for the owner of the data:
// it is private.
func (e *Ensemble) Learned() (n int) {
	for _, c := range e.teachers {
		if c != nil {
			n++
		}
	}
	return n
}

// Failures returns why teachers could not be trained or asked, by their numbers. It is
// for the owner of the data: it is private.
func (e *Ensemble) Failures() map[int]error {
	failures := make(map[int]error)
	for t, err := range e.failures {
		if err != nil {
			failures[t] = err
		}
	}
	return failures
}

// Votes returns the teachers' votes on public examples, which are private. A teacher
// that names no class votes for class 0, so that every teacher votes once, always.
func (e *Ensemble) Votes(ctx context.Context, public *example.Set) (*analysis.Votes, error) {
	n := public.Len()
	v := &analysis.Votes{Classes: e.classes, Counts: make([]int32, n*e.classes)}
	var lock sync.Mutex
	err := each(ctx, e.workers, len(e.teachers), func(t int) {
		labels, err := predict(ctx, e.teachers[t], public)
		lock.Lock()
		defer lock.Unlock()
		if err != nil {
			e.failures[t] = err
		}
		for i := range n {
			class := int32(0)
			if i < len(labels) && labels[i] >= 0 && int(labels[i]) < e.classes {
				class = labels[i]
			}
			v.Counts[i*e.classes+int(class)]++
		}
	})
	if err != nil {
		return nil, fmt.Errorf("ask ensemble: %w", err)
	}
	return v, nil
}

// predict is a classifier's answer, or none and why.
func predict(ctx context.Context, c Classifier, set *example.Set) (labels []int32, err error) {
	defer func() {
		if r := recover(); r != nil {
			labels, err = nil, fmt.Errorf("the classifier panicked: %v", r)
		}
	}()
	if c == nil {
		return nil, nil
	}
	return c.Predict(ctx, set)
}

// Format prints a redaction for every verb.
func (*Ensemble) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// MarshalJSON refuses.
func (*Ensemble) MarshalJSON() ([]byte, error) {
	return nil, errors.New("an ensemble is not marshalled")
}
