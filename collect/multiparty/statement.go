package multiparty

import (
	"fmt"
	"math/big"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Statement is what is asked, and what it may cost at each holder.
type Statement struct {
	Text       string          `json:"text"`
	Epsilon    privacy.Epsilon `json:"epsilon"`
	Delta      privacy.Delta   `json:"delta"`
	Rho        privacy.Rho     `json:"rho"`
	Weights    []string        `json:"weights,omitempty"`
	Confidence float64         `json:"confidence"`
	Together   bool            `json:"together,omitempty"`
	Parameters []parameter     `json:"parameters,omitempty"`
}

// A parameter is the value of $1, $2 ...; nil text is NULL.
type parameter struct {
	Type  string  `json:"type"`
	Array bool    `json:"array,omitempty"` // of elements of the type
	Text  *string `json:"text"`
}

// NewStatement writes down a statement and its options. What the options do not say is taken
// from no catalog: holders have different ones.
func NewStatement(text string, o *discreet.QueryOptions) (Statement, error) {
	s := Statement{Text: text, Epsilon: o.Spend.Epsilon, Delta: o.Spend.Delta, Rho: o.Spend.Rho, Confidence: o.Confidence, Together: o.Together}
	if s.Confidence == 0 {
		s.Confidence = 0.95
	}
	for _, w := range o.Weights {
		s.Weights = append(s.Weights, w.RatString())
	}
	for _, p := range o.Parameters {
		written := parameter{Text: p.Text, Array: p.Array}
		if p.Type.Kind != sqltype.Null {
			written.Type = p.Type.String()
		}
		s.Parameters = append(s.Parameters, written)
	}
	return s, nil
}

// options are a statement's for the account that asks.
func (s *Statement) options(account string) (*discreet.QueryOptions, error) {
	o := &discreet.QueryOptions{Spend: discreet.Spend{Epsilon: s.Epsilon, Delta: s.Delta, Rho: s.Rho}, NoDefault: true, Confidence: s.Confidence, Together: s.Together, Analyst: account}
	if !(s.Confidence > 0 && s.Confidence < 1) {
		return nil, problem(invalidMessage, "the confidence is not between 0 and 1")
	}
	for _, text := range s.Weights {
		w, err := numeric.ParseRat(text)
		if err != nil {
			return nil, problem(invalidMessage, "a weight cannot be read")
		}
		o.Weights = append(o.Weights, new(big.Rat).Set(w))
	}
	for _, p := range s.Parameters {
		typed := discreet.Parameter{Text: p.Text, Array: p.Array}
		if p.Type != "" {
			t, err := sqltype.Parse(p.Type)
			if err != nil {
				return nil, problem(invalidMessage, fmt.Sprintf("the type of a parameter cannot be read: %q", p.Type))
			}
			typed.Type = t
		}
		o.Parameters = append(o.Parameters, typed)
	}
	return o, nil
}
