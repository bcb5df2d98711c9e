package main

import (
	"fmt"
	"math"
	"os"
	"sync"

	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/learn"
)

// A show is what the owner sees of a run on the way. Loss, clipped share and warnings
// are exact figures of private data: they go to the owner's screen and into the
// owner's drawing, and nowhere else.
type show struct {
	*terminal
	public bool

	mu            sync.Mutex
	last          learn.Progress
	loss, clipped float64      // decaying means
	curves        [3]plot.Line // loss, clipped share, epsilon
	every         int          // steps between points
}

func newShow(t *terminal, v *training) *show {
	s := &show{terminal: t, public: v.public, every: 1}
	for i, name := range []string{"loss", "clipped share", "epsilon so far"} {
		s.curves[i] = plot.Line{Name: name, Dashed: i == 2}
	}
	return s
}

// about stands before what is not for analysts.
func (s *show) about() string {
	if s.public {
		return ""
	}
	return "for the owner alone: "
}

// begin says what is about to happen.
func (s *show) begin(r *learn.Run, unpaid bool) {
	p, g := r.Plan(), r.Guarantee()
	s.every = max(1, p.Steps/400)
	s.say("%d steps of %d of %d units (%s), clip %g, noise multiplier %g: epsilon %s at delta %v (pld %s, rdp %s)",
		p.Steps, p.Batch, p.Population.Units, p.Population.Basis, p.Clip.Norm, p.Noise.Multiplier, upTo(g.Epsilon), g.Delta, orNone(g.PLD), orNone(g.RDP))
	if charged := r.Charged(); charged != "" && !unpaid {
		s.say("charged %s", charged)
	}
}

func orNone(x *float64) string {
	if x == nil {
		return "none"
	}
	return upTo(*x)
}

// step takes what a step tells.
func (s *show) step(p learn.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	keep := 0.9
	if s.last.Step == 0 {
		keep = 0
	}
	mean := func(of *float64, x float64) {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			*of = keep**of + (1-keep)*x
		}
	}
	mean(&s.loss, p.Owner.Loss)
	mean(&s.clipped, p.Owner.Clipped)
	s.last = p
	for _, w := range p.Warnings {
		if s.people { // over the progress bar
			fmt.Fprint(s.err, "\r\x1b[K")
		}
		s.say("%swarning: %s", s.about(), w)
	}
	if p.Step%s.every == 0 || p.Step == p.Steps {
		for i, y := range []float64{s.loss, s.clipped, p.Epsilon} {
			s.curves[i].Points = append(s.curves[i].Points, plot.Point{X: float64(p.Step), Y: y})
		}
	}
}

// line is the progress bar's.
func (s *show) line() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.last
	if p.Steps == 0 {
		return "training"
	}
	return fmt.Sprintf("%s loss %.4f clipped %2.0f%% epsilon %.2f", gauge(float64(p.Step)/float64(p.Steps)), s.loss, 100*s.clipped, p.Epsilon)
}

// end says how it went.
func (s *show) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last.Step > 0 {
		s.say("%sloss %.4f, clipped %.0f%%", s.about(), s.loss, 100*s.clipped)
	}
}

// draw writes the learning curves.
func (s *show) draw(path string) (err error) {
	format, err := plot.Format(path)
	if err != nil {
		return err
	}
	f, err := createPlot(path, !s.public)
	if err != nil {
		return err
	}
	p := plot.Plot{Title: "training", X: plot.Axis{Label: "step"}, Y: plot.Axis{Label: "loss, share, epsilon"}, Lines: s.curves[:]}
	err = p.Write(f, format)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("write plot: %w", err)
	}
	about := "; its curves are exact, and for the owner alone"
	if s.public {
		about = ""
	}
	s.say("drew %s%s", path, about)
	return nil
}

// createPlot makes a plot's file. What is exact of private data is the owner's alone, also
// where others could read what was there before.
func createPlot(path string, private bool) (*os.File, error) {
	create := custody.Public
	if private {
		create = custody.Create
	}
	f, err := create(path)
	if err != nil {
		return nil, fmt.Errorf("write plot: %w", err)
	}
	return f, nil
}
