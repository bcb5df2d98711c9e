package learn

import (
	"fmt"
	"math"
	"sync"

	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/privacy"
)

// A show is what the owner sees while a run is under way. Loss, clipped share and warnings
// are exact figures of private data: they go to the owner's screen and into the
// owner's drawing, and nowhere else.
type show struct {
	*terminal.Terminal
	public bool

	mu            sync.Mutex
	last          learn.Progress
	loss, clipped float64      // decaying means
	curves        [3]plot.Line // loss, clipped share, epsilon
	every         int          // steps between points
	delta         privacy.Delta
}

func newShow(t *terminal.Terminal, v *training) *show {
	return &show{Terminal: t, public: v.Public, every: 1}
}

// about stands before figures that analysts must not see.
func (s *show) about() string {
	if s.public {
		return ""
	}
	return "for the owner alone: "
}

// begin says what is about to happen.
func (s *show) begin(r *learn.Run, unpaid bool) {
	p, g := r.Plan(), r.Guarantee()
	s.every, s.delta = max(1, p.Steps/400), g.Delta
	s.Say("%d steps of %d of %d units (%s), clip %g, noise multiplier %g: epsilon %s at delta %v (pld %s, rdp %s)",
		p.Steps, p.Batch, p.Population.Units, p.Population.Basis, p.Clip.Norm, p.Noise.Multiplier, upTo(g.Epsilon), g.Delta, orNone(g.PLD), orNone(g.RDP))
	if charged := r.Charged(); charged != "" && !unpaid {
		s.Say("charged %s", charged)
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
		if s.People { // above the progress bar
			fmt.Fprint(s.Err, "\r\x1b[K")
		}
		s.Say("%swarning: %s", s.about(), w)
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
	return fmt.Sprintf("%s steps, loss %.4f clipped %2.0f%% epsilon %.2f", terminal.Steps(int64(p.Step), int64(p.Steps)), s.loss, 100*s.clipped, p.Epsilon)
}

// end says how it went.
func (s *show) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last.Step > 0 {
		s.Say("%sloss %.4f, clipped %.0f%%", s.about(), s.loss, 100*s.clipped)
	}
}

// draw writes the learning curves, each with a scale of its own: a loss of 0.4 and an
// epsilon of 8 on one axis would show neither.
func (s *show) draw(path string) error {
	if err := s.Draw(s.sheet(), path, !s.public); err != nil {
		return err
	}
	if !s.public && path != terminal.Here { // a drawing in the terminal says so itself
		s.Say("the curves in %s are exact, and for the owner alone", path)
	}
	return nil
}

func (s *show) sheet() plot.Sheet {
	s.mu.Lock()
	defer s.mu.Unlock()
	sheet := plot.Sheet{Title: "training"}
	labels := []string{"loss, a decaying mean", "share of gradients that are clipped, a decaying mean", fmt.Sprintf("epsilon of the steps so far at delta %s, estimated by Rényi divergences", numeric.FormatRat(terminal.Up(s.delta.Rat(), 3)))}
	if s.public {
		labels = labels[:2] // public data: no epsilon to draw
	} else {
		sheet.Notes = []string{"Loss and clipped share are exact figures of private data, for their owner alone; the whole run was charged at its start."}
	}
	for i, label := range labels {
		p := plot.Plot{X: plot.Axis{Label: "step", Kind: plot.Keys}, Y: plot.Axis{Label: label, Zero: i > 0}, Lines: s.curves[i : i+1]}
		p.Lines[0].Dashed = i == 2 // an estimate, not the guarantee
		if i == 1 {
			p.Y.Max = 1
		}
		sheet.Plots = append(sheet.Plots, p)
	}
	return sheet
}
