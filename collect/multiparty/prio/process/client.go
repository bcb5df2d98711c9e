package process

import (
	"context"
	"crypto/hpke"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/multiparty/prio"
	"github.com/discreet-dp/discreet/internal/store"
)

// A Client contributes to one task, as a member of it. It is not safe for concurrent use.
type Client struct {
	station *cluster.Station
	task    *Task
	hash    string
	keys    []hpke.PublicKey
	prio    *prio.Prio3
}

// NewClient asks the aggregators of a task for their keys. Who contributes looks at the task first:
// its noise is what hides the contribution, and the aggregators hold to what it says.
func NewClient(ctx context.Context, s *cluster.Station, t *Task) (*Client, error) {
	data, err := t.Encode()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(t.Clients, s.Name()) {
		return nil, fmt.Errorf("%w: %s is no client of it", ErrTask, s.Name())
	}
	c := &Client{station: s, task: t, hash: Digest(data)}
	if c.prio, err = newPrio(t, c.hash); err != nil {
		return nil, err
	}
	for _, a := range t.Aggregators {
		var h hpkeConfig
		if err := retry(ctx, func() error { return s.Ask(ctx, a, http.MethodGet, "/hpke_config", nil, &h) }); err != nil {
			return nil, err
		}
		key, err := kem().NewPublicKey(h.Key)
		if err != nil {
			return nil, fmt.Errorf("read the key of %s: %w", a, err)
		}
		c.keys = append(c.keys, key)
	}
	return c, nil
}

// newPrio is an instance of a task's circuit, whose shares are of the task of this digest alone.
func newPrio(t *Task, hash string) (*prio.Prio3, error) {
	digest, err := hex.DecodeString(hash)
	if err != nil {
		return nil, err
	}
	return prio.New(t.Circuit, len(t.Aggregators), digest)
}

// Bring gives a task to its leader, as one of the members who may: with [Config.Owners]. Its clients look
// at it by themselves before they contribute.
func Bring(ctx context.Context, s *cluster.Station, t *Task) error {
	data, err := t.Encode()
	if err != nil {
		return err
	}
	return retry(ctx, func() error {
		return s.Ask(ctx, t.Aggregators[0], http.MethodPut, "/tasks/"+Digest(data), data, nil)
	})
}

// Report splits a contribution to a batch and seals its shares. Nothing is sent. The same report may
// be uploaded again and again; another of the same numbers is another contribution.
func (c *Client) Report(batch string, numbers []uint64) (*Report, error) {
	if !batchName.MatchString(batch) {
		return nil, fmt.Errorf("%w: the batch %q has no name of letters, digits, dots and lines", prio.ErrInvalid, batch)
	}
	split, err := c.prio.Shard(numbers)
	if err != nil {
		return nil, err
	}
	r := &Report{Batch: batch, Time: c.station.Now().Truncate(timeStep).Unix(), Nonce: split.Nonce[:], Public: split.Public}
	for i, share := range split.Shares {
		sealed, err := seal(c.keys[i], i, c.hash, r, share)
		if err != nil {
			return nil, err
		}
		r.Sealed = append(r.Sealed, sealed)
	}
	return r, nil
}

// Upload sends contributions to the leader until it has stored them or refused them, and says of
// each what became of it: Stored, or why not. What aggregators find when they look into them
// stands in the batch's Status.
func (c *Client) Upload(ctx context.Context, all []*Report) (codes []string, err error) {
	for len(all) > 0 {
		n, size := 0, 0
		for n < len(all) && n < maxReports {
			if size += all[n].size(); size > maxUpload/2 && n > 0 {
				break
			}
			n++
		}
		data, err := json.Marshal(all[:n])
		if err != nil {
			return codes, err
		}
		var said []string
		if err := retry(ctx, func() error {
			return c.station.Ask(ctx, c.task.Aggregators[0], http.MethodPut, "/tasks/"+c.hash+"/reports", data, &said)
		}); err != nil {
			return codes, err
		}
		if len(said) != n {
			return codes, errors.New("upload contributions: the leader answers for others")
		}
		codes, all = append(codes, said...), all[n:]
	}
	return codes, nil
}

