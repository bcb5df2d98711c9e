package prio

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/store"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// The names of what becomes of a contribution, and of a refused collection, are DAP's.
const (
	Accepted       = "accepted"
	ReportReplayed = "report_replayed"  // it was counted before, in this batch or another
	BatchCollected = "batch_collected"  // its batch was collected already
	BatchSize      = "invalidBatchSize" // too few contributions
	BatchOverlap   = "batchOverlap"     // collected already, by another collection
	JobMismatch    = "invalidMessage"   // the job was of other contributions
	Exhausted      = "budgetExhausted"
)

// A Refusal is a collection, or a job, that is refused. Its text is one of the names above.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// Buckets are one aggregator's batches of one task, on disk: which contributions were seen, the
// sum of their shares, how many, and a checksum of their names; what was collected; and what
// was spent. Every step is one transaction, and asked again it answers the same.
type Buckets struct {
	circuit Circuit
	filter  filter.Filter
	db      *sql.DB
}

const bucketSchema = `
CREATE TABLE IF NOT EXISTS task (circuit BLOB NOT NULL, spent BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS seen (nonce BLOB PRIMARY KEY) STRICT;
CREATE TABLE IF NOT EXISTS jobs (job TEXT PRIMARY KEY, digest BLOB NOT NULL, outcomes BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS buckets (batch TEXT PRIMARY KEY, share BLOB NOT NULL, count INTEGER NOT NULL, checksum BLOB NOT NULL, collection TEXT, collected BLOB) STRICT;
`

// OpenBuckets opens the state of a task, and makes it if there is none. What collections may
// reveal in all is the budget's. Who takes part is public: a collection says how many there are,
// and a checksum of their names. So a budget is of neighbours that replace one contribution by
// another of the same name, and one that hides who takes part is refused.
func OpenBuckets(ctx context.Context, path string, c Circuit, b filter.Budget) (*Buckets, error) {
	if err := c.check(2); err != nil {
		return nil, err
	}
	if b.Neighbours != privacy.ReplaceOne {
		return nil, errors.New("open buckets: a collection says how many contribute, so its budget is one of neighbours that replace a contribution")
	}
	f, err := filter.New(b)
	if err != nil {
		return nil, fmt.Errorf("open buckets: %w", err)
	}
	db, err := store.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open buckets: %w", err)
	}
	out := &Buckets{c, f, db}
	if err := out.begin(ctx, b); err != nil {
		return nil, errors.Join(fmt.Errorf("open buckets: %w", err), db.Close())
	}
	return out, nil
}

// begin makes the tables, and refuses those of another task.
func (b *Buckets) begin(ctx context.Context, budget filter.Budget) error {
	own, err := json.Marshal(struct {
		Circuit Circuit
		Budget  filter.Budget
	}{b.circuit, budget})
	if err != nil {
		return err
	}
	spent, err := json.Marshal(filter.Total{})
	if err != nil {
		return err
	}
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, bucketSchema); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO task SELECT ?, ? WHERE NOT EXISTS (SELECT 1 FROM task)", own, spent); err != nil {
		return err
	}
	var is []byte
	if err := tx.QueryRowContext(ctx, "SELECT circuit FROM task").Scan(&is); err != nil {
		return err
	}
	if !bytes.Equal(is, own) {
		return errors.New("the state is of another circuit or budget")
	}
	return tx.Commit()
}

// Close closes the state.
func (b *Buckets) Close() error { return b.db.Close() }

// A Prepared is a contribution that was found valid: its name, and this aggregator's share.
type Prepared struct {
	Nonce [16]byte
	Share Vector
}

