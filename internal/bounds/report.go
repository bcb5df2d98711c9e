package bounds

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/privacy"
)

// A Report is the contract's form of an accountant.Report.
type Report struct {
	Plan     string             `json:"plan"`
	Event    privacy.Event      `json:"event"`
	Relation privacy.Neighbours `json:"relation"`
	Delta    json.Number        `json:"delta,omitempty"`
	Epsilon  json.Number        `json:"epsilon,omitempty"`
	Bounds   []bound            `json:"bounds"`
	Best     *bound             `json:"best"`
	Refused  []refused          `json:"refused"`
	Warnings []warning          `json:"warnings"`
}

type (
	bound struct {
		Accountant accountant.Name      `json:"accountant"`
		Epsilon    *bracket             `json:"epsilon,omitempty"`
		Delta      *bracket             `json:"delta,omitempty"`
		Direction  accountant.Direction `json:"direction"`
		Note       string               `json:"note"`
		Directions []bound              `json:"directions,omitempty"` // each direction by itself, where they are told apart
	}
	bracket struct {
		Low      *float64 `json:"low"`
		Estimate *float64 `json:"estimate"`
		High     *float64 `json:"high"`
	}
	refused struct {
		Accountant accountant.Name `json:"accountant"`
		Why        string          `json:"why"`
		Unfinished bool            `json:"unfinished,omitempty"` // it was stopped, and may have a bound
	}
	warning struct {
		Text    string        `json:"text"`
		Instead privacy.Event `json:"instead,omitempty"`
		Bound   *bound        `json:"bound,omitempty"`
	}
)

// NewReport writes what r says at delta, or at epsilon where delta is nil.
func NewReport(r *accountant.Report, epsilon, delta *big.Rat) Report {
	out := Report{Plan: r.Plan.String(), Event: r.Plan, Relation: r.Neighbours,
		Bounds: []bound{}, Refused: []refused{}, Warnings: []warning{}}
	if delta != nil {
		out.Delta = Decimal(delta)
	} else {
		out.Epsilon = Decimal(epsilon)
	}
	for _, b := range r.Bounds {
		out.Bounds = append(out.Bounds, newBound(b))
	}
	if best, ok := r.Best(); ok {
		b := newBound(best)
		out.Best = &b
	}
	for _, f := range r.Refused {
		out.Refused = append(out.Refused, refused(f))
	}
	for _, w := range r.Warnings {
		said := warning{Text: w.Text, Instead: w.Instead}
		if w.Bound != nil {
			b := newBound(*w.Bound)
			said.Bound = &b
		}
		out.Warnings = append(out.Warnings, said)
	}
	return out
}

func newBound(b accountant.Bound) bound {
	out := bound{Accountant: b.Accountant, Direction: b.Direction, Note: b.Note}
	if b.Epsilon != nil {
		out.Epsilon = newBracket(*b.Epsilon)
	} else {
		out.Delta = newBracket(*b.Delta)
	}
	for _, d := range b.Directions {
		one := bound{Accountant: b.Accountant, Direction: d.Direction}
		if b.Epsilon != nil {
			one.Epsilon = newBracket(d.Bracket)
		} else {
			one.Delta = newBracket(d.Bracket)
		}
		out.Directions = append(out.Directions, one)
	}
	return out
}

// newBracket has null for what is infinite: no finite value is known.
func newBracket(b accountant.Bracket) *bracket {
	return &bracket{Finite(b.Low), Finite(b.Estimate), Finite(b.High)}
}

// Finite has nil for what JSON has no number for.
func Finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// Decimal writes a target as the number it is.
func Decimal(r *big.Rat) json.Number {
	f, _ := r.Float64()
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}
