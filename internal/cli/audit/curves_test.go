package audit

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/learn/leakage"
)

func TestDrawnOnItsAxes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	scores, member := make([]float64, 4000), make([]bool, 4000)
	for i := range scores {
		member[i] = i%2 == 0
		scores[i] = random.NormFloat64()
		if member[i] {
			scores[i] += 0.5
		}
	}
	r, err := leakage.NewROC(scores, member)
	if err != nil {
		t.Fatal(err)
	}
	p := drawn("Gaussians", []curve{{"attack", r}}, []ceiling{
		{"0.5-GDP", audit.Gaussian(0.5)}, {"epsilon 1, delta 1e-5", audit.Points{{Epsilon: 1, Delta: 1e-5}}}})
	if len(p.Lines) != 4 || len(p.Lines[0].Points) < 50 || !p.X.Log || !p.Y.Log {
		t.Fatalf("%d lines, %d points", len(p.Lines), len(p.Lines[0].Points))
	}
	for _, l := range p.Lines {
		for _, at := range l.Points {
			if !(at.X > 0 && at.X <= 1 && at.Y > 0 && at.Y <= 1) {
				t.Fatalf("%s: %v is not on the axes", l.Name, at)
			}
		}
	}
	var svg bytes.Buffer
	if err := p.WriteSVG(&svg); err != nil || !bytes.Contains(svg.Bytes(), []byte("0.5-GDP")) {
		t.Errorf("%v", err)
	}
}
