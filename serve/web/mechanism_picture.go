package web

import (
	"fmt"
	"math"
	"math/big"
	"net/url"
	"slices"

	"github.com/discreet-dp/discreet/internal/bounds"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/internal/plot"
)

// A picture is two laws over each other: what is released of two neighbours.
type picture struct {
	step  *big.Rat // what one place is worth
	shift int64    // how many places the neighbours lie apart
	bars  bool     // the places are all that there is: whole numbers, or answers
	shown string   // what the places are; "" for released numbers
	names [2]string
	at    []float64 // the places' values
	laws  [2][]float64
}

// Sizes of pictures.
const (
	placesOfNoise  = 24 // in a scale, of noise on numbers that are not whole
	mostPoints     = 240
	mostBars       = 90
	mostRows       = 25
	answersAtMost  = 12
	outside1in1000 = 1000 // one release in so many of a law lies outside of the picture
)

// fine is the picture of noise of a scale on real numbers: by noise on places that are dense
// in it, and of which the neighbours lie a whole number apart.
func fine(sensitivity, scale *big.Rat) picture {
	n := new(big.Rat).Quo(sensitivity, scale)
	places := numeric.Ceil(n.Mul(n, big.NewRat(placesOfNoise, 1)))
	return picture{step: new(big.Rat).Quo(sensitivity, new(big.Rat).SetInt(places)), shift: places.Int64(), names: neighbours(sensitivity)}
}

// whole is the picture of noise on whole numbers.
func whole(sensitivity *big.Rat) picture {
	return picture{step: big.NewRat(1, 1), shift: sensitivity.Num().Int64(), bars: true, names: neighbours(sensitivity)}
}

func neighbours(sensitivity *big.Rat) [2]string {
	return [2]string{"the true number is 0", "the true number is " + tidy(bounds.Decimal(sensitivity).String())}
}

// A law is a symmetric one on the whole numbers, by package noise.
type law interface {
	Above(q *big.Int) float64
	Bound(beta *big.Rat) (*big.Int, error)
}

// of fills a picture with a law around both neighbours.
func (p picture) of(l law) (picture, error) {
	reach, err := l.Bound(big.NewRat(1, outside1in1000))
	if err != nil {
		return p, err
	}
	if reach.BitLen() > 50 {
		return p, fmt.Errorf("draw noise: it reaches %v places far", reach)
	}
	low, high := -reach.Int64()-1, reach.Int64()+1+p.shift
	stride := max(1, (high-low)/mostPoints)
	p.bars = p.bars && high-low <= mostBars
	places := []int64{0, p.shift, high} // the peaks, and an end
	for k := low; k < high; k += stride {
		places = append(places, k)
	}
	slices.Sort(places)
	step, _ := p.step.Float64()
	width := 1.0
	if p.shown == "" && step != 1 {
		width = step // a density
	}
	known := map[int64]float64{}
	probability := func(k int64) float64 {
		k = max(k, -k)
		if _, is := known[k]; !is {
			known[k] = l.Above(big.NewInt(k-1)) - l.Above(big.NewInt(k))
		}
		return known[k]
	}
	for _, k := range slices.Compact(places) {
		p.at = append(p.at, float64(k)*step)
		p.laws[0] = append(p.laws[0], probability(k)/width)
		p.laws[1] = append(p.laws[1], probability(k-p.shift)/width)
	}
	return p, nil
}

// responses is the picture of a randomized response: of one in answersAtMost of its answers.
func responses(truth *big.Rat, answers int) picture {
	p := picture{bars: true, shown: "what is answered", names: [2]string{"the truth is answer 1", "the truth is answer 2"}}
	if answers > answersAtMost {
		p.shown = fmt.Sprintf("what is answered: the first %d of %d answers", answersAtMost, answers)
	}
	told, _ := truth.Float64()
	lie, _ := new(big.Rat).Quo(new(big.Rat).Sub(big.NewRat(1, 1), truth), big.NewRat(int64(answers-1), 1)).Float64()
	for i := range min(answers, answersAtMost) {
		p.at = append(p.at, float64(i+1))
		for j := range p.laws {
			x := lie
			if i == j {
				x = told
			}
			p.laws[j] = append(p.laws[j], x)
		}
	}
	return p
}

