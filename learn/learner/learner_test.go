package learner_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/feature"
	"github.com/discreet-dp/discreet/learn/learner"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// clinic is a form of examples, and some of that form.
func clinic(l learner.Learner) (learner.Form, *example.Set) {
	encoding := &example.Encoding{Columns: []example.Column{{Name: "age", Type: "integer", Upper: 9}, {Name: "ward", Type: "text", Values: []string{"a", "b"}}}}
	form := example.Set{Width: encoding.Width(), Outputs: 1, Features: []float32{}}
	set := form
	outputs := 1
	if l.Predicts == learner.Number {
		form.Targets = []float32{}
	} else {
		form.Classes, form.Labels, outputs = 3, []int32{}, 3
	}
	if l.Predicts == learner.Nothing {
		form.Classes = 1
	}
	set.Classes = form.Classes
	for i := range 200 {
		for j := range set.Width {
			set.Features = append(set.Features, float32((i*(j+3))%5)/2-1)
		}
		switch {
		case form.Targets != nil:
			set.Targets = append(set.Targets, float32(i%5)/2-1)
		case l.Predicts == learner.Nothing:
			set.Labels = append(set.Labels, -1)
		default:
			set.Labels = append(set.Labels, int32(i%3))
		}
	}
	f := learner.Form{Set: &form, Features: feature.Of(encoding), Norm: 3}
	if l.Method == "dp-ftrl" {
		loss := "cross-entropy"
		if form.Targets != nil {
			loss = "squared"
		}
		f.Network = network.Spec{Input: []int{set.Width}, Layers: []network.Layer{{Type: "linear", Width: outputs}}, Loss: loss}
	}
	return f, &set
}

// fitted is a model of each learner.
func fitted(t *testing.T, l learner.Learner) (learner.Form, *example.Set, learner.Model, []byte) {
	t.Helper()
	f, set := clinic(l)
	epsilon, err := privacy.ParseEpsilon("5")
	if err != nil {
		t.Fatal(err)
	}
	delta, err := privacy.ParseDelta("1e-5")
	if err != nil {
		t.Fatal(err)
	}
	b, err := budget.NewInMemory("clinic", filter.Budget{Measure: filter.Approx, Epsilon: epsilon, Delta: delta})
	if err != nil {
		t.Fatal(err)
	}
	run, err := l.Plan(b, f, learner.Settings{Examples: 200, Rounds: 3, Steps: 8, Clusters: 2, Components: 2}, cost.Options{Epsilon: epsilon, Delta: delta})
	if err != nil {
		t.Fatal(err)
	}
	m, err := run.Fit(context.Background(), noise.System(), set)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return f, set, m, data
}

func names(m learner.Model, f learner.Form) int { return max(len(m.Names()), f.Set.Classes, 1) }

// What is read back says of every example what the model said that was written.
func TestModelsAreReadBack(t *testing.T) {
	for _, l := range learner.All() {
		t.Run(strings.TrimSuffix(l.Model+"-"+l.Method, "-"), func(t *testing.T) {
			f, set, m, data := fitted(t, l)
			back, err := learner.Read(l.Kind, data, f)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(m.Names(), back.Names()) {
				t.Errorf("names %v, and read back %v", m.Names(), back.Names())
			}
			for i := range 20 {
				at := set.Features[i*set.Width : (i+1)*set.Width]
				want, got := make([]float32, names(m, f)), make([]float32, names(m, f))
				m.Outputs(at, want)
				back.Outputs(at, got)
				if !slices.Equal(want, got) {
					t.Fatalf("example %d: %v, and read back %v", i, want, got)
				}
			}
			if _, err := learner.Read(l.Kind+"?", data, f); !errors.Is(err, learner.ErrKind) {
				t.Errorf("another kind: %v", err)
			}
		})
	}
}

// A model that was spoiled is an error, or answers: it never fails where it is asked.
func TestSpoiledModels(t *testing.T) {
	for _, l := range learner.All() {
		t.Run(strings.TrimSuffix(l.Model+"-"+l.Method, "-"), func(t *testing.T) {
			f, set, _, data := fitted(t, l)
			var tree any
			if err := json.Unmarshal(data, &tree); err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, with := range []any{nil, -1.0, 1e300, "", []any{}, map[string]any{}} {
				spoil(tree, with, func() {
					n++
					spoiled, err := json.Marshal(tree)
					if err != nil {
						t.Fatal(err)
					}
					defer func() {
						if r := recover(); r != nil {
							t.Errorf("%v: %.300s", r, spoiled)
						}
					}()
					m, err := learner.Read(l.Kind, spoiled, f)
					if err != nil {
						return
					}
					m.Outputs(set.Features[:set.Width], make([]float32, names(m, f)))
				})
			}
			for i := range data {
				if _, err := learner.Read(l.Kind, data[:i], f); err == nil {
					t.Errorf("the first %d of %d bytes are a model", i, len(data))
				}
			}
			if n == 0 {
				t.Error("there was nothing to spoil")
			}
		})
	}
}

// spoil puts something in the place of each part of a value in turn, of lists the first
// three, and asks.
func spoil(v, with any, ask func()) {
	switch v := v.(type) {
	case map[string]any:
		for key, was := range v {
			v[key] = with
			ask()
			delete(v, key)
			ask()
			v[key] = was
			spoil(was, with, ask)
		}
	case []any:
		for i, was := range v[:min(3, len(v))] {
			v[i] = with
			ask()
			v[i] = was
			spoil(was, with, ask)
		}
	}
}
