package accountant

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/accountant/internal/work"
	"github.com/discreet-dp/discreet/privacy"
)

// Collected is what an observer sees of respondents whose reports were shuffled: the set of
// their reports by randomized response, with uniform answers, fakes, among them.
type Collected struct {
	// Response is the event of one report.
	Response privacy.RandomizedResponse
	// Respondents counts those who follow the protocol and tell the observer nothing.
	Respondents int64
	// Fakes counts their uniform answers, which each of them sends beside the report in a
	// number that does not depend on the answer.
	Fakes int64
}

// Epsilon returns the ε at δ of replacing one respondent's answer, and which theorem gives
// it: with fakes the privacy blanket, counting them (Balle, Bell, Gascón and Nissim, CRYPTO
// 2019, Lemma 5.3; Cheu and Zhilyaev, S&P 2022), if that is the least; what holds without
// fakes holds with them, since an observer could add his own.
func (c Collected) Epsilon(ctx context.Context, delta privacy.Delta) (Bracket, string, error) {
	return c.ask(ctx, delta.Rat(), true)
}

// Delta returns the δ at ε.
func (c Collected) Delta(ctx context.Context, epsilon privacy.Epsilon) (Bracket, string, error) {
	return c.ask(ctx, epsilon.Rat(), false)
}

func (c Collected) ask(ctx context.Context, at *big.Rat, isDelta bool) (b Bracket, theorem string, err error) {
	meter := work.New(ctx)
	err = meter.Do(Options{}.work(), func() (err error) {
		b, theorem, err = c.best(meter, at, isDelta)
		return err
	})
	return b, theorem, err
}

func (c Collected) best(meter *work.Meter, at *big.Rat, isDelta bool) (Bracket, string, error) {
	if err := c.Response.Validate(); err != nil {
		return Bracket{}, "", err
	}
	r, err := localRandomizer(meter, privacy.Shuffled{N: c.Respondents, Event: c.Response})
	if err != nil {
		return Bracket{}, "", err
	}
	if c.Fakes != 0 && r.Answers == 0 {
		return Bracket{}, "", fmt.Errorf("%v: fakes hide nothing of a response that rather lies", c.Response)
	}
	r.Fakes = c.Fakes
	x, exact := at.Float64()
	if !exact && x > 0 {
		x = math.Nextafter(x, 0) // less of δ, or of ε, is stricter
	}
	return bestShuffled(meter, c.Respondents, r, question{x, isDelta})
}