// size is about how long a report is as it travels.
func (r *Report) size() int {
	n := len(r.Public)
	for _, s := range r.Sealed {
		n += len(s)
	}
	return n*4/3 + 300
}

// Status says what became of the contributions to a batch.
func (c *Client) Status(ctx context.Context, batch string) (out Status, err error) {
	err = c.station.Ask(ctx, c.task.Aggregators[0], http.MethodGet, "/tasks/"+c.hash+"/batches/"+batch, nil, &out)
	return out, err
}

// retry does again what failed for want of the other side, until the context ends.
func retry(ctx context.Context, do func() error) error {
	for {
		err := do()
		if !cluster.Passing(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// An Outbox has contributions on disk from before they are sent until the leader has them, so that a
// client that is killed sends the same bytes, and contributes once.
type Outbox struct{ db *sql.DB }

// OpenOutbox opens the outbox of a member, and makes it if there is none.
func OpenOutbox(ctx context.Context, s *cluster.Station) (*Outbox, error) {
	db, err := store.Open(s.File("outbox.db"))
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS outbox (task TEXT NOT NULL, name TEXT NOT NULL, report BLOB, code TEXT, PRIMARY KEY (task, name)) STRICT"); err != nil {
		return nil, errors.Join(fmt.Errorf("open outbox: %w", err), db.Close())
	}
	return &Outbox{db}, nil
}

// Close closes the outbox.
func (o *Outbox) Close() error { return o.db.Close() }

// Send contributes numbers to a batch, each under the name of its place in this list after a prefix,
// and says of each what became of it. A name that was sent before is not split again: what it says
// was said then.
func (o *Outbox) Send(ctx context.Context, c *Client, batch, prefix string, numbers [][]uint64) (codes []string, err error) {
	codes = make([]string, len(numbers))
	reports, of := []*Report{}, []int{}
	if err := o.in(ctx, func(tx *sql.Tx) error {
		for i, m := range numbers {
			var data []byte
			var code sql.NullString
			name := fmt.Sprintf("%s/%s/%d", batch, prefix, i)
			err := tx.QueryRowContext(ctx, "SELECT report, code FROM outbox WHERE task = ? AND name = ?", c.hash, name).Scan(&data, &code)
			switch {
			case err == nil && code.Valid:
				codes[i] = code.String
				continue
			case errors.Is(err, sql.ErrNoRows):
				r, err := c.Report(batch, m)
				if err != nil {
					return fmt.Errorf("contribution %d: %w", i+1, err)
				}
				if data, err = json.Marshal(r); err != nil {
					return err
				}
				if _, err := tx.ExecContext(ctx, "INSERT INTO outbox (task, name, report) VALUES (?, ?, ?)", c.hash, name, data); err != nil {
					return err
				}
			case err != nil:
				return err
			}
			var r Report
			if err := json.Unmarshal(data, &r); err != nil {
				return err
			}
			reports, of = append(reports, &r), append(of, i)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	said, err := c.Upload(ctx, reports)
	if kept := o.in(ctx, func(tx *sql.Tx) error {
		for k, code := range said {
			codes[of[k]] = code
			if _, err := tx.ExecContext(ctx, "UPDATE outbox SET report = NULL, code = ? WHERE task = ? AND name = ?", code, c.hash, fmt.Sprintf("%s/%s/%d", batch, prefix, of[k])); err != nil {
				return err
			}
		}
		return nil
	}); kept != nil {
		err = errors.Join(err, kept)
	}
	return codes, err
}

func (o *Outbox) in(ctx context.Context, do func(tx *sql.Tx) error) error {
	tx, err := o.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}
