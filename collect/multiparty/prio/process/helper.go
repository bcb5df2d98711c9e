package process

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"runtime"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/multiparty/prio"
)

// maxJobBody bounds a job's message.
const maxJobBody = 64 << 20

// A preparation is what an aggregator has of a contribution between the two steps of a job.
type preparation struct {
	state   prio.State
	message []byte
	code    string // why there is none
}

// prepare is an aggregator's first step with a share that it has opened.
func (t *work) prepare(to *preparation, r *Report, share []byte) error {
	var err error
	if failed := t.with(func(p *prio.Prio3) {
		to.state, to.message, err = p.Prepare(t.key, t.index, [16]byte(r.Nonce), r.Public, share)
	}); failed != nil {
		return failed
	}
	if to.code = ""; err != nil {
		to.code = VerifyError
	}
	return nil
}

// conclude is the second step: an aggregator's shares of the contributions that all have found
// valid, nil for others.
func (t *work) conclude(states []preparation, messages [][][]byte) ([]prio.Vector, error) {
	out := make([]prio.Vector, len(states))
	err := each(len(states), func(i int) error {
		if messages[i] == nil || states[i].code != "" {
			return nil
		}
		return t.with(func(p *prio.Prio3) {
			message, err := p.Combine(messages[i])
			if err != nil {
				return
			}
			if share, err := p.Finish(states[i].state, message); err == nil {
				out[i] = share
			}
		})
	})
	return out, err
}

