package process

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/http"
	"net/url"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/multiparty/prio"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/store"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
)

// A Share is what an aggregator gives the collector.
type Share struct {
	prio.Collected
	Remaining filter.Amounts `json:"remaining"`
}

// A Result is a noisy total.
type Result struct {
	Task          string `json:"task"` // its digest
	Batch         string `json:"batch"`
	Collection    string `json:"collection"`
	Contributions int64  `json:"contributions"`
	// Clients are those whose contributions count: who they are is public.
	Clients []string `json:"clients,omitempty"`
	// Refused counts those that count nowhere, by why.
	Refused map[string]int64 `json:"refused,omitempty"`
	// Values are signed: noise can be below zero.
	Values []*big.Int `json:"values"`
	// Deviation is the standard deviation of each value's noise, and Margin the half width of its
	// interval: the exact value is within it with probability Confidence.
	Deviation   float64        `json:"deviation"`
	Margin      *big.Int       `json:"margin"`
	Confidence  float64        `json:"confidence"`
	Remaining   filter.Amounts `json:"remaining"`
	Certificate Certificate    `json:"certificate"`
}

// A Certificate says what a collection reveals, of whom, and to whom.
type Certificate struct {
	Unit  string        `json:"unit"`
	Event privacy.Event `json:"event"`
	// Colluding is how many aggregators may collude, with the collector and with all other clients.
	Colluding     int      `json:"colluding"`
	Trusted       []string `json:"trusted"`
	Unbounded     string   `json:"unbounded"`
	Computational string   `json:"computational"`
	Public        string   `json:"public"`
}

// Certify says what a collection of a task reveals.
func (t *Task) Certify() (*Certificate, error) {
	law, err := t.Law()
	if err != nil {
		return nil, err
	}
	revealed := law.Event()
	if p, ok := law.(*mechanism.Portion); ok {
		if revealed, err = p.Reveals(); err != nil {
			return nil, err
		}
	}
	c := &Certificate{Unit: "a contribution, replaced by any other", Event: revealed, Colluding: len(t.Aggregators) - t.honest(),
		Unbounded:     "nothing: the shares of a contribution are compressed by a generator",
		Computational: "the event bounds what is learnt by an adversary who breaks neither TLS 1.3, HPKE, SHAKE128 nor the system's generator",
		Public:        "who contributes, to which batch and in which hour; how many contributions count, and why others do not",
	}
	if t.Noise.Distance != "" {
		c.Unit = "what moves a contribution by at most the distance that the task states; proofs do not check it, so that it holds for clients that keep to it"
	}
	c.Trusted = []string{"one of the aggregators, to keep its shares and its noise to itself", "all aggregators, to follow the protocol, for the total to be right"}
	if h := t.honest(); h > 1 {
		c.Trusted[0] = fmt.Sprintf("%d of the %d aggregators, each to keep its shares and its part of the noise to itself", h, len(t.Aggregators))
	}
	return c, nil
}

// confidence is that of a result's interval.
const confidence = 0.95

// Collect collects a batch of a task, as the task's collector, and asks until all aggregators have
// answered. What it asked is on disk before it asks: a collector that was killed asks for the same
// collection, and gets the same values.
func Collect(ctx context.Context, s *cluster.Station, t *Task, batch string) (*Result, error) {
	data, err := t.Encode()
	if err != nil {
		return nil, err
	}
	if t.Collector != s.Name() {
		return nil, fmt.Errorf("%w: %s is not its collector", ErrTask, s.Name())
	}
	if !batchName.MatchString(batch) {
		return nil, fmt.Errorf("%w: a batch's name is of letters, digits, dots and lines", prio.ErrInvalid)
	}
	hash := Digest(data)
	id, err := collection(ctx, s, hash, batch)
	if err != nil {
		return nil, err
	}
	message, err := json.Marshal(collectMessage{batch})
	if err != nil {
		return nil, err
	}
	at := "/tasks/" + hash + "/collections/" + id
	if err := retry(ctx, func() error { return s.Ask(ctx, t.Aggregators[0], http.MethodPut, at, message, nil) }); err != nil {
		return nil, err
	}
	r := &Result{Task: hash, Batch: batch, Collection: id, Confidence: confidence, Refused: map[string]int64{}}
	field := t.Circuit.Field()
	var shares []prio.Vector
	var first Share
	for i, a := range t.Aggregators {
		var got Share
		if err := retry(ctx, func() error {
			return s.Ask(ctx, a, http.MethodGet, at+"/share?batch="+url.QueryEscape(batch), nil, &got)
		}); err != nil {
			return nil, err
		}
		if i == 0 {
			first = got
		}
		if got.Count != first.Count || !bytes.Equal(got.Checksum, first.Checksum) {
			return nil, fmt.Errorf("collect %s: %s has other contributions than %s", batch, a, t.Aggregators[0])
		}
		share, err := field.Read(got.Share, t.Circuit.Values())
		if err != nil {
			return nil, fmt.Errorf("read the share of %s: %w", a, err)
		}
		shares = append(shares, share)
	}
	if r.Values, err = field.Unshard(shares); err != nil {
		return nil, err
	}
	r.Contributions, r.Remaining = first.Count, first.Remaining
	var became Status
	if err := s.Ask(ctx, t.Aggregators[0], http.MethodGet, "/tasks/"+hash+"/batches/"+batch, nil, &became); err != nil {
		return nil, err
	}
	for code, n := range became {
		if code != prio.Accepted {
			r.Refused[code] = n
		}
	}
	if err := s.Ask(ctx, t.Aggregators[0], http.MethodGet, "/tasks/"+hash+"/batches/"+batch+"/clients", nil, &r.Clients); err != nil {
		return nil, err
	}
	return r, r.measure(t)
}

// measure says how exact a result is: all aggregators have added noise.
func (r *Result) measure(t *Task) error {
	law, err := t.Law()
	if err != nil {
		return err
	}
	d, ok := law.(interface {
		BoundOfSum(n int, beta *big.Rat) (*big.Int, error)
	})
	if !ok {
		return errors.New("measure the noise: it has no bound of sums")
	}
	r.Deviation = math.Sqrt(float64(len(t.Aggregators)) * law.Variance())
	if r.Margin, err = d.BoundOfSum(len(t.Aggregators), big.NewRat(1, 20)); err != nil {
		return err
	}
	c, err := t.Certify()
	if err == nil {
		r.Certificate = *c
	}
	return err
}

// collection is the name of a batch's collection: drawn once, and on disk.
func collection(ctx context.Context, s *cluster.Station, hash, batch string) (id string, err error) {
	db, err := store.Open(s.File("collections.db"))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	fresh := make([]byte, 16)
	if _, err := entropy.New().Read(fresh); err != nil {
		return "", err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer tx.Rollback()
	for _, do := range []struct {
		text string
		args []any
	}{
		{"CREATE TABLE IF NOT EXISTS collections (task TEXT NOT NULL, batch TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (task, batch)) STRICT", nil},
		{"INSERT INTO collections VALUES (?, ?, ?) ON CONFLICT DO NOTHING", []any{hash, batch, hex.EncodeToString(fresh)}},
	} {
		if _, err := tx.ExecContext(ctx, do.text, do.args...); err != nil {
			return "", fmt.Errorf("name collection: %w", err)
		}
	}
	if err := tx.QueryRowContext(ctx, "SELECT id FROM collections WHERE task = ? AND batch = ?", hash, batch).Scan(&id); err != nil {
		return "", fmt.Errorf("name collection: %w", err)
	}
	return id, tx.Commit()
}
