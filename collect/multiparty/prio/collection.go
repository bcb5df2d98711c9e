package prio

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A Begun is a batch that a collection has closed. Aggregators have the same contributions if
// count and checksum are the same; who collects compares them before anything is charged.
type Begun struct {
	Count    int64  `json:"count"`
	Checksum []byte `json:"checksum"`
	// Mark names the noise that was drawn for the collection. It is random.
	Mark []byte `json:"mark"`
}

// Begin closes a batch for a collection, and draws its noise, once: asked again, the same
// collection gets the same answer, and another is refused. Nothing is charged yet, and nothing
// told but how many contributions there are. The batch must have the least number of them, the
// budget must allow the collection, and total and noise of all aggregators must fit the field:
// with epsilon 1 numbers to some 2^48 do.
func (b *Buckets) Begin(ctx context.Context, collection, batch string) (out *Begun, err error) {
	if collection == "" {
		return nil, errors.New("begin collection: it has no name")
	}
	err = b.In(ctx, func(tx *sql.Tx) error {
		out, err = b.beginIn(ctx, tx, collection, batch)
		return err
	})
	var r Refusal
	if err != nil && !errors.As(err, &r) {
		err = fmt.Errorf("begin collection: %w", err)
	}
	return out, err
}

func (b *Buckets) beginIn(ctx context.Context, tx *sql.Tx, collection, batch string) (*Begun, error) {
	k, err := b.bucket(ctx, tx, batch)
	if err != nil {
		return nil, err
	}
	switch {
	case k.closed() && k.collection != collection:
		return nil, Refusal(BatchOverlap)
	case k.closed():
		return &Begun{k.count, k.checksum[:], k.mark}, nil
	case k.count < b.Least:
		return nil, Refusal(BatchSize)
	}
	// A total beyond half the prime would be read as another one, with the wrong sign.
	f := b.Circuit.Field()
	if holds, err := f.Holds(k.count, b.Circuit.most(), b.Aggregators, b.Law); err != nil {
		return nil, err
	} else if !holds {
		return nil, fmt.Errorf("%d contributions of up to %d, with noise, can be more than the field of the circuit holds", k.count, b.Circuit.most())
	}
	if _, err := b.charged(ctx, tx); err != nil {
		return nil, err
	}
	drawn := f.Zero(b.Circuit.Values())
	if err := f.AddNoise(noise.System(), drawn, b.Law); err != nil {
		return nil, err
	}
	mark := make([]byte, 16)
	if _, err := entropy.New().Read(mark); err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE buckets SET collection = ?, mark = ?, noise = ? WHERE batch = ?", collection, mark, f.Write(drawn), batch); err != nil {
		return nil, err
	}
	return &Begun{k.count, k.checksum[:], mark}, record(ctx, tx)
}

// A Collected is an aggregator's noisy share of a batch.
type Collected struct {
	Share    []byte `json:"share"`
	Count    int64  `json:"count"`
	Checksum []byte `json:"checksum"`
}

// Collect charges a collection that was begun, adds the whole noise that was drawn for it to this
// aggregator's share, and forgets both, once: asked again, it gives the same bytes. mark is that
// of the noise: a state that was restored from an older copy has other noise or none, and is
// refused, since who has the same total under two noises knows more than one was charged for.
//
// Theorem. Let one aggregator follow the protocol. What all others and the collector have of a
// batch is its shares, which are independent of the contributions given the total, and the
// total with that aggregator's noise. Count and checksum are functions of the names, which clients
// draw at random and which neighbours share. So between neighbours that replace what one name
// contributes, the collection reveals the law's event, whatever noise others add (package
// multiparty's addNoise has the argument).
func (b *Buckets) Collect(ctx context.Context, collection, batch string, mark []byte) (out *Collected, err error) {
	err = b.In(ctx, func(tx *sql.Tx) error {
		out, err = b.collectIn(ctx, tx, collection, batch, mark)
		return err
	})
	var r Refusal
	if err != nil && !errors.As(err, &r) {
		err = fmt.Errorf("collect batch: %w", err)
	}
	return out, err
}

