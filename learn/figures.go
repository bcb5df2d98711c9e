package learn

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"

	"github.com/discreet-dp/discreet/learn/network"
)

// Figures are exact functions of private data: for the data's owner alone, who must
// not publish them, nor let what is published depend on them. They print as a
// redaction; their fields are for those who know that.
type Figures struct {
	Examples      int     // in the step's sample
	Invalid       int     // of these, left out because something was not finite
	Loss          float64 // mean of the valid examples; NaN without one
	Clipped       float64 // fraction of the valid examples whose gradient was longer than the clip
	SignalToNoise float64 // norm of the sum before the noise, in terms of the noise's expected norm
}

func newFigures(s network.Statistics, sum []float32, sigma float64) Figures {
	valid := float64(s.Examples - s.Invalid)
	squares := 0.0
	for _, x := range sum {
		squares += float64(x) * float64(x)
	}
	return Figures{
		Examples: s.Examples, Invalid: s.Invalid,
		Loss: s.Loss / valid, Clipped: float64(s.Clipped) / valid,
		SignalToNoise: math.Sqrt(squares/float64(len(sum))) / sigma,
	}
}

const redacted = "[figures withheld]"

// String returns a redaction.
func (Figures) String() string { return redacted }

// Format prints a redaction for every verb.
func (Figures) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// LogValue returns a redaction.
func (Figures) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON refuses.
func (Figures) MarshalJSON() ([]byte, error) { return nil, errors.New("figures are not marshalled") }

// Progress is what a run tells after a step.
type Progress struct {
	Step, Steps int     // steps made, of how many
	Epsilon     float64 // an estimate of what the steps so far have spent at the plan's delta, by Rényi divergences; the whole plan was charged at the start
	Clip        float64 // of the step; with adaptive clipping it was paid for
	Owner       Figures // of the step
	Warnings    []string
}

// A watch sees early what will not end well. Its warnings are functions of Figures, and
// as private.
type watch struct {
	seen, epoch     int     // steps; steps an epoch
	clipped, signal float64 // decaying means
	told            map[string]bool
}

func newWatch(p Plan) *watch {
	return &watch{epoch: int((p.Population.Units + p.Batch - 1) / p.Batch), told: map[string]bool{}}
}

// look returns what there is to say for the first time.
func (w *watch) look(f Figures) (warnings []string) {
	say := func(when bool, text string) {
		if when && !w.told[text] {
			w.told[text] = true
			warnings = append(warnings, text)
		}
	}
	if valid := f.Examples - f.Invalid; f.Examples > 0 {
		say(valid == 0 || math.IsNaN(f.Loss) || math.IsInf(f.Loss, 0),
			"no example of this step has a finite loss: if this stays, the rate is too high, or features are not scaled")
		if valid == 0 {
			return warnings
		}
	} else {
		return nil
	}
	keep := 0.9
	if w.seen == 0 {
		keep = 0
	}
	w.seen++
	w.clipped = keep*w.clipped + (1-keep)*f.Clipped
	w.signal = keep*w.signal + (1-keep)*f.SignalToNoise
	if w.seen < 10 {
		return warnings
	}
	say(w.clipped > 0.98, "nearly every gradient is clipped: their sizes are lost; usual with a small clip and a rate chosen for it, otherwise raise the clip")
	say(w.clipped < 0.02, "hardly any gradient is clipped: a smaller clip has less noise")
	// Over an epoch signals add up and noises only by the root.
	say(w.signal*math.Sqrt(float64(w.epoch)) < 0.25, "noise above signal: over an epoch the noise is several times the gradients; larger batches, fewer parameters, or a larger epsilon")
	return warnings
}