// line is one of the curves of a picture: as steps where it has bars.
func (p picture) line(name string, ys []float64) plot.Line {
	l := plot.Line{Name: name}
	for i, x := range p.at {
		if p.bars {
			l.Points = append(l.Points, plot.Point{X: x - 0.5, Y: ys[i]}, plot.Point{X: x + 0.5, Y: ys[i]})
		} else {
			l.Points = append(l.Points, plot.Point{X: x, Y: ys[i]})
		}
	}
	return l
}

// common and ratio are the least of both laws, and the logarithm of their ratio, everywhere.
func (p picture) common() []float64 {
	ys := make([]float64, len(p.at))
	for i := range ys {
		ys[i] = min(p.laws[0][i], p.laws[1][i])
	}
	return ys
}

func (p picture) ratio() []float64 {
	ys := make([]float64, len(p.at))
	for i := range ys {
		ys[i] = math.Log(p.laws[0][i] / p.laws[1][i])
	}
	return ys
}

// quantity is what a law has at a place.
func (p picture) quantity() string {
	if p.shown == "" && p.step.Cmp(big.NewRat(1, 1)) != 0 {
		return "density"
	}
	return "probability"
}

func (p picture) places() string {
	if p.shown != "" {
		return p.shown
	}
	return "released number"
}

// sheet draws the laws over each other, and below them their ratio.
func (p picture) sheet(a *showing, r *release, overlap string) plot.Drawing {
	x := plot.Axis{Label: p.places()}
	if p.shown != "" {
		x.Kind = plot.Keys
	}
	common := p.line("both: "+overlap, p.common())
	common.Filled = true
	ratio := plot.Plot{X: x, Y: plot.Axis{Label: "privacy loss: the logarithm of the ratio of both"},
		Lines: []plot.Line{p.line("loss", p.ratio())}}
	if r.epsilon != nil {
		epsilon, _ := r.epsilon.Float64()
		first, last := ratio.Lines[0].Points[0].X, ratio.Lines[0].Points[len(ratio.Lines[0].Points)-1].X
		ratio.Lines = append(ratio.Lines, plot.Line{Name: "±ε", Dashed: true, Points: []plot.Point{{X: first, Y: epsilon}, {X: last, Y: epsilon},
			{X: last, Y: math.NaN()}, {X: first, Y: -epsilon}, {X: last, Y: -epsilon}}})
	}
	return plot.Sheet{Title: "What is released of two neighbours: " + a.Kind.Word, Plots: []plot.Plot{
		{X: x, Y: plot.Axis{Label: p.quantity(), Zero: true}, Lines: []plot.Line{p.line(p.names[0], p.laws[0]), p.line(p.names[1], p.laws[1]), common}},
		ratio,
	}}
}

// numbers are those of the picture, in few rows.
func (p picture) numbers() (columns []string, rows [][]string) {
	columns = []string{p.places(), p.quantity() + " if " + p.names[0], p.quantity() + " if " + p.names[1], "privacy loss"}
	stride := (len(p.at) + mostRows - 1) / mostRows
	loss := p.ratio()
	for i := 0; i < len(p.at); i += stride {
		rows = append(rows, []string{figures(p.at[i]), figures(p.laws[0][i]), figures(p.laws[1][i]), figures(loss[i])})
	}
	return columns, rows
}

// asPlan is what the accountant's page is asked of a release.
func (a *showing) asPlan(r *release) url.Values {
	q := url.Values{"plans": {r.event.String()}, "of": {"delta"}, "epsilon": {"1"}, "delta": {"1e-6"}, "relation": {r.neighbours.String()}}
	if r.epsilon == nil {
		q.Set("of", "epsilon")
		q.Set("delta", bounds.Decimal(a.setting.number["delta"]).String())
	}
	return q
}
