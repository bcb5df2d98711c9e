package process

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/discreet-dp/discreet/collect/multiparty/prio"
	"github.com/discreet-dp/discreet/internal/entropy"
)

// A piece is a contribution in a job: a helper sees its own share alone.
type piece struct {
	Time   int64  `json:"time"`
	Nonce  []byte `json:"nonce"`
	Public []byte `json:"public_share"`
	Sealed []byte `json:"encrypted_input_share"`
}

// The messages between leader and helper. Records is what the sender has stored.
type (
	jobMessage struct {
		Records int64   `json:"records"`
		Batch   string  `json:"batch"`
		Reports []piece `json:"reports"`
	}
	jobAnswer struct {
		Records int64       `json:"records"`
		Reports []preparing `json:"reports"`
	}
	preparing struct {
		Message []byte `json:"prep_share,omitempty"`
		Code    string `json:"error,omitempty"` // why there is no message
	}
	concludeMessage struct {
		Records int64 `json:"records"`
		// Messages are of all aggregators, for each contribution of the job; none where one of them
		// has refused it.
		Messages [][][]byte `json:"prep_shares"`
	}
	concludeAnswer struct {
		Records  int64    `json:"records"`
		Outcomes []string `json:"outcomes"` // one for each contribution of the job
	}
)

func (j jobAnswer) had() int64      { return j.Records }
func (c concludeAnswer) had() int64 { return c.Records }

// round does one job: the one that was begun, or one of contributions that wait; of one batch, if it
// is named. It reports whether there was any. Every message of a job has the same bytes whenever it
// is sent, but for the number of records.
func (a *aggregator) round(t *work, batch string) (bool, error) {
	ctx := a.ctx
	if err := a.introduce(t); err != nil {
		return false, err
	}
	job, all, err := t.job(ctx, batch)
	if err != nil || job == "" {
		return false, err
	}
	states := make([]preparation, len(all))
	if err := each(len(all), func(i int) error {
		r := all[i]
		share, err := open(a.private, 0, t.hash, &r, r.Sealed[0])
		states[i].code = DecryptError
		if err != nil {
			return nil //nolint:nilerr // it is the contribution's fault, and counted so
		}
		return t.prepare(&states[i], &r, share)
	}); err != nil {
		return false, err
	}
	records, err := t.Records(ctx)
	if err != nil {
		return false, err
	}
	answers := make([]jobAnswer, len(t.helpers()))
	if err := each(len(answers), func(h int) error {
		m := jobMessage{Records: records, Batch: all[0].Batch}
		for i, r := range all {
			p := piece{Time: r.Time, Nonce: r.Nonce}
			if states[i].code == "" { // what the leader cannot read, no helper needs to see
				p.Public, p.Sealed = r.Public, r.Sealed[h+1]
			}
			m.Reports = append(m.Reports, p)
		}
		if err := a.tell(t, t.helpers()[h], http.MethodPut, "/aggregation_jobs/"+job, m, &answers[h]); err != nil {
			return err
		}
		if len(answers[h].Reports) != len(all) {
			return fmt.Errorf("%s answers for other contributions", t.helpers()[h])
		}
		return nil
	}); err != nil {
		return false, err
	}
	codes, messages := make([]string, len(all)), make([][][]byte, len(all))
	for i := range all {
		codes[i] = states[i].code
		messages[i] = [][]byte{states[i].message}
		for h := range answers {
			said := answers[h].Reports[i]
			codes[i] = cmp.Or(codes[i], said.Code)
			messages[i] = append(messages[i], said.Message)
		}
		if codes[i] != "" {
			messages[i] = nil
		}
	}
	return true, a.finish(t, job, all, states, codes, messages)
}

