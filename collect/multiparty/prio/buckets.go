package prio

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/store"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
)

// The names of what becomes of a contribution, and of a refused collection, are DAP's where it
// has one.
const (
	Accepted       = "accepted"
	ReportReplayed = "report_replayed"  // it was counted before, in this batch or another
	BatchCollected = "batch_collected"  // its batch was collected already
	BatchSize      = "invalidBatchSize" // too few contributions
	BatchOverlap   = "batchOverlap"     // collected already, by another collection
	JobMismatch    = "invalidMessage"   // the job was of other contributions
	Exhausted      = "budgetExhausted"
	Restored       = "aggregatorRestored" // the noise of a collection is not the one that was drawn for it
)

// A Refusal is a collection, or a job, that is refused. Its text is one of the names above.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// Buckets are one aggregator's batches of one task, on disk: which contributions were seen, the
// sum of their shares, how many, and a checksum of their names; what was collected; and what
// was spent. Every step is one transaction, and asked again it answers the same.
type Buckets struct {
	BucketOptions
	filter filter.Filter
	db     *sql.DB
}

// BucketOptions are a task, as far as an aggregator's batches depend on it. All are required but
// Distance.
type BucketOptions struct {
	Circuit     Circuit
	Aggregators int
	// Law is the noise that each aggregator adds to a collection, whole.
	Law mechanism.Additive
	// Least is how many contributions a collected batch has, at least.
	Least int64
	// Budget is what collections may reveal in all. Who takes part is public: a collection says
	// how many there are, and a checksum of their names. So it is of neighbours that replace one
	// contribution by another of the same name; one that hides who takes part is refused.
	Budget filter.Budget
	// Distance is how far a unit moves the aggregate where clients hide less than that one
	// contribution is replaced by any other: proofs do not check it, so it is a promise to the
	// units of those clients alone who keep to it. nil: the circuit's.
	Distance *Distance
}

const bucketSchema = `
CREATE TABLE IF NOT EXISTS task (circuit BLOB NOT NULL, spent BLOB NOT NULL, records INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS seen (nonce BLOB PRIMARY KEY) STRICT;
CREATE TABLE IF NOT EXISTS jobs (job TEXT PRIMARY KEY, digest BLOB NOT NULL, outcomes BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS buckets (batch TEXT PRIMARY KEY, share BLOB NOT NULL, count INTEGER NOT NULL, checksum BLOB NOT NULL, collection TEXT, mark BLOB, noise BLOB, collected BLOB) STRICT;
`

// Check refuses options by which nothing could be claimed.
func (o *BucketOptions) Check() error {
	if err := o.Circuit.check(o.Aggregators); err != nil {
		return err
	}
	if o.Law == nil || o.Least < 1 {
		return errors.New("there is no noise, or no least number of contributions")
	}
	if o.Budget.Neighbours != privacy.ReplaceOne {
		return errors.New("a collection says how many contribute, so its budget is one of neighbours that replace a contribution")
	}
	d := o.Circuit.Replaced()
	if o.Distance != nil {
		d = *o.Distance
	}
	if err := hides(o.Law, d); err != nil {
		return err
	}
	f, err := filter.New(o.Budget)
	if err == nil {
		_, err = f.Charge([]privacy.Event{o.Law.Event()}, privacy.Delta{})
	}
	return err
}

// OpenBuckets opens the state of a task, and makes it if there is none.
func OpenBuckets(ctx context.Context, path string, o BucketOptions) (*Buckets, error) {
	if err := o.Check(); err != nil {
		return nil, fmt.Errorf("open buckets: %w", err)
	}
	f, err := filter.New(o.Budget)
	if err != nil {
		return nil, fmt.Errorf("open buckets: %w", err)
	}
	db, err := store.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open buckets: %w", err)
	}
	out := &Buckets{o, f, db}
	if err := out.begin(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open buckets: %w", err), db.Close())
	}
	return out, nil
}

// begin makes the tables, and refuses those of another task.
func (b *Buckets) begin(ctx context.Context) error {
	own, err := json.Marshal(struct {
		Circuit     Circuit
		Aggregators int
		Law         privacy.Event
		Least       int64
		Budget      filter.Budget
	}{b.Circuit, b.Aggregators, b.Law.Event(), b.Least, b.Budget})
	if err != nil {
		return err
	}
	spent, err := json.Marshal(filter.Total{})
	if err != nil {
		return err
	}
	return b.In(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, bucketSchema); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO task SELECT ?, ?, 0 WHERE NOT EXISTS (SELECT 1 FROM task)", own, spent); err != nil {
			return err
		}
		var is []byte
		if err := tx.QueryRowContext(ctx, "SELECT circuit FROM task").Scan(&is); err != nil {
			return err
		}
		if !bytes.Equal(is, own) {
			return errors.New("the state is of another task")
		}
		return nil
	})
}