// Commit counts contributions in a batch, and says of each what became of it. A job that comes
// again, as after a crash, is answered as it was, and counts once.
func (b *Buckets) Commit(ctx context.Context, job, batch string, all []Prepared) (outcomes []string, err error) {
	f := b.circuit.Field()
	digest := sha256.New()
	fmt.Fprintf(digest, "%q", batch)
	for _, c := range all {
		if len(c.Share) != b.circuit.Values() {
			return nil, errVector
		}
		digest.Write(c.Nonce[:])
		digest.Write(f.Write(c.Share))
	}
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("commit job: %w", err)
	}
	defer tx.Rollback()
	var was, stored []byte
	switch err := tx.QueryRowContext(ctx, "SELECT digest, outcomes FROM jobs WHERE job = ?", job).Scan(&was, &stored); {
	case err == nil && !bytes.Equal(was, digest.Sum(nil)):
		return nil, Refusal(JobMismatch)
	case err == nil:
		return outcomes, json.Unmarshal(stored, &outcomes)
	case !errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("commit job: %w", err)
	}
	bucket, err := b.bucket(ctx, tx, batch)
	if err != nil {
		return nil, fmt.Errorf("commit job: %w", err)
	}
	for _, c := range all {
		if bucket.collected {
			outcomes = append(outcomes, BatchCollected)
			continue
		}
		done, err := tx.ExecContext(ctx, "INSERT INTO seen VALUES (?) ON CONFLICT DO NOTHING", c.Nonce[:])
		if err != nil {
			return nil, fmt.Errorf("commit job: %w", err)
		}
		if n, err := done.RowsAffected(); err != nil {
			return nil, fmt.Errorf("commit job: %w", err)
		} else if n == 0 {
			outcomes = append(outcomes, ReportReplayed)
			continue
		}
		if err := f.Add(bucket.share, c.Share); err != nil {
			return nil, err
		}
		bucket.count++
		for i, x := range sha256.Sum256(c.Nonce[:]) {
			bucket.checksum[i] ^= x
		}
		outcomes = append(outcomes, Accepted)
	}
	text, err := json.Marshal(outcomes)
	if err != nil {
		return nil, fmt.Errorf("commit job: %w", err)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO buckets VALUES (?, ?, ?, ?, NULL, NULL) ON CONFLICT (batch) DO UPDATE SET share = excluded.share, count = excluded.count, checksum = excluded.checksum",
		batch, f.Write(bucket.share), bucket.count, bucket.checksum[:]); err != nil {
		return nil, fmt.Errorf("commit job: %w", err)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO jobs VALUES (?, ?, ?)", job, digest.Sum(nil), text); err != nil {
		return nil, fmt.Errorf("commit job: %w", err)
	}
	return outcomes, tx.Commit()
}

// A bucket is a batch's row.
type bucket struct {
	share     Vector
	count     int64
	checksum  [sha256.Size]byte
	collected bool
}

func (b *Buckets) bucket(ctx context.Context, tx *sql.Tx, batch string) (*bucket, error) {
	out := &bucket{share: b.circuit.Field().Zero(b.circuit.Values())}
	var share, checksum []byte
	var collection sql.NullString
	err := tx.QueryRowContext(ctx, "SELECT share, count, checksum, collection FROM buckets WHERE batch = ?", batch).Scan(&share, &out.count, &checksum, &collection)
	if errors.Is(err, sql.ErrNoRows) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	if out.collected = collection.Valid; out.collected {
		return out, nil // its share is gone
	}
	copy(out.checksum[:], checksum)
	out.share, err = b.circuit.Field().Read(share, b.circuit.Values())
	return out, err
}

// A Collected is an aggregator's noisy share of a batch. Aggregators have the same contributions
// if count and checksum are the same; who adds the shares up compares them first.
type Collected struct {
	Share    []byte `json:"share"`
	Count    int64  `json:"count"`
	Checksum []byte `json:"checksum"`
}

