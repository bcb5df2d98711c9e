// Package replay checks stored proofs. It searches for nothing and starts no solver,
// so that a program that only has to know whether code still keeps its claims can do
// without them.
//
// A proof is accepted if the checker of its kind accepts it for the function and the
// claim as they are now. The hash that is stored with it decides nothing: it tells a
// proof of something else from one that is wrong.
package replay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/absorb"
	"github.com/discreet-dp/discreet/verify/internal/certificate"
	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/fuse"
	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/prove"
	"github.com/discreet-dp/discreet/verify/internal/rank"
	"github.com/discreet-dp/discreet/verify/internal/ratio"
	"github.com/discreet-dp/discreet/verify/internal/rounds"
	"github.com/discreet-dp/discreet/verify/internal/tally"
)

// The kinds of proofs, by their checkers.
const (
	Ratio     = "ratio"     // package ratio
	Alignment = "alignment" // package prove, of the function that Subject gives
	Fused     = "fused"     // the same, of one that package fuse has rewritten
	Shares    = "shares"    // the same, of one whose budget is counted in shares
	Rank      = "rank"      // package rank, of the function that Subject gives
	Rounds    = "rounds"    // a Round
	Tally     = "tally"     // a Round, of the function that package tally gives
)

// The kinds of refutations, which are stored in the place of proofs and prove nothing.
const (
	Counterexample = "counterexample" // a pair and an event, which package exact evaluates
	Samples        = "samples"        // a pair, which package exact draws samples of
)

// A Round is the proof of one round of a loop, as package rounds takes it apart; a round may
// have rounds again.
type Round struct {
	Kind  string          `json:"kind"`
	Proof json.RawMessage `json:"proof"`
}

// Subject is the function that a proof of a kind is of: one that reveals the same, with
// factors of noise in its scale and, for Fused, what package fuse rewrites, for Shares a
// budget in shares.
func Subject(kind string, f *program.Function, c *claim.Claim) *program.Function {
	switch kind {
	case Alignment, Rank:
		return absorb.Factors(f, c.Requires)
	case Shares:
		return absorb.Shares(absorb.Factors(f, c.Requires), c.Requires)
	case Fused:
		return fuse.Rewrite(absorb.Factors(f, c.Requires))
	}
	return f
}

var (
	// ErrMissing is of a claim for which nothing is stored.
	ErrMissing = errors.New("no proof is stored")
	// ErrStale is of a proof of a function or a claim that has changed since.
	ErrStale = errors.New("the stored proof is of an older function or claim")
	// ErrRefuted is of a claim for which a counterexample is stored.
	ErrRefuted = errors.New("a counterexample is stored, and no proof")
	// ErrWrong is of a proof that does not prove the claim that it is stored for.
	ErrWrong = errors.New("the stored proof does not prove the claim")
)

// Check checks the proof that is stored for a function, nil if there is none.
func Check(ctx context.Context, f *program.Function, c *claim.Claim, e *certificate.Entry) error {
	if e == nil {
		return ErrMissing
	}
	if e.Program != Hash(f, c) {
		return ErrStale
	}
	return accept(ctx, f, c, e.Kind, e.Proof)
}

// accept hands a proof to the checker of its kind.
func accept(ctx context.Context, f *program.Function, c *claim.Claim, kind string, proof json.RawMessage) error {
	switch kind {
	case Counterexample, Samples:
		return ErrRefuted
	case Ratio:
		return check(proof, f, c, ratio.Check)
	case Rank:
		return check(proof, Subject(kind, f, c), c, func(f *program.Function, c *claim.Claim, proof rank.Certificate) error {
			return rank.Check(ctx, f, c, proof)
		})
	case Alignment, Fused, Shares:
		decoded, err := prove.Decode(proof)
		if err == nil {
			err = prove.Check(ctx, Subject(kind, f, c), c, decoded)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrWrong, err)
		}
		return nil
	case Rounds:
		r, ok := rounds.Of(f, c)
		if !ok {
			return fmt.Errorf("%w: the function has no rounds that are mechanisms of their own", ErrWrong)
		}
		return check(proof, r.Function, r.Claim, func(f *program.Function, c *claim.Claim, one Round) error {
			return accept(ctx, f, c, one.Kind, one.Proof)
		})
	case Tally:
		t, ok := tally.Of(f, c)
		if !ok {
			return fmt.Errorf("%w: the function does more with its records than to count them", ErrWrong)
		}
		return check(proof, t.Function, t.Claim, func(f *program.Function, c *claim.Claim, one Round) error {
			return accept(ctx, f, c, one.Kind, one.Proof)
		})
	}
	return fmt.Errorf("%w: there is no checker for proofs of kind %q", ErrWrong, kind)
}

// check decodes a proof and checks it.
func check[P any](text json.RawMessage, f *program.Function, c *claim.Claim, accept func(*program.Function, *claim.Claim, P) error) error {
	var proof P
	if err := json.Unmarshal(text, &proof); err != nil {
		return fmt.Errorf("%w: %w", ErrWrong, err)
	}
	if err := accept(f, c, proof); err != nil {
		return fmt.Errorf("%w: %w", ErrWrong, err)
	}
	return nil
}

// Hash is that under which the proof of a function is stored. It does not depend on
// comments, layout or the place in a file.
func Hash(f *program.Function, c *claim.Claim) string {
	var b strings.Builder
	b.WriteString(program.Print(f))
	for _, a := range c.Adjacent {
		fmt.Fprintf(&b, "adjacent %d %s", a.Relation, a.Input.Name)
		for _, end := range []program.Expression{a.Low, a.High} {
			fmt.Fprintf(&b, " %s", text(end))
		}
		b.WriteByte('\n')
	}
	for _, r := range c.Requires {
		fmt.Fprintf(&b, "requires %s\n", text(r))
	}
	if c.Cost != nil {
		fmt.Fprintf(&b, "cost %d %s, %s, %s\n", c.Cost.Measure, text(c.Cost.Epsilon), text(c.Cost.Delta), text(c.Cost.Rho))
	}
	for _, s := range c.Sensitivities {
		fmt.Fprintf(&b, "sensitivity %s %s %s\n", s.Input, text(s.Most), s.Norm)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

func text(x program.Expression) string {
	if x == nil {
		return "-"
	}
	return x.String()
}
