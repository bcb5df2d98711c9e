package postgres

import (
	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/sqltype"
)

// request is what the settings say about the next question. An idempotency key serves it alone.
func (s *session) request() (gateway.Options, error) {
	o, err := s.wishes()
	if err == nil {
		o.IdempotencyKey = s.settings.show(idempotencyKey)
		s.forget(idempotencyKey)
	}
	return o, err
}

const idempotencyKey = "discreet.idempotency_key"

// wishes is what the settings say about every question.
func (s *session) wishes() (gateway.Options, error) {
	var o gateway.Options
	var err error
	read := func(name string, take func(string) error) {
		if v := s.settings.show(name); v != "" && err == nil {
			err = take(v)
		}
	}
	read("discreet.epsilon", func(v string) (err error) { o.Spend.Epsilon, err = privacy.ParseEpsilon(v); return err })
	read("discreet.delta", func(v string) (err error) { o.Spend.Delta, err = privacy.ParseDelta(v); return err })
	read("discreet.rho", func(v string) (err error) { o.Spend.Rho, err = privacy.ParseRho(v); return err })
	read("discreet.accuracy", func(v string) (err error) { o.Accuracy, err = discreet.ParseAccuracy(v); return err })
	read("discreet.weights", func(v string) (err error) { o.Weights, err = parseWeights(v); return err })
	read("discreet.confidence", func(v string) error {
		f, err := sqltype.ParseValue(sqltype.Of(sqltype.Double), v)
		if err == nil {
			o.Confidence = f.(float64)
		}
		return err
	})
	if err != nil { // every value was read when it was set
		return o, fail("22023", "a setting of this session cannot be read").reason(err.Error())
	}
	if o.Spend.Epsilon.Sign() > 0 && o.Spend.Rho.Sign() > 0 {
		return o, fail("22023", "discreet.epsilon and discreet.rho are both set").
			reason("a statement spends in one measure").hint("RESET the one that is not meant")
	}
	o.Fresh = s.settings.show("discreet.fresh") == "on"
	o.Free = s.settings.show("discreet.free") == "on"
	return o, nil
}

// forget removes a setting so that no rollback restores it.
func (s *session) forget(name string) {
	layers := []settings{s.settings}
	if s.transaction.begun != nil {
		layers = append(layers, *s.transaction.begun)
	}
	for _, p := range s.transaction.points {
		layers = append(layers, p.settings)
	}
	for _, l := range layers {
		delete(l.local, name)
		delete(l.session, name)
		delete(l.start, name)
	}
}
