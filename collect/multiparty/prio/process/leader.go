package process

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
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
	"github.com/discreet-dp/discreet/internal/entropy"
)

// Bounds of what the leader does at once.
const (
	maxUpload  = 32 << 20 // bytes of a request
	maxReports = 1000     // of a request
	maxJob     = 200      // contributions
	maxJobSize = 16 << 20 // bytes of their shares
	patience   = 10 * time.Second
	pause      = 250 * time.Millisecond
	longest    = 8 * time.Second // that a job which failed waits
)

// upload stores contributions, and says of each what became of it. The same bytes again are
// answered alike.
func (a *aggregator) upload(w http.ResponseWriter, r *http.Request, t *work) {
	if t.index != 0 {
		cluster.Refuse(w, http.StatusForbidden, unauthorized, "contributions go to the leader")
		return
	}
	if !a.from(w, r, t.Clients...) {
		return
	}
	data, ok := cluster.Read(w, r, maxUpload)
	if !ok {
		return
	}
	var all []Report
	if strict(data, &all) != nil || len(all) == 0 || len(all) > maxReports {
		cluster.Refuse(w, http.StatusBadRequest, invalidMessage, fmt.Sprintf("want 1 to %d contributions", maxReports))
		return
	}
	codes := make([]string, len(all))
	err := t.In(r.Context(), func(tx *sql.Tx) (err error) {
		for i := range all {
			if codes[i], err = t.store(r.Context(), tx, &all[i], cluster.Caller(r), a.Now()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		a.failed(w, err)
		return
	}
	t.look()
	cluster.Answer(w, codes)
}

// look wakes the leader.
func (t *work) look() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// readable says what is wrong with a contribution before it is opened: "" if nothing is.
func (t *work) readable(r *Report, shares int) string {
	if !batchName.MatchString(r.Batch) || len(r.Nonce) != 16 || len(r.Sealed) != shares || r.Time%int64(timeStep/time.Second) != 0 {
		return InvalidMessage
	}
	return ""
}

func (t *work) store(ctx context.Context, tx *sql.Tx, r *Report, client string, now time.Time) (code string, err error) {
	if code := cmp.Or(t.readable(r, len(t.Aggregators)), t.timely(r.Time, now)); code != "" {
		return code, nil
	}
	data, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256(data)
	var was []byte
	var by string
	err = tx.QueryRowContext(ctx, "SELECT digest, client FROM uploads WHERE nonce = ?", r.Nonce).Scan(&was, &by)
	switch {
	case err == nil && by == client && bytes.Equal(was, digest[:]):
		return Stored, nil
	case err == nil:
		return prio.ReportReplayed, nil
	case !errors.Is(err, sql.ErrNoRows):
		return "", err
	}
	if code, err := t.Refuses(ctx, tx, r.Batch, [16]byte(r.Nonce)); err != nil || code != prio.Accepted {
		return code, err
	}
	if t.Once {
		var has int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM uploads WHERE batch = ? AND client = ? AND (code IS NULL OR code = ?)", r.Batch, client, prio.Accepted).Scan(&has); err != nil {
			return "", err
		}
		if has > 0 {
			return Twice, nil
		}
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO uploads VALUES (?, ?, ?, ?, ?, NULL, NULL)", r.Nonce, digest[:], r.Batch, client, data)
	return Stored, err
}

// lead does the leader's jobs for a task, until the process ends.
func (a *aggregator) lead(t *work) {
	wait := pause
	for {
		more := false
		err := t.locked(a.ctx, func() (err error) {
			more, err = a.round(t, "")
			return err
		})
		if err != nil && a.ctx.Err() == nil {
			a.Log.Warn("a job waits", "task", t.Name, "cause", err.Error())
		}
		switch {
		case err != nil: // a helper is away: its part is asked again, with the same bytes
			select {
			case <-a.ctx.Done():
				return
			case <-time.After(wait):
			}
			wait = min(2*wait, longest)
			continue
		case !more:
			select {
			case <-a.ctx.Done():
				return
			case <-t.wake:
			}
		}
		wait = pause
	}
}

func (t *work) helpers() []string { return t.Aggregators[1:] }

// tell asks a helper, and compares what it has stored with what it had.
func (a *aggregator) tell(t *work, helper, method, path string, message any, answer interface{ had() int64 }) error {
	data, err := json.Marshal(message)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(a.ctx, patience)
	defer cancel()
	if err := a.Ask(ctx, helper, method, "/tasks/"+t.hash+path, data, answer); err != nil {
		return err
	}
	return t.witness(a.ctx, helper, answer.had())
}

// introduce says a task to its helpers.
func (a *aggregator) introduce(t *work) error {
	data, err := json.Marshal(taskMessage{t.data, t.key[:]})
	if err != nil {
		return err
	}
	for _, helper := range t.helpers() {
		ctx, cancel := context.WithTimeout(a.ctx, patience)
		err := a.Ask(ctx, helper, http.MethodPut, "/tasks/"+t.hash, data, nil)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

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

// A Status is what the leader says of a batch: how many contributions it has, by what became of
// them. None of it is private: who contributes is seen by all.
type Status map[string]int64

// status says what became of a batch's contributions.
func (a *aggregator) status(w http.ResponseWriter, r *http.Request, t *work) {
	if !a.from(w, r, append(slices.Clone(t.Clients), t.Collector)...) {
		return
	}
	out := Status{}
	err := t.In(r.Context(), func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(r.Context(), "SELECT coalesce(code, ?), count(*) FROM uploads WHERE batch = ? GROUP BY 1", Stored, r.PathValue("batch"))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var code string
			var n int64
			if err := rows.Scan(&code, &n); err != nil {
				return err
			}
			out[code] = n
		}
		return rows.Err()
	})
	if err != nil {
		a.failed(w, err)
		return
	}
	cluster.Answer(w, out)
}

// clients names those whose contributions to a batch count.
func (a *aggregator) clients(w http.ResponseWriter, r *http.Request, t *work) {
	if !a.from(w, r, t.Collector) {
		return
	}
	names := []string{}
	err := t.In(r.Context(), func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(r.Context(), "SELECT DISTINCT client FROM uploads WHERE batch = ? AND code = ? ORDER BY client", r.PathValue("batch"), prio.Accepted)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			names = append(names, name)
		}
		return rows.Err()
	})
	if err != nil {
		a.failed(w, err)
		return
	}
	cluster.Answer(w, names)
}