// Close closes the state.
func (b *Buckets) Close() error { return b.db.Close() }

// In does what do does in one transaction, or nothing. Who keeps more of a task than Buckets do
// keeps it in tables of the same file.
func (b *Buckets) In(ctx context.Context, do func(tx *sql.Tx) error) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Records counts what was stored. It never falls, but where an old copy was put in its place.
func (b *Buckets) Records(ctx context.Context) (n int64, err error) {
	err = b.db.QueryRowContext(ctx, "SELECT records FROM task").Scan(&n)
	return n, err
}

func record(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "UPDATE task SET records = records + 1")
	return err
}

// A Prepared is a contribution that was found valid: its name, and this aggregator's share.
type Prepared struct {
	Nonce [16]byte
	Share Vector
}

// Commit counts contributions in a batch, and says of each what became of it. A job that comes
// again, as after a crash, is answered as it was, and counts once.
func (b *Buckets) Commit(ctx context.Context, job, batch string, all []Prepared) (outcomes []string, err error) {
	err = b.In(ctx, func(tx *sql.Tx) error {
		outcomes, err = b.CommitIn(ctx, tx, job, batch, all)
		return err
	})
	return outcomes, err
}

// CommitIn is Commit within a transaction of the caller's.
func (b *Buckets) CommitIn(ctx context.Context, tx *sql.Tx, job, batch string, all []Prepared) (outcomes []string, err error) {
	f := b.Circuit.Field()
	digest := sha256.New()
	fmt.Fprintf(digest, "%q", batch)
	for _, c := range all {
		if len(c.Share) != b.Circuit.Values() {
			return nil, errVector
		}
		digest.Write(c.Nonce[:])
		digest.Write(f.Write(c.Share))
	}
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
	outcomes = []string{}
	for _, c := range all {
		if bucket.closed() {
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
	if !bucket.closed() {
		if _, err := tx.ExecContext(ctx, "INSERT INTO buckets (batch, share, count, checksum) VALUES (?, ?, ?, ?) ON CONFLICT (batch) DO UPDATE SET share = excluded.share, count = excluded.count, checksum = excluded.checksum",
			batch, f.Write(bucket.share), bucket.count, bucket.checksum[:]); err != nil {
			return nil, fmt.Errorf("commit job: %w", err)
		}
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO jobs VALUES (?, ?, ?)", job, digest.Sum(nil), text); err != nil {
		return nil, fmt.Errorf("commit job: %w", err)
	}
	return outcomes, record(ctx, tx)
}

// Refuses says what would become of a contribution of this name in a batch: Accepted, or why not.
func (b *Buckets) Refuses(ctx context.Context, tx *sql.Tx, batch string, nonce [16]byte) (string, error) {
	bucket, err := b.bucket(ctx, tx, batch)
	if err != nil {
		return "", err
	}
	if bucket.closed() {
		return BatchCollected, nil
	}
	var is int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM seen WHERE nonce = ?", nonce[:]).Scan(&is); err != nil {
		return "", err
	}
	if is > 0 {
		return ReportReplayed, nil
	}
	return Accepted, nil
}

// A bucket is a batch's row.
type bucket struct {
	share      Vector // nil once it was collected
	count      int64
	checksum   [sha256.Size]byte
	collection string // "" while it takes contributions
	mark       []byte
	noise      Vector // drawn, and not yet added
	collected  []byte
}

func (b *bucket) closed() bool { return b.collection != "" }

func (b *Buckets) bucket(ctx context.Context, tx *sql.Tx, batch string) (*bucket, error) {
	f, n := b.Circuit.Field(), b.Circuit.Values()
	out := &bucket{share: f.Zero(n)}
	var share, checksum, drawn []byte
	var collection sql.NullString
	err := tx.QueryRowContext(ctx, "SELECT share, count, checksum, collection, mark, noise, collected FROM buckets WHERE batch = ?", batch).
		Scan(&share, &out.count, &checksum, &collection, &out.mark, &drawn, &out.collected)
	if errors.Is(err, sql.ErrNoRows) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	copy(out.checksum[:], checksum)
	out.collection = collection.String
	if out.collected != nil {
		out.share = nil
		return out, nil
	}
	if out.share, err = f.Read(share, n); err == nil && out.closed() {
		out.noise, err = f.Read(drawn, n)
	}
	return out, err
}
