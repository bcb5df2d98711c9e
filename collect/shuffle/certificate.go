package shuffle

import (
	"context"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/privacy"
)

// A Certificate says what is guaranteed of one respondent's answer, to whom, by which theorem,
// and what must be true for it.
type Certificate struct {
	Local  privacy.Epsilon `json:"local"` // ε₀: without any assumption, of a bundle by itself
	Claims []Claim         `json:"claims"`
	// Respondents are those of a batch, at least; Honest of them are declared not to collude:
	// an assumption, which nobody can see.
	Respondents int64 `json:"respondents"`
	Honest      int64 `json:"honest"`
	// Without says why nothing but the local ε is claimed; "" where more is.
	Without string `json:"without,omitempty"`
}

// A Claim is a guarantee under an assumption about who enrols, the issuer and shufflers.
type Claim struct {
	If      string        `json:"if"`
	Honest  int64         `json:"honest"` // so many respondents of a batch do not collude
	Against string        `json:"against"`
	Epsilon float64       `json:"epsilon"`
	AtLeast float64       `json:"at_least"` // exact of a real pair of data sets: no valid bound is below it
	Delta   privacy.Delta `json:"delta"`
	Theorem string        `json:"theorem"`
}

// Certify says what is guaranteed. It depends on the question alone, so that respondents can
// read it before they answer: batches have the least size, and each respondent is in one.
//
// An observer who is told by t colluders what they sent subtracts their messages from the set,
// so that batch−t respondents are left for the theorem. A token of each, one for whoever is
// enrolled, keeps a dishonest shuffler from filling a batch with inventions, and an honest
// one verifies that the batch is large before it passes it on: without these a batch may be
// one respondent's report and others that the observer knows, and the local ε alone is left.
// An issuer who signs for people that there are not could do the same, and so could whoever
// enrols respondents, by enrolling inventions: both are named.
//
// With crowds the last shuffler reads the crowd beside a bundle's messages, and a respondent
// whose crowd nobody else has is known by it. So the last shuffler must be honest, and nothing
// is claimed for the first alone. The crowd's own theorem counts nobody's collusion.
func (p *Protocol) Certify(ctx context.Context) (*Certificate, error) {
	c := &Certificate{Local: p.response.Epsilon(), Respondents: int64(p.Batch), Honest: int64(p.Batch - p.Colluders)}
	if !p.Tokens {
		c.Without, c.Honest = "no token of each enrolled respondent is verified: reports could be invented, to isolate one", 0
		return c, nil
	}
	response, ok := p.Event().(privacy.RandomizedResponse)
	if !ok {
		return nil, fmt.Errorf("certify: the event %v is no randomized response", p.Event())
	}
	last := accountant.Collected{Response: response, Respondents: c.Honest, Fakes: c.Honest * int64(p.Fakes)}
	b, theorem, err := last.Epsilon(ctx, p.Delta)
	if err != nil {
		return nil, fmt.Errorf("certify: %w", err)
	}
	const office = "the issuer, whoever enrols respondents and "
	one := Claim{If: office + "the last shuffler are honest", Honest: c.Honest, Against: "the analyzer, the other shuffler and all colluders together",
		Epsilon: b.High, AtLeast: b.Low, Delta: p.Delta, Theorem: theorem}
	switch {
	case p.crowd != nil:
		one.If += ", the crowd does not depend on the answer"
	case p.Fakes == 0:
		one.If = office + "any one shuffler are honest"
	}
	c.Claims = append(c.Claims, one)
	if p.Fakes > 0 && p.crowd == nil {
		// Bundles are mixed whole by the first shuffler: of a bundle its ε₀ alone is known.
		event := privacy.Shuffled{N: c.Honest, Event: privacy.Pure{Epsilon: c.Local}}
		r, err := accountant.Epsilon(ctx, event, float(p.Delta.Rat()), accountant.Options{Neighbours: privacy.ReplaceOne, Accountant: accountant.PLD})
		if err != nil {
			return nil, fmt.Errorf("certify: %w", err)
		}
		best, ok := r.Best()
		if !ok {
			return nil, fmt.Errorf("certify: %w", accountant.ErrNoBound)
		}
		c.Claims = append(c.Claims, Claim{If: office + "the first shuffler are honest", Honest: c.Honest, Against: one.Against, Epsilon: best.Epsilon.High, Delta: p.Delta, Theorem: best.Note})
	}
	if p.crowd != nil {
		delta, err := privacy.NewDelta(new(big.Rat).Add(p.crowd.Delta.Rat(), p.crowd.Delta.Rat()))
		if err != nil {
			return nil, err
		}
		c.Claims = append(c.Claims, Claim{If: office + "the last shuffler are honest", Honest: c.Respondents, Against: "the analyzer, of answer and crowd together",
			Epsilon: 2 * (c.Local.Float64() + p.crowd.Epsilon.Float64()) * (1 + 0x1p-40), Delta: delta, // rounded up
			Theorem: "truncated discrete Laplace noise on two crowds, and the local ε in each"})
	}
	return c, nil
}
