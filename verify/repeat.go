package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/verify/internal/certificate"
	"github.com/discreet-dp/discreet/verify/internal/exact"
	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/replay"
)

// A refutation is a counterexample as it is stored: what evaluates to one again.
type refutation struct {
	First  program.Inputs `json:"inputs"`
	Second program.Inputs `json:"neighbour"`
	Event  *exact.Event   `json:"event,omitempty"`
}

// keep stores a counterexample in the place of a proof, so that it can be repeated.
func (d *decision) keep(kind string, x *exact.Counterexample) {
	r := refutation{First: x.First, Second: x.Second}
	if kind == replay.Counterexample {
		r.Event = &x.Condition
	}
	if err := d.store(kind, r); err != nil {
		d.note(err.Error())
	}
}

// repeat evaluates a stored counterexample, which refutes only if it does so again; of samples,
// new ones are drawn.
func (d *decision) repeat(ctx context.Context, e *certificate.Entry) error {
	f, c := d.unit.Function, d.unit.Claim
	if e.Program != replay.Hash(f, c) {
		return errors.New("the stored counterexample is of an older function or claim")
	}
	if err := short(e.Proof); err != nil {
		return err
	}
	var stored refutation
	if err := json.Unmarshal(e.Proof, &stored); err != nil {
		return fmt.Errorf("read stored counterexample: %w", err)
	}
	pair := program.Pair{First: stored.First, Second: stored.Second}
	switch e.Kind {
	case replay.Counterexample:
		if stored.Event == nil {
			return errors.New("the stored counterexample has no event")
		}
		x, err := exact.Repeat(ctx, f, c, pair, stored.Event)
		if err != nil {
			return fmt.Errorf("the stored counterexample does not refute the claim: %w", err)
		}
		d.refuted(Refuted, x)
	case replay.Samples:
		x, _, err := exact.Statistical(ctx, f, c, []program.Pair{pair}, exact.Sampling{Source: noise.NewSource(noise.System()), Failure: sampleFailure, Pairs: 1})
		if err != nil {
			return fmt.Errorf("draw samples for the stored counterexample: %w", err)
		}
		if x == nil {
			return errors.New("samples for the stored counterexample do not exclude the claim this time")
		}
		d.sampled(x)
	}
	d.found = e
	return nil
}

// maxDigits is how long the numbers of a counterexample may be.
const maxDigits = 10_000

// short refuses numbers that would not end: what is stored may be anybody's text, and 1e999999999
// has as many digits as it says.
func short(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	for {
		token, err := decoder.Token()
		switch token := token.(type) {
		case string:
			if token != "" && (len(token) > maxDigits || strings.Trim(token, "-0123456789/") != "" && strings.ContainsAny(token[:1], "-+.0123456789")) {
				return fmt.Errorf("read stored counterexample: %.20q is no fraction", token)
			}
		case json.Number:
			return fmt.Errorf("read stored counterexample: %.20q is no text", token)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read stored counterexample: %w", err)
		}
	}
}
