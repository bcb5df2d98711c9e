package leakage

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
)

// A Text turns lines of characters into examples: each line is one, and each of its characters is
// to be predicted from those before it. So a guarantee for examples protects one line.
type Text struct {
	Alphabet string // the characters, each once
	Width    int    // of a line at most, its end included
}

// classes are the characters and, as 0, a line's beginning or end.
func (t Text) classes() int { return len([]rune(t.Alphabet)) + 1 }

// Spec is a recurrent network over characters.
func (t Text) Spec(embedding, state int) network.Spec {
	return network.Spec{Input: []int{t.Width}, Layers: []network.Layer{
		{Type: "embedding", Tokens: t.classes(), Width: embedding},
		{Type: "gru", Width: state},
		{Type: "linear", Width: t.classes()},
	}, Loss: network.CrossEntropy}
}

// Set makes examples of lines. Characters before from are read but not to be told.
func (t Text) Set(lines []string, from int) (*example.Set, error) {
	number := map[rune]int32{}
	for i, r := range []rune(t.Alphabet) {
		if _, twice := number[r]; twice {
			return nil, bad("the alphabet has %q twice", r)
		}
		number[r] = int32(i + 1)
	}
	if t.Width < 1 || len(number) == 0 {
		return nil, bad("lines of %d characters of an alphabet of %d", t.Width, len(number))
	}
	s := &example.Set{Width: t.Width, Classes: t.classes(), Outputs: t.Width,
		Features: make([]float32, len(lines)*t.Width), Labels: make([]int32, len(lines)*t.Width)}
	for i, line := range lines {
		features, labels := s.Features[i*t.Width:(i+1)*t.Width], s.Labels[i*t.Width:(i+1)*t.Width]
		for j := range labels {
			labels[j] = -1
		}
		runes := []rune(line)
		if len(runes) >= t.Width {
			return nil, bad("a line of %d characters where %d have room", len(runes), t.Width-1)
		}
		for j, r := range runes {
			c, ok := number[r]
			if !ok {
				return nil, bad("a line has a character that is not in the alphabet")
			}
			features[j+1] = float32(c)
			if j >= from {
				labels[j] = c
			}
		}
		if len(runes) >= from {
			labels[len(runes)] = 0 // and the end
		}
	}
	return s, nil
}

// Perplexity is log2 of what a model makes of each line from a character on: how many
// bits it would still need to be told the rest.
func (t Text) Perplexity(net *network.Network, lines []string, from int) ([]float64, error) {
	set, err := t.Set(lines, from)
	if err != nil {
		return nil, err
	}
	rows, losses := make([]int, len(lines)), make([]float64, len(lines))
	for i := range rows {
		rows[i] = i
	}
	if _, err := net.NewPass(network.PassOptions{}).Losses(set, rows, losses); err != nil {
		return nil, err
	}
	scale := 1 / math.Ln2
	if net.Spec().Mean {
		return nil, bad("a network whose loss is a mean over characters")
	}
	for i := range losses {
		losses[i] *= scale
	}
	return losses, nil
}

// complete goes on with a line, always by the likeliest character, to its end.
func (t Text) complete(net *network.Network, line string) (string, error) {
	alphabet := []rune(t.Alphabet)
	pass := net.NewPass(network.PassOptions{Workers: 1})
	out := make([]float32, t.Width*t.classes())
	for n := len([]rune(line)); n < t.Width-1; n++ {
		set, err := t.Set([]string{line}, 0)
		if err != nil {
			return "", err
		}
		if err := pass.Outputs(set, []int{0}, out); err != nil {
			return "", err
		}
		best := 0
		scores := out[n*t.classes() : (n+1)*t.classes()]
		for c, z := range scores {
			if z > scores[best] {
				best = c
			}
		}
		if best == 0 {
			break
		}
		line += string(alphabet[best-1])
	}
	return line, nil
}

// A Secret is a line with a place for what is to be guessed, such as
// "the pin of dan is ####": each # stands for a digit.
type Secret struct {
	Format      string
	Value       string // the digits that were planted
	Repetitions int    // how often
}

// Line is the secret as it is planted.
func (s Secret) Line() string { return s.with(s.Value) }

func (s Secret) with(value string) string {
	place, _, _ := strings.Cut(s.Format, "#")
	return place + value + s.Format[len(place)+len(value):]
}

// check refuses a format without one run of # at its end, or a value that does not fit it.
func (s Secret) check() error {
	place, _, _ := strings.Cut(s.Format, "#")
	holes := s.Format[len(place):]
	if holes == "" || strings.Trim(holes, "#") != "" || len(holes) > 6 {
		return bad("the format %q does not end in one to six #", s.Format)
	}
	if len(s.Value) != len(holes) || strings.Trim(s.Value, "0123456789") != "" {
		return bad("the secret has not %d digits", len(holes))
	}
	return nil
}

// Exposure measures what a model shows of a secret: against all other values, or those
// at even distances if there are more than most.
func (t Text) Exposure(ctx context.Context, net *network.Network, s Secret, most int) (ExposureReport, error) {
	if err := s.check(); err != nil {
		return ExposureReport{}, err
	}
	if most < 1 {
		return ExposureReport{}, bad("%d references", most)
	}
	place, _, _ := strings.Cut(s.Format, "#")
	all := int(math.Pow10(len(s.Value)))
	lines := []string{s.Line()}
	stride := max(1, (all+most-1)/most)
	for v := stride / 2; v < all; v += stride {
		if value := fmt.Sprintf("%0*d", len(s.Value), v); value != s.Value {
			lines = append(lines, s.with(value))
		}
	}
	var bits []float64
	for i := 0; i < len(lines); i += 256 {
		if err := ctx.Err(); err != nil {
			return ExposureReport{}, err
		}
		some, err := t.Perplexity(net, lines[i:min(i+256, len(lines))], len([]rune(place)))
		if err != nil {
			return ExposureReport{}, err
		}
		bits = append(bits, some...)
	}
	r, err := MeasureExposure(bits[0], bits[1:])
	if err != nil {
		return ExposureReport{}, err
	}
	r.Canary, r.Repetitions = s.Format, s.Repetitions
	said, err := t.complete(net, place)
	r.Extracted = said == s.Line()
	return r, err
}