func (b *Buckets) collectIn(ctx context.Context, tx *sql.Tx, collection, batch string, mark []byte) (*Collected, error) {
	k, err := b.bucket(ctx, tx, batch)
	switch {
	case err != nil:
		return nil, err
	case k.closed() && k.collection != collection:
		return nil, Refusal(BatchOverlap)
	case !k.closed() || !bytes.Equal(k.mark, mark):
		return nil, Refusal(Restored)
	case k.collected != nil:
		var out Collected
		return &out, json.Unmarshal(k.collected, &out)
	}
	spent, err := b.charged(ctx, tx)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE task SET spent = ?", spent); err != nil {
		return nil, err
	}
	f := b.Circuit.Field()
	if err := f.Add(k.share, k.noise); err != nil {
		return nil, err
	}
	out := &Collected{f.Write(k.share), k.count, k.checksum[:]}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE buckets SET share = x'', noise = NULL, collected = ? WHERE batch = ?", text, batch); err != nil {
		return nil, err
	}
	return out, record(ctx, tx)
}

// Has says how many contributions a batch has, and which.
func (b *Buckets) Has(ctx context.Context, batch string) (out Begun, err error) {
	err = b.In(ctx, func(tx *sql.Tx) error {
		k, err := b.bucket(ctx, tx, batch)
		if err == nil {
			out = Begun{Count: k.count, Checksum: k.checksum[:]}
		}
		return err
	})
	return out, err
}

// Collected is what a collection that was made gave away; nil if there is none of this name.
func (b *Buckets) Collected(ctx context.Context, collection, batch string) (out *Collected, err error) {
	err = b.In(ctx, func(tx *sql.Tx) error {
		k, err := b.bucket(ctx, tx, batch)
		if err != nil || k.collection != collection || k.collected == nil {
			return err
		}
		out = &Collected{}
		return json.Unmarshal(k.collected, out)
	})
	return out, err
}

// hides refuses a law that was made for less than a unit moves the aggregate by: its event would
// say too little.
func hides(law mechanism.Additive, d Distance) error {
	var of, need *big.Rat
	switch e := law.Event().(type) {
	case privacy.DiscreteLaplace:
		of, need = e.Sensitivity, d.L1
	case privacy.DiscreteGaussian:
		of, need = e.SensitivitySquared, d.L2Squared
	default:
		return errors.New("the noise is neither Laplace nor Gaussian on the integers")
	}
	if need == nil || need.Sign() <= 0 {
		return errors.New("nobody says how far a unit moves the aggregate in the norm of this noise")
	}
	if of.Cmp(need) < 0 {
		return fmt.Errorf("the noise hides a distance of %s, and a unit moves the aggregate by %s", of.RatString(), need.RatString())
	}
	return nil
}

// charged is what was spent with one more collection, if the budget allows it.
func (b *Buckets) charged(ctx context.Context, tx *sql.Tx) ([]byte, error) {
	cost, err := b.filter.Charge([]privacy.Event{b.Law.Event()}, privacy.Delta{})
	if err != nil {
		return nil, fmt.Errorf("charge collection: %w", err)
	}
	var text []byte
	var spent filter.Total
	if err := tx.QueryRowContext(ctx, "SELECT spent FROM task").Scan(&text); err != nil {
		return nil, fmt.Errorf("charge collection: %w", err)
	}
	if err := json.Unmarshal(text, &spent); err != nil {
		return nil, fmt.Errorf("charge collection: %w", err)
	}
	if spent = spent.Add(cost); !spent.Within(b.filter.Budget()) {
		return nil, Refusal(Exhausted)
	}
	return json.Marshal(spent)
}

// Remaining is what collections may still reveal.
func (b *Buckets) Remaining(ctx context.Context) (filter.Amounts, error) {
	var text []byte
	var spent filter.Total
	if err := b.db.QueryRowContext(ctx, "SELECT spent FROM task").Scan(&text); err != nil {
		return filter.Amounts{}, fmt.Errorf("read what is left: %w", err)
	}
	if err := json.Unmarshal(text, &spent); err != nil {
		return filter.Amounts{}, fmt.Errorf("read what is left: %w", err)
	}
	return b.filter.Amounts(spent.Left(b.filter.Budget())), nil
}
