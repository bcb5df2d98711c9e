package pate

import (
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
)

func consistent() *Consistent {
	return &Consistent{Spec: stroke(0).Spec, Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 0.02}, Steps: 150, Batch: 4,
		Mean: 0.9, Sure: 0.8, Seed: 2, Strong: Distortion{Height: 4, Width: 4, Shift: 0.3}}
}

// Examples without labels teach what two labels do not: strokes beside the labelled ones,
// which these look like when they are moved, are of the same classes. By the labels alone
// they are not: each shares a pixel with the labelled stroke of the other class.
func TestConsistentLearnsFromOthers(t *testing.T) {
	public := crosses(80)
	labels := slices.Repeat([]int32{NoLabel}, 80)
	copy(labels, public.Labels[:2])
	l := consistent()
	l.Strong.Shift, l.Steps = 1.5, 300
	c, err := (&Pupil{Learner: l}).Train(t.Context(), public, labels)
	if err != nil {
		t.Fatal(err)
	}
	if a := accuracy(t, c, public); a < 0.95 {
		t.Errorf("the student is right in %g", a)
	}
}

// What is learned is a function of released labels and the seed: not of labels that
// nobody released.
func TestConsistentSeesReleasedLabelsOnly(t *testing.T) {
	var outs [][]float32
	for _, known := range []bool{true, false} {
		public := crosses(40)
		labels := slices.Repeat([]int32{NoLabel}, 40)
		copy(labels, public.Labels[:6])
		if !known {
			for i := range public.Labels {
				public.Labels[i] = 1 - public.Labels[i]
			}
		}
		c, err := (&Pupil{Learner: consistent()}).Train(t.Context(), public, labels)
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.(Scorer).Probabilities(t.Context(), public)
		if err != nil {
			t.Fatal(err)
		}
		outs = append(outs, p)
	}
	if !slices.Equal(outs[0], outs[1]) {
		t.Error("the student depends on labels that nobody released")
	}
}

// A wrong label among many right ones is believed without doubt, and not with it.
func TestConsistentDoubts(t *testing.T) {
	public := crosses(40)
	labels := slices.Clone(public.Labels)
	for i := 10; i < 40; i++ {
		labels[i] = NoLabel
	}
	wrong := 1 - labels[5]
	labels[5] = wrong
	of := func(doubt float32) float32 {
		l := consistent()
		l.Doubt, l.Steps, l.Strong = doubt, 400, Distortion{}
		c, err := (&Pupil{Learner: l}).Train(t.Context(), public, labels)
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.(Scorer).Probabilities(t.Context(), public)
		if err != nil {
			t.Fatal(err)
		}
		return p[5*2+int(wrong)]
	}
	if with, without := of(0.5), of(0); with >= without || with > 0.3 {
		t.Errorf("the wrong label has probability %g with doubt, %g without", with, without)
	}
}

// A student may start from what an encoder has learned, if it begins as the encoder is.
func TestConsistentStarts(t *testing.T) {
	public := crosses(40)
	l := consistent()
	l.Start, l.Spec = encoder(t, public), body()
	l.Spec.Loss = network.CrossEntropy
	l.Spec.Layers = append(l.Spec.Layers, network.Layer{Type: "relu"}, network.Layer{Type: "linear", Width: 2})
	l.Steps, l.Optimizer.Rate = 1, 1e-9
	c, err := l.Train(t.Context(), public)
	if err != nil {
		t.Fatal(err)
	}
	first := l.Start.net.Parameters()
	for i, w := range c.(*trained).net.Parameters()[:len(first)] {
		if d := w - first[i]; d > 1e-6 || d < -1e-6 {
			t.Fatalf("weight %d is %g, started from %g", i, w, first[i])
		}
	}
	l.Spec = stroke(0).Spec
	if _, err := l.Train(t.Context(), public); err == nil {
		t.Error("another network starts from the encoder")
	}
}

func TestConsistentRefusals(t *testing.T) {
	public := crosses(8)
	none := *public
	none.Labels = slices.Repeat([]int32{NoLabel}, 8)
	if _, err := consistent().Train(t.Context(), &none); err == nil {
		t.Error("trained without labels")
	}
	for name, change := range map[string]func(*Consistent){
		"no steps":             func(c *Consistent) { c.Steps = 0 },
		"a negative batch":     func(c *Consistent) { c.Batch = -1 },
		"a mean of all":        func(c *Consistent) { c.Mean = 1 },
		"sure of nothing":      func(c *Consistent) { c.Sure = -1 },
		"doubts of all":        func(c *Consistent) { c.Doubt = 1 },
		"another loss":         func(c *Consistent) { c.Spec.Loss = network.Squared },
		"images of other size": func(c *Consistent) { c.Weak = Distortion{Height: 3, Width: 3, Turn: 1} },
	} {
		c := consistent()
		change(c)
		if _, err := c.Train(t.Context(), public); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}