// finish is the second half of a job: the helpers first, each of which checks all messages by
// itself, then the leader.
func (a *aggregator) finish(t *work, job string, all []Report, states []preparation, codes []string, messages [][][]byte) error {
	records, err := t.Records(a.ctx)
	if err != nil {
		return err
	}
	answers := make([]concludeAnswer, len(t.helpers()))
	if err := each(len(answers), func(h int) error {
		if err := a.tell(t, t.helpers()[h], http.MethodPost, "/aggregation_jobs/"+job, concludeMessage{records, messages}, &answers[h]); err != nil {
			return err
		}
		if len(answers[h].Outcomes) != len(all) {
			return fmt.Errorf("%s answers for other contributions", t.helpers()[h])
		}
		return nil
	}); err != nil {
		return err
	}
	shares, err := t.conclude(states, messages)
	if err != nil {
		return err
	}
	var prepared []prio.Prepared
	var of []int
	for i, s := range shares {
		if codes[i] != "" {
			continue
		}
		if s == nil {
			codes[i] = VerifyError
			continue
		}
		for h := range answers {
			if code := answers[h].Outcomes[i]; code != prio.Accepted {
				codes[i] = cmp.Or(codes[i], code)
			}
		}
		if codes[i] == "" {
			prepared, of = append(prepared, prio.Prepared{Nonce: [16]byte(all[i].Nonce), Share: s}), append(of, i)
		}
	}
	return t.In(a.ctx, func(tx *sql.Tx) error {
		outcomes, err := t.CommitIn(a.ctx, tx, job, all[0].Batch, prepared)
		if err != nil {
			return err
		}
		for k, i := range of {
			codes[i] = outcomes[k]
		}
		for i, r := range all { // the shares are overwritten
			if _, err := tx.ExecContext(a.ctx, "UPDATE uploads SET code = ?, report = NULL WHERE nonce = ?", codes[i], r.Nonce); err != nil {
				return err
			}
		}
		return nil
	})
}

// job is the job that was begun, or a new one; "" if no contribution waits. Its contributions stand
// in the order of their names, which are random: who came first is forgotten.
func (t *work) job(ctx context.Context, batch string) (job string, all []Report, err error) {
	err = t.In(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "SELECT job FROM uploads WHERE job IS NOT NULL AND code IS NULL LIMIT 1").Scan(&job)
		if errors.Is(err, sql.ErrNoRows) {
			job, err = t.newJob(ctx, tx, batch)
		}
		if err != nil || job == "" {
			return err
		}
		rows, err := tx.QueryContext(ctx, "SELECT report FROM uploads WHERE job = ? ORDER BY nonce", job)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var data []byte
			var r Report
			if err := rows.Scan(&data); err != nil {
				return err
			}
			if err := json.Unmarshal(data, &r); err != nil {
				return err
			}
			all = append(all, r)
		}
		return rows.Err()
	})
	return job, all, err
}

func (t *work) newJob(ctx context.Context, tx *sql.Tx, batch string) (string, error) {
	if batch == "" {
		if err := tx.QueryRowContext(ctx, "SELECT batch FROM uploads WHERE code IS NULL LIMIT 1").Scan(&batch); err != nil {
			if errors.Is(err, sql.ErrNoRows) {
				return "", nil
			}
			return "", err
		}
	}
	rows, err := tx.QueryContext(ctx, "SELECT nonce, length(report) FROM uploads WHERE batch = ? AND code IS NULL ORDER BY nonce LIMIT ?", batch, maxJob)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var names [][]byte
	size := 0
	for rows.Next() {
		var nonce []byte
		var n int
		if err := rows.Scan(&nonce, &n); err != nil {
			return "", err
		}
		if size += n; size > maxJobSize && len(names) > 0 {
			break
		}
		names = append(names, nonce)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(names) == 0 {
		return "", err
	}
	id := make([]byte, 16)
	if _, err := entropy.New().Read(id); err != nil {
		return "", err
	}
	job := hex.EncodeToString(id)
	for _, n := range names {
		if _, err := tx.ExecContext(ctx, "UPDATE uploads SET job = ? WHERE nonce = ?", job, n); err != nil {
			return "", err
		}
	}
	return job, nil
}
