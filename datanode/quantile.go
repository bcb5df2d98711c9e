package datanode

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// Quantiles chooses quantiles of a column among Lower, Lower+Step, ... (mechanism.Quantile).
type Quantiles struct {
	Column             string
	Lower, Upper, Step *big.Rat
	Quantiles          []*big.Rat // ascending, such as 1/2 for the median
	Epsilon            privacy.Epsilon
}

func (m Quantiles) String() string {
	return fmt.Sprintf("quantiles(%q at %v in [%v, %v] by %v, epsilon=%v)", m.Column, m.Quantiles, m.Lower, m.Upper, m.Step, m.Epsilon)
}

func (Quantiles) access() {}

func (Quantiles) declared() []Vouched { return nil }

func (m Quantiles) release(s shape) (release, error) {
	i, err := s.number(m.Column)
	if err != nil {
		return release{}, err
	}
	o := mechanism.QuantileOptions{Lower: m.Lower, Upper: m.Upper, Step: m.Step, Quantiles: m.Quantiles, Epsilon: m.Epsilon}
	if s.replaced {
		o.Neighbours = privacy.ReplaceOne
	}
	q, err := mechanism.NewQuantile(o)
	if err != nil {
		return release{}, err
	}
	a := Answer{Statement: m.String(), Events: []privacy.Event{q.Event()}}
	for _, r := range m.Quantiles {
		a.Labels = append(a.Labels, r.RatString())
	}
	return release{
		statement: a.Statement, events: a.Events,
		answer: func(bits noise.Bits, f *frame) (_ Answer, err error) {
			a := a
			a.Values, err = q.Choose(bits, f.columns[i].numbers)
			return a, err
		},
	}, nil
}
