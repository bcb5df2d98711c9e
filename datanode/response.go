package datanode

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// RandomizedResponse has every row say one of the answers 0, 1, ... of its column, the
// true one with a known probability (mechanism.RandomizedResponse; its estimates are
// made from the answer). It shows how many rows there are, so it is for replace-one alone.
// A row whose number is no answer says one at random.
type RandomizedResponse struct {
	Column string
	// Answers is their number; 2 if it is not given.
	Answers int
	// Truth, or Epsilon, says how often the truth is told.
	Truth   *big.Rat
	Epsilon privacy.Epsilon
}

func (m RandomizedResponse) String() string {
	told := fmt.Sprintf("epsilon=%v", m.Epsilon)
	if m.Truth != nil {
		told = fmt.Sprintf("truth=%v", m.Truth)
	}
	return fmt.Sprintf("randomized_response(%q, answers=%d, %s)", m.Column, max(m.Answers, 2), told)
}

func (RandomizedResponse) access() {}

func (RandomizedResponse) declared() []Vouched { return nil }

func (m RandomizedResponse) release(s shape) (release, error) {
	r, err := mechanism.NewRandomizedResponse(mechanism.RandomizedResponseOptions{Answers: m.Answers, Truth: m.Truth, Epsilon: m.Epsilon})
	if err != nil {
		return release{}, err
	}
	return responses(m.String(), m.Column, s, r.Event(), func(bits noise.Bits, x float64) (float64, error) {
		answer := -1
		if i := int(x); float64(i) == x {
			answer = i
		}
		said, err := r.Respond(bits, answer)
		return float64(said), err
	})
}

// TwoCoin has every row say yes (1) or no (0) by two coins (mechanism.TwoCoin). A
// number that is not 0 is a yes.
type TwoCoin struct {
	Column        string
	First, Second *big.Rat
}

func (m TwoCoin) String() string {
	return fmt.Sprintf("two_coin(%q, first=%v, second=%v)", m.Column, m.First, m.Second)
}

func (TwoCoin) access() {}

func (TwoCoin) declared() []Vouched { return nil }

func (m TwoCoin) release(s shape) (release, error) {
	c, err := mechanism.NewTwoCoin(mechanism.TwoCoinOptions{First: m.First, Second: m.Second})
	if err != nil {
		return release{}, err
	}
	return responses(m.String(), m.Column, s, c.Event(), func(bits noise.Bits, x float64) (float64, error) {
		return said(c.Respond(bits, zeroed(x) != 0))
	})
}

// BinaryResponse has every row say yes (1) or no (0), each truly with a probability of
// its own (mechanism.BinaryResponse). A number that is not 0 is a yes.
type BinaryResponse struct {
	Column  string
	No, Yes *big.Rat
}

func (m BinaryResponse) String() string {
	return fmt.Sprintf("binary_response(%q, no=%v, yes=%v)", m.Column, m.No, m.Yes)
}

func (BinaryResponse) access() {}

func (BinaryResponse) declared() []Vouched { return nil }

func (m BinaryResponse) release(s shape) (release, error) {
	b, err := mechanism.NewBinaryResponse(mechanism.BinaryResponseOptions{No: m.No, Yes: m.Yes})
	if err != nil {
		return release{}, err
	}
	return responses(m.String(), m.Column, s, b.Event(), func(bits noise.Bits, x float64) (float64, error) {
		return said(b.Respond(bits, zeroed(x) != 0))
	})
}

func said(yes bool, err error) (float64, error) {
	if yes {
		return 1, err
	}
	return 0, err
}

// responses are those of all rows. A replaced row changes one response, so the event of
// one is that of all.
func responses(statement, column string, s shape, event privacy.Event, respond func(noise.Bits, float64) (float64, error)) (release, error) {
	if !s.replaced {
		return release{}, fmt.Errorf("%w: responses show how many rows there are, so a row may only be replaced (%v)", ErrQuery, privacy.ReplaceOne)
	}
	i, err := s.number(column)
	if err != nil {
		return release{}, err
	}
	events := []privacy.Event{event}
	return release{
		statement: statement, events: events,
		answer: func(bits noise.Bits, f *frame) (Answer, error) {
			a := Answer{Statement: statement, Events: events, Values: make([]float64, f.rows)}
			for r, x := range f.columns[i].numbers {
				if a.Values[r], err = respond(bits, x); err != nil {
					return Answer{}, err
				}
			}
			return a, nil
		},
	}, nil
}
