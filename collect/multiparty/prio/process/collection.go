package process

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net/http"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/multiparty/prio"
)

// The messages of a collection. Marks are those of all aggregators, in their order.
type (
	collectMessage struct {
		Batch string `json:"batch"`
	}
	beginMessage struct {
		Records  int64  `json:"records"`
		Batch    string `json:"batch"`
		Count    int64  `json:"count"`
		Checksum []byte `json:"checksum"`
		Mark     []byte `json:"mark"` // the leader's
	}
	beginAnswer struct {
		Records int64  `json:"records"`
		Mark    []byte `json:"mark"`
	}
	releaseMessage struct {
		Records int64    `json:"records"`
		Batch   string   `json:"batch"`
		Marks   [][]byte `json:"marks"`
	}
	releaseAnswer struct {
		Records int64 `json:"records"`
	}
)

func (b beginAnswer) had() int64   { return b.Records }
func (r releaseAnswer) had() int64 { return r.Records }

// collect makes a collection of a batch, for the collector at the leader, and for the leader at a
// helper: there it draws the noise, and releases nothing.
func (a *aggregator) collect(w http.ResponseWriter, r *http.Request, t *work) {
	if t.index != 0 {
		a.beginHelping(w, r, t)
		return
	}
	if !a.from(w, r, t.Collector) {
		return
	}
	id := r.PathValue("collection")
	data, ok := cluster.Read(w, r, 1<<10)
	var m collectMessage
	if !ok {
		return
	}
	if strict(data, &m) != nil || !randomName.MatchString(id) || !batchName.MatchString(m.Batch) {
		cluster.Refuse(w, http.StatusBadRequest, invalidMessage, "the collection has no name of 32 digits, or its batch none of letters and digits")
		return
	}
	// Who hangs up ends nothing: a collection that was charged is to be had.
	if err := t.locked(r.Context(), func() error { return a.gather(t, id, m.Batch) }); err != nil {
		a.failed(w, err)
		return
	}
	cluster.Answer(w, struct{}{})
}

// gather collects a batch: the contributions that wait are counted, all aggregators draw their
// noise and agree on what they have, and then each is charged and releases its share.
func (a *aggregator) gather(t *work, id, batch string) error {
	if got, err := t.Collected(a.ctx, id, batch); err != nil || got != nil {
		return err
	}
	for {
		waits, err := t.waits(a.ctx, batch)
		if err != nil {
			return err
		}
		if !waits {
			break
		}
		if _, err := a.round(t, batch); err != nil {
			return err
		}
	}
	if err := a.introduce(t); err != nil {
		return err
	}
	own, err := t.Begin(a.ctx, id, batch)
	if err != nil {
		return err
	}
	records, err := t.Records(a.ctx)
	if err != nil {
		return err
	}
	marks := [][]byte{own.Mark}
	for _, h := range t.helpers() {
		var said beginAnswer
		if err := a.tell(t, h, http.MethodPut, "/collections/"+id, beginMessage{records, batch, own.Count, own.Checksum, own.Mark}, &said); err != nil {
			return err
		}
		if err := t.mark(a.ctx, id, batch, h, said.Mark); err != nil {
			return err
		}
		marks = append(marks, said.Mark)
	}
	for _, h := range t.helpers() {
		var said releaseAnswer
		if err := a.tell(t, h, http.MethodPost, "/collections/"+id, releaseMessage{records, batch, marks}, &said); err != nil {
			return err
		}
	}
	if _, err = t.Collect(a.ctx, id, batch, own.Mark); err != nil {
		return err
	}
	return t.forget(a.ctx, batch)
}

// waits reports whether a contribution to a batch is not counted yet.
func (t *work) waits(ctx context.Context, batch string) (is bool, err error) {
	err = t.In(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM uploads WHERE batch = ? AND code IS NULL)", batch).Scan(&is)
	})
	return is, err
}

// mark remembers the noise that another aggregator has drawn for a collection. One that comes with
// other noise has forgotten what it drew.
func (t *work) mark(ctx context.Context, id, batch, of string, mark []byte) error {
	restored := false
	err := t.In(ctx, func(tx *sql.Tx) error {
		var is []byte
		if _, err := tx.ExecContext(ctx, "INSERT INTO marks VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", id, of, batch, mark); err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, "SELECT mark FROM marks WHERE collection = ? AND aggregator = ?", id, of).Scan(&is); err != nil {
			return err
		}
		if restored = !bytes.Equal(is, mark); restored {
			return know(ctx, tx, of, fallen)
		}
		return nil
	})
	if err == nil && restored {
		err = fmt.Errorf("%s has other noise than it had: %w", of, prio.Refusal(prio.Restored))
	}
	return err
}

// forget drops what nobody asks for again once a batch was collected.
func (t *work) forget(ctx context.Context, batch string) error {
	return t.In(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE stages SET body = NULL, answer = x'' WHERE batch = ?", batch)
		return err
	})
}

// share gives the collector what this aggregator has released: the same bytes whenever it is asked.
func (a *aggregator) share(w http.ResponseWriter, r *http.Request, t *work) {
	if !a.from(w, r, t.Collector) {
		return
	}
	got, err := t.Collected(r.Context(), r.PathValue("collection"), r.URL.Query().Get("batch"))
	if err != nil {
		a.failed(w, err)
		return
	}
	if got == nil {
		cluster.Refuse(w, http.StatusNotFound, unrecognizedCollection, "this aggregator has released no such collection")
		return
	}
	left, err := t.Remaining(r.Context())
	if err != nil {
		a.failed(w, err)
		return
	}
	cluster.Answer(w, Share{*got, left})
}