// each calls f with the index of each of n things, on all processors, and returns the first error.
func each(n int, f func(i int) error) error {
	var all sync.WaitGroup
	errs := make([]error, n)
	workers := max(min(n, runtime.GOMAXPROCS(0)), 1)
	for w := range workers {
		all.Go(func() {
			for i := w; i < n; i += workers {
				errs[i] = f(i)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// helped reads a message of the leader's to a helper, and compares what the leader has stored with
// what it had.
func (a *aggregator) helped(w http.ResponseWriter, r *http.Request, t *work, m any, records func() int64) bool {
	if t.index == 0 {
		cluster.Refuse(w, http.StatusForbidden, unauthorized, "this aggregator leads")
		return false
	}
	if !a.from(w, r, a.Leader) {
		return false
	}
	data, ok := cluster.Read(w, r, maxJobBody)
	if !ok {
		return false
	}
	if strict(data, m) != nil {
		cluster.Refuse(w, http.StatusBadRequest, invalidMessage, "the message cannot be read")
		return false
	}
	if err := t.witness(r.Context(), a.Leader, records()); err != nil {
		a.failed(w, err)
		return false
	}
	return true
}

// initialize is a helper's first step of a job. What it answers is stored with what it was sent: the
// same job again, as after a lost answer, is answered by the same bytes, and another of its name refused.
func (a *aggregator) initialize(w http.ResponseWriter, r *http.Request, t *work) {
	var m jobMessage
	job := r.PathValue("job")
	if !a.helped(w, r, t, &m, func() int64 { return m.Records }) {
		return
	}
	if !randomName.MatchString(job) || !batchName.MatchString(m.Batch) || len(m.Reports) == 0 || len(m.Reports) > maxJob {
		cluster.Refuse(w, http.StatusBadRequest, invalidMessage, "the job has no name, no batch, or no contributions")
		return
	}
	m.Records = 0 // grows between two tries
	body, err := json.Marshal(m)
	if err != nil {
		a.failed(w, err)
		return
	}
	answer, err := a.begun(t, job, body)
	if err == nil && answer == nil {
		// The work goes on where the leader hangs up: it will ask again.
		answer, err = a.stage(context.WithoutCancel(r.Context()), t, job, &m, body)
	}
	if err != nil {
		a.failed(w, err)
		return
	}
	a.reply(w, r, t, func(records int64) any { return jobAnswer{records, answer} })
}

func (a *aggregator) reply(w http.ResponseWriter, r *http.Request, t *work, of func(records int64) any) {
	records, err := t.Records(r.Context())
	if err != nil {
		a.failed(w, err)
		return
	}
	cluster.Answer(w, of(records))
}

// begun is what was answered to a job's first step; nil if it is new.
func (a *aggregator) begun(t *work, job string, body []byte) (answer []preparing, err error) {
	err = t.In(a.ctx, func(tx *sql.Tx) error {
		var digest, stored []byte
		err := tx.QueryRowContext(a.ctx, "SELECT digest, answer FROM stages WHERE job = ?", job).Scan(&digest, &stored)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if is := sha256.Sum256(body); !bytes.Equal(is[:], digest) {
			return prio.Refusal(prio.JobMismatch)
		}
		if len(stored) == 0 {
			return refuse(prio.BatchCollected, "the batch of this job was collected")
		}
		return json.Unmarshal(stored, &answer)
	})
	return answer, err
}

// stage prepares the contributions of a job, and stores what it answers.
func (a *aggregator) stage(ctx context.Context, t *work, job string, m *jobMessage, body []byte) ([]preparing, error) {
	states, err := a.states(t, m)
	if err != nil {
		return nil, err
	}
	answer := make([]preparing, len(states))
	err = t.In(ctx, func(tx *sql.Tx) error {
		for i := range states {
			if states[i].code == "" {
				code, err := t.Refuses(ctx, tx, m.Batch, [16]byte(m.Reports[i].Nonce))
				if err != nil {
					return err
				}
				if code != prio.Accepted {
					states[i].code = code
				}
			}
			if answer[i].Code = states[i].code; answer[i].Code == "" {
				answer[i].Message = states[i].message
			}
		}
		text, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		digest := sha256.Sum256(body)
		_, err = tx.ExecContext(ctx, "INSERT INTO stages (job, batch, digest, body, answer) VALUES (?, ?, ?, ?, ?)", job, m.Batch, digest[:], body, text)
		return err
	})
	if err != nil {
		return nil, err
	}
	t.keep(job, states)
	return answer, nil
}

// states prepares the contributions of a job.
func (a *aggregator) states(t *work, m *jobMessage) ([]preparation, error) {
	states, now := make([]preparation, len(m.Reports)), a.Now()
	err := each(len(states), func(i int) error {
		p := m.Reports[i]
		r := Report{Batch: m.Batch, Time: p.Time, Nonce: p.Nonce, Public: p.Public, Sealed: [][]byte{p.Sealed}}
		if states[i].code = cmp.Or(t.readable(&r, 1), t.timely(r.Time, now)); states[i].code != "" {
			return nil
		}
		share, err := open(a.private, t.index, t.hash, &r, p.Sealed)
		if states[i].code = DecryptError; err != nil {
			return nil //nolint:nilerr // it is the contribution's fault, and counted so
		}
		return t.prepare(&states[i], &r, share)
	})
	return states, err
}

// maxKept is how many jobs have their states in memory; of others they are made again.
const maxKept = 4

func (t *work) keep(job string, states []preparation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.prepared) >= maxKept {
		clear(t.prepared)
	}
	t.prepared[job] = states
}

func (t *work) kept(job string) []preparation {
	t.mu.Lock()
	defer t.mu.Unlock()
	states := t.prepared[job]
	delete(t.prepared, job)
	return states
}

// conclude is a helper's second step of a job: it checks all messages by itself, and counts what all
// have found valid. Once counted, the job is answered by the same bytes.
func (a *aggregator) conclude(w http.ResponseWriter, r *http.Request, t *work) {
	var m concludeMessage
	if !a.helped(w, r, t, &m, func() int64 { return m.Records }) {
		return
	}
	outcomes, err := a.end(context.WithoutCancel(r.Context()), t, r.PathValue("job"), m.Messages)
	if err != nil {
		a.failed(w, err)
		return
	}
	a.reply(w, r, t, func(records int64) any { return concludeAnswer{records, outcomes} })
}

func (a *aggregator) end(ctx context.Context, t *work, job string, messages [][][]byte) (outcomes []string, err error) {
	text, err := json.Marshal(messages)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(text)
	var body, answered, concluded, ending []byte
	err = t.In(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT body, answer, concluded, ending FROM stages WHERE job = ?", job).Scan(&body, &answered, &concluded, &ending)
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, &cluster.Problem{Type: unrecognizedJob, Status: http.StatusNotFound, Detail: "this aggregator has no such job"}
	case err != nil:
		return nil, err
	case concluded != nil && !bytes.Equal(concluded, digest[:]):
		return nil, prio.Refusal(prio.JobMismatch)
	case concluded != nil:
		return outcomes, json.Unmarshal(ending, &outcomes)
	case len(answered) == 0:
		return nil, refuse(prio.BatchCollected, "the batch of this job was collected")
	}
	var job1 jobMessage
	var said []preparing
	if err := errors.Join(json.Unmarshal(body, &job1), json.Unmarshal(answered, &said)); err != nil {
		return nil, err
	}
	if len(messages) != len(said) {
		return nil, refuse(invalidMessage, "the messages are not those of the job's contributions")
	}
	states := t.kept(job)
	if states == nil { // after a restart
		if states, err = a.states(t, &job1); err != nil {
			return nil, err
		}
	}
	outcomes = make([]string, len(said))
	for i, s := range said {
		states[i].code = s.Code // what was said holds: time may have run out meanwhile
		switch {
		case s.Code != "":
			outcomes[i], messages[i] = s.Code, nil
		case messages[i] == nil:
			outcomes[i] = VerifyError // another aggregator has refused it
		case len(messages[i]) != len(t.Aggregators) || !bytes.Equal(messages[i][t.index], s.Message):
			return nil, refuse(invalidMessage, "the messages are not those of all aggregators")
		}
	}
	shares, err := t.conclude(states, messages)
	if err != nil {
		return nil, err
	}
	var prepared []prio.Prepared
	var of []int
	for i, s := range shares {
		switch {
		case s != nil:
			prepared, of = append(prepared, prio.Prepared{Nonce: [16]byte(job1.Reports[i].Nonce), Share: s}), append(of, i)
		case outcomes[i] == "":
			outcomes[i] = VerifyError
		}
	}
	err = t.In(ctx, func(tx *sql.Tx) error {
		counted, err := t.CommitIn(ctx, tx, job, job1.Batch, prepared)
		if err != nil {
			return err
		}
		for k, i := range of {
			outcomes[i] = counted[k]
		}
		text, err := json.Marshal(outcomes)
		if err != nil {
			return err
		}
		// The shares that it was sent are overwritten.
		_, err = tx.ExecContext(ctx, "UPDATE stages SET body = NULL, concluded = ?, ending = ? WHERE job = ?", digest[:], text, job)
		return err
	})
	return outcomes, err
}

// beginHelping draws a helper's noise for a collection, if it has what the leader has. Nothing is
// charged before all aggregators agree.
func (a *aggregator) beginHelping(w http.ResponseWriter, r *http.Request, t *work) {
	var m beginMessage
	id := r.PathValue("collection")
	if !a.helped(w, r, t, &m, func() int64 { return m.Records }) {
		return
	}
	if !randomName.MatchString(id) || !batchName.MatchString(m.Batch) {
		cluster.Refuse(w, http.StatusBadRequest, invalidMessage, "the collection has no name, or no batch")
		return
	}
	ctx := context.WithoutCancel(r.Context())
	if err := t.mark(ctx, id, m.Batch, a.Leader, m.Mark); err != nil {
		a.failed(w, err)
		return
	}
	// What it has is compared before the batch is closed, and holds after.
	has, err := t.Has(ctx, m.Batch)
	if err != nil {
		a.failed(w, err)
		return
	}
	if has.Count != m.Count || !bytes.Equal(has.Checksum, m.Checksum) {
		cluster.Refuse(w, http.StatusConflict, batchMismatch, "this aggregator has other contributions than the leader")
		return
	}
	begun, err := t.Begin(ctx, id, m.Batch)
	if err != nil {
		a.failed(w, err)
		return
	}
	if begun.Count != m.Count || !bytes.Equal(begun.Checksum, m.Checksum) {
		cluster.Refuse(w, http.StatusConflict, batchMismatch, "this aggregator has other contributions than the leader")
		return
	}
	a.reply(w, r, t, func(records int64) any { return beginAnswer{records, begun.Mark} })
}

// release is a helper's second step of a collection: it is charged, and gives its noisy share to the
// collector when that asks.
func (a *aggregator) release(w http.ResponseWriter, r *http.Request, t *work) {
	var m releaseMessage
	id := r.PathValue("collection")
	if !a.helped(w, r, t, &m, func() int64 { return m.Records }) {
		return
	}
	if len(m.Marks) != len(t.Aggregators) {
		cluster.Refuse(w, http.StatusBadRequest, invalidMessage, "the marks are not those of all aggregators")
		return
	}
	ctx := context.WithoutCancel(r.Context())
	err := t.mark(ctx, id, m.Batch, a.Leader, slices.Clone(m.Marks[0]))
	if err == nil {
		_, err = t.Collect(ctx, id, m.Batch, m.Marks[t.index])
	}
	if err == nil {
		err = t.forget(ctx, m.Batch)
	}
	if err != nil {
		a.failed(w, err)
		return
	}
	a.reply(w, r, t, func(records int64) any { return releaseAnswer{records} })
}