// Collect charges a collection of a batch, adds the whole noise of a law to this aggregator's
// share, and closes the batch, once: asked again, the same collection gets the same bytes, and
// another is refused. The batch must have at least so many contributions, and total and noise
// of 255 aggregators must fit the field: with epsilon 1 numbers to some 2^48 do.
//
// Theorem. Let one aggregator follow the protocol. What all others and the collector have of a
// batch is its shares, which are independent of the contributions given the total, and the
// total with that aggregator's noise. Count and checksum are functions of the names, which clients
// draw at random and which neighbours share. So between neighbours that replace what one name
// contributes, the collection reveals the law's event, whatever noise others add (package
// multiparty's addNoise has the argument).
func (b *Buckets) Collect(ctx context.Context, collection, batch string, least int64, law mechanism.Additive) (*Collected, error) {
	if least < 1 {
		return nil, errors.New("collect batch: one contribution is the least")
	}
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("collect batch: %w", err)
	}
	defer tx.Rollback()
	var by sql.NullString
	var stored []byte
	err = tx.QueryRowContext(ctx, "SELECT collection, collected FROM buckets WHERE batch = ?", batch).Scan(&by, &stored)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, Refusal(BatchSize)
	case err != nil:
		return nil, fmt.Errorf("collect batch: %w", err)
	case by.Valid && by.String != collection:
		return nil, Refusal(BatchOverlap)
	case by.Valid:
		var out Collected
		return &out, json.Unmarshal(stored, &out)
	}
	bucket, err := b.bucket(ctx, tx, batch)
	if err != nil {
		return nil, fmt.Errorf("collect batch: %w", err)
	}
	if bucket.count < least {
		return nil, Refusal(BatchSize)
	}
	// A total beyond half the prime would be read as another one, with the wrong sign. How many
	// aggregators add noise is not known here: at most as many as there may be.
	f := b.circuit.Field()
	if holds, err := f.Holds(bucket.count, b.circuit.most(), maxAggregates, law); err != nil {
		return nil, fmt.Errorf("collect batch: %w", err)
	} else if !holds {
		return nil, fmt.Errorf("collect batch: %d contributions of up to %d, with noise, can be more than the field of the circuit holds", bucket.count, b.circuit.most())
	}
	if err := b.charge(ctx, tx, law); err != nil {
		return nil, err
	}
	if err := f.AddNoise(noise.System(), bucket.share, law); err != nil {
		return nil, err
	}
	out := &Collected{f.Write(bucket.share), bucket.count, bucket.checksum[:]}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("collect batch: %w", err)
	}
	if _, err := tx.ExecContext(ctx, "UPDATE buckets SET share = x'', collection = ?, collected = ? WHERE batch = ?", collection, text, batch); err != nil {
		return nil, fmt.Errorf("collect batch: %w", err)
	}
	return out, tx.Commit()
}

// hides refuses a law that was made for less than one contribution moves the aggregate by:
// its event would say too little.
func (b *Buckets) hides(law mechanism.Additive) error {
	l1, l2squared := b.circuit.Sensitivity()
	l1.Lsh(l1, 1) // one goes and another comes
	l2squared.Lsh(l2squared, 2)
	var of, need *big.Rat
	switch e := law.Event().(type) {
	case privacy.DiscreteLaplace:
		of, need = e.Sensitivity, new(big.Rat).SetInt(l1)
	case privacy.DiscreteGaussian:
		of, need = e.SensitivitySquared, new(big.Rat).SetInt(l2squared)
	default:
		return errors.New("collect batch: the noise is neither Laplace nor Gaussian on the integers")
	}
	if of.Cmp(need) < 0 {
		return fmt.Errorf("collect batch: the noise hides a distance of %s, and one contribution moves the aggregate by %s", of.RatString(), need.RatString())
	}
	return nil
}

// charge adds a law's event to what was spent, if the budget allows.
func (b *Buckets) charge(ctx context.Context, tx *sql.Tx, law mechanism.Additive) error {
	if err := b.hides(law); err != nil {
		return err
	}
	cost, err := b.filter.Charge([]privacy.Event{law.Event()}, privacy.Delta{})
	if err != nil {
		return fmt.Errorf("charge collection: %w", err)
	}
	var text []byte
	var spent filter.Total
	if err := tx.QueryRowContext(ctx, "SELECT spent FROM task").Scan(&text); err != nil {
		return fmt.Errorf("charge collection: %w", err)
	}
	if err := json.Unmarshal(text, &spent); err != nil {
		return fmt.Errorf("charge collection: %w", err)
	}
	if spent = spent.Add(cost); !spent.Within(b.filter.Budget()) {
		return Refusal(Exhausted)
	}
	if text, err = json.Marshal(spent); err != nil {
		return fmt.Errorf("charge collection: %w", err)
	}
	if _, err := tx.ExecContext(ctx, "UPDATE task SET spent = ?", text); err != nil {
		return fmt.Errorf("charge collection: %w", err)
	}
	return nil
}
