package audit

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/noise"
)

// TrialOptions say what Trials plays.
type TrialOptions struct {
	Attack Attack
	// Oracle answers about a secret, one oracle a run: a run has its own budget.
	Oracle func(secret []bool) (Oracle, error)
	// Units and Runs are how many; both required.
	Units, Runs int
	// Others, if given, are the bits of all units but the target, as in a database
	// that exists; drawn anew for each run if not.
	Others []bool
	// Target is the unit under attack.
	Target int
	// Progress, if given, is told how many runs are over.
	Progress func(runs int)
}

// Trials plays a game that is fair to the attack: in each run the target's bit is a
// fair coin, the attack guesses, and where it was refused all it asked it guesses by a
// coin. SuccessBound and PValue say how often it may be right, given ε of a run.
func Trials(ctx context.Context, bits noise.Bits, o TrialOptions) (Counts, error) {
	switch {
	case o.Attack == nil || o.Oracle == nil:
		return Counts{}, bad("no attack or no oracle")
	case o.Runs < 1:
		return Counts{}, bad("%d runs", o.Runs)
	case o.Others != nil && len(o.Others) != o.Units:
		return Counts{}, bad("bits of %d units, of %d", len(o.Others), o.Units)
	}
	if err := checkTarget(o.Units, o.Target); err != nil {
		return Counts{}, err
	}
	var c Counts
	coin := coins{bits: bits}
	for run := range o.Runs {
		if err := ctx.Err(); err != nil {
			return Counts{}, err
		}
		secret := append([]bool(nil), o.Others...)
		if o.Others == nil {
			var err error
			if secret, err = Bits(bits, o.Units); err != nil {
				return Counts{}, err
			}
		}
		member, err := coin.flip()
		if err != nil {
			return Counts{}, fmt.Errorf("draw the target's bit: %w", err)
		}
		secret[o.Target] = member
		oracle, err := o.Oracle(secret)
		if err != nil {
			return Counts{}, err
		}
		guess, err := o.Attack(ctx, oracle, o.Units, o.Target)
		if errors.Is(err, ErrRefused) {
			guess, err = coin.flip()
		}
		if err != nil {
			return Counts{}, err
		}
		c.add(member, guess)
		if o.Progress != nil {
			o.Progress(run + 1)
		}
	}
	return c, nil
}

func (c *Counts) add(member, guess bool) {
	if member {
		c.Members++
	} else {
		c.Others++
	}
	switch {
	case member && guess:
		c.TruePositives++
	case guess:
		c.FalsePositives++
	}
}
