package multiparty

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strconv"
	"sync"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
)

// HolderOptions say who a holder is, what it answers from, and where it keeps its state.
type HolderOptions struct {
	Name       string
	Federation *Federation
	Identity   *Identity
	State      string // the file
	Database   *discreet.Database
	// People, if it has any account, has one for every asker who may ask, with quotas and limits.
	// While it has none, or is nil, the askers of the federation may ask, and the budget alone
	// bounds them.
	People  *people.Accounts
	Catalog []byte // its digest, which approvals bind
	Now     func() time.Time
	Log     *slog.Logger
	// Patience is how long a party may take to answer.
	Patience time.Duration
	// Step pads the time that a charged task takes, as others see it, to whole steps, counted
	// from the request. 0: 50 ms.
	Step time.Duration
	// Time is how long the engine may take. 0: an hour. Nothing else ends a task that was charged.
	Time time.Duration
}

// A Holder answers for private data: it offers, charges, and shares.
type Holder struct {
	HolderOptions
	db    *sql.DB
	pause func(time.Duration)

	mu      sync.Mutex
	running map[string]chan struct{} // by task: closed when the request that carries it out ends
}

// A holder's tables. A task's row is made when its shares are, before any leaves; what a party
// has acknowledged goes.
const holderSchema = `
CREATE TABLE IF NOT EXISTS tasks (digest TEXT PRIMARY KEY, task BLOB NOT NULL, reply BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS outbox (task TEXT NOT NULL, party TEXT NOT NULL, message BLOB NOT NULL, PRIMARY KEY (task, party)) STRICT;
CREATE TABLE IF NOT EXISTS parties (name TEXT PRIMARY KEY, records INTEGER NOT NULL) STRICT;
`

// OpenHolder opens a holder's state, and makes it if there is none.
func OpenHolder(ctx context.Context, o HolderOptions) (*Holder, error) {
	if m, ok := o.Federation.holder(o.Name); !ok || m.Key != o.Identity.Key {
		return nil, fmt.Errorf("open holder: the federation has no holder %q with the key of this identity", o.Name)
	}
	db, err := openState(ctx, o.State, holderSchema)
	if err != nil {
		return nil, fmt.Errorf("open holder: %w", err)
	}
	return &Holder{HolderOptions: o, db: db, pause: func(d time.Duration) { <-time.After(d) }, running: map[string]chan struct{}{}}, nil
}

// Close closes the state.
func (h *Holder) Close() error { return h.db.Close() }

// Handler answers members.
func (h *Holder) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", handle(h.Federation, h.Identity, "", h.Log, func(*http.Request, Member) ([]byte, error) { return []byte("{}"), nil }))
	mux.HandleFunc("POST /offers", handle(h.Federation, h.Identity, "asker", h.Log, h.offer))
	mux.HandleFunc("POST /explanations", handle(h.Federation, h.Identity, "asker", h.Log, h.explain))
	mux.HandleFunc("PUT /tasks/{task}", handle(h.Federation, h.Identity, "asker", h.Log, h.task))
	mux.HandleFunc("POST /tasks/{task}/answer", handle(h.Federation, h.Identity, "asker", h.Log, h.answer))
	return mux
}

// accounts reports whether there are accounts now: an owner may add the first while the holder runs.
func (h *Holder) accounts(ctx context.Context) (bool, error) {
	if h.People == nil {
		return false, nil
	}
	all, err := h.People.List(ctx)
	return len(all) > 0, err
}

// prepare plans a statement for an asker, who sees the tables that the account may.
func (h *Holder) prepare(ctx context.Context, from Member, s *Statement) (*discreet.Statement, discreet.Payer, error) {
	payer := discreet.Payer{Catalog: h.Catalog}
	o, err := s.options(from.Name)
	if err != nil {
		return nil, payer, err
	}
	db := h.Database
	accounts, err := h.accounts(ctx)
	if err != nil {
		return nil, payer, err
	}
	if accounts {
		account, err := h.People.Certified(ctx, from.Name)
		if errors.Is(err, people.ErrSignIn) {
			return nil, payer, problem(unauthorized, "the asker has no account at this holder")
		}
		if err != nil {
			return nil, payer, err
		}
		if !account.Within(h.Now()) {
			return nil, payer, problem(unauthorized, "the account may not ask at this time")
		}
		payer.Holders, payer.Rules = account.Holders(), account.Seen()
		payer.Suspend = func(ctx context.Context, reservation int64) error {
			return h.People.Suspend(ctx, account.Name, reservation)
		}
		db = db.Only(account.Allows)
	}
	prepared, err := db.Prepare(ctx, s.Text, o)
	return prepared, payer, err
}

// offer says what a statement would be here. It costs nothing.
func (h *Holder) offer(r *http.Request, from Member) ([]byte, error) {
	data, err := body(r)
	if err != nil {
		return nil, err
	}
	var s Statement
	if err := strict(data, &s); err != nil {
		return nil, problem(invalidMessage, "the statement cannot be read: "+err.Error())
	}
	prepared, _, err := h.prepare(r.Context(), from, &s)
	if err != nil {
		return nil, err
	}
	o, err := prepared.Offer()
	if err != nil {
		return nil, err
	}
	return json.Marshal(o)
}

// explain says what a task would cost here and be worth. It costs nothing, and leaves nothing.
func (h *Holder) explain(r *http.Request, from Member) ([]byte, error) {
	data, err := body(r)
	if err != nil {
		return nil, err
	}
	task, err := decodeTask(data, digest(data), h.Federation, h.Now())
	if err != nil {
		return nil, err
	}
	if task.Asker != from.Name {
		return nil, problem(unauthorized, "somebody else has asked this")
	}
	j, _, err := h.joint(r.Context(), task, from)
	if err != nil {
		return nil, err
	}
	e, err := j.Explain(r.Context())
	if err != nil {
		return nil, err
	}
	cost, err := json.Marshal(e.Cost)
	if err != nil {
		return nil, err
	}
	out := explained{Explanation: e, Reply: Reply{Holder: h.Name, Domain: j.Domain(), Cost: cost}}
	if e.Remaining != nil {
		out.Reply.Remaining = *e.Remaining
	}
	return json.Marshal(out)
}

// An explained is what a holder says of a task before it is charged.
type explained struct {
	Explanation *discreet.Explanation `json:"explanation"`
	Reply       Reply                 `json:"reply"`
}

// A Reply is what a holder says of a task that it has answered.
type Reply struct {
	Holder    string             `json:"holder"`
	Domain    string             `json:"domain"`
	Cost      json.RawMessage    `json:"cost"` // a discreet.Cost
	Remaining discreet.Remaining `json:"remaining"`
}

// attempts is how often a task begins anew, where an owner changed the rules meanwhile.
const attempts = 3

// alone lets one request at a time carry out a task.
func (h *Holder) alone(ctx context.Context, task string) (done func(), err error) {
	for {
		h.mu.Lock()
		other, is := h.running[task]
		if !is {
			mine := make(chan struct{})
			h.running[task] = mine
			h.mu.Unlock()
			return func() {
				h.mu.Lock()
				delete(h.running, task)
				h.mu.Unlock()
				close(mine)
			}, nil
		}
		h.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// task answers a task once, and hands its shares out until every party has its own. Asked
// again it sends what is left, of the same bytes, and replies the same.
func (h *Holder) task(r *http.Request, from Member) ([]byte, error) {
	came, hash := h.Now(), r.PathValue("task")
	data, err := body(r)
	if err != nil {
		return nil, err
	}
	done, err := h.alone(r.Context(), hash)
	if err != nil {
		return nil, err
	}
	defer done()
	reply, err := h.replied(r.Context(), hash, data, from)
	if err != nil {
		return nil, err
	}
	if reply == nil {
		task, err := decodeTask(data, hash, h.Federation, h.Now())
		if err != nil {
			return nil, err
		}
		if task.Asker != from.Name {
			return nil, problem(unauthorized, "somebody else has asked this")
		}
		for range attempts {
			if reply, err = h.carryOut(r.Context(), hash, data, task, from, came); !errors.Is(err, ledger.ErrRulesChanged) {
				break
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return reply, h.handOut(r.Context(), hash)
}

// replied is the reply of a task of an asker's that was answered; nil of another.
func (h *Holder) replied(ctx context.Context, hash string, data []byte, from Member) (reply []byte, err error) {
	if digest(data) != hash {
		return nil, problem(taskMismatch, "the digest is not that of the task")
	}
	err = h.db.QueryRowContext(ctx, "SELECT reply FROM tasks WHERE digest = ?", hash).Scan(&reply)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var task Task
	if err := strict(data, &task); err != nil {
		return nil, err
	}
	if task.Asker != from.Name {
		return nil, problem(unauthorized, "somebody else has asked this")
	}
	return reply, nil
}

// joint designs a task's statement, if the task says of this holder what is so.
func (h *Holder) joint(ctx context.Context, task *Task, from Member) (*discreet.Joint, discreet.Payer, error) {
	prepared, payer, err := h.prepare(ctx, from, &task.Statement)
	if err != nil {
		return nil, payer, err
	}
	own, err := prepared.Offer()
	if err != nil {
		return nil, payer, err
	}
	mine, ok := task.names[h.Name]
	if !ok {
		return nil, payer, problem(taskMismatch, "the task is not for this holder")
	}
	if !reflect.DeepEqual(mine.Offer, own) {
		return nil, payer, problem(taskMismatch, "the task has another offer than this holder makes: its catalog may have changed")
	}
	var names []string
	var offers []*discreet.Offer
	for _, t := range task.Holders {
		names, offers = append(names, t.Name), append(offers, t.Offer)
	}
	j, err := prepared.Joint(names, offers, discreet.Parties{Number: len(task.Parties), Colluding: task.Colluding, Shares: task.Shares})
	return j, payer, err
}

// carryOut charges a task and makes its shares durable.
func (h *Holder) carryOut(ctx context.Context, hash string, data []byte, task *Task, from Member, came time.Time) (reply []byte, err error) {
	j, payer, err := h.joint(ctx, task, from)
	if err != nil {
		return nil, err
	}
	demanded, err := j.Noise()
	if err != nil {
		return nil, err
	}
	marks, err := h.noise(ctx, hash, noiseMessage{data, j.Bits(), demanded}) // before anything is charged
	if err != nil {
		return nil, err
	}
	payer.Measured = func() { h.pause(h.left(came)) }
	// Who hangs up ends nothing from here on. Else the charge would be lost, and whether it was
	// would tell how long the engine took.
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(h.Time, time.Hour))
	defer cancel()
	shared, err := j.Share(within, payer, hash, func(s *discreet.Shared) error {
		cost, err := json.Marshal(s.Cost)
		if err != nil {
			return err
		}
		if reply, err = json.Marshal(Reply{h.Name, j.Domain(), cost, s.Remaining}); err != nil {
			return err
		}
		return h.keep(context.WithoutCancel(ctx), hash, data, task, reply, func(party int) shareMessage {
			return shareMessage{Task: data, Bits: j.Bits(), Noise: demanded, Share: s.Shares[party], Mark: marks[party]}
		})
	})
	switch {
	case errors.Is(err, ledger.ErrUnfinished):
		return nil, problem(taskLost, "the task was charged and its shares were lost; ask anew, at a new charge")
	case errors.Is(err, ledger.ErrLimit) && h.People != nil:
		return nil, h.pending(ctx, j, payer, hash)
	case err != nil:
		return nil, err
	}
	for _, s := range shared.Shares {
		clear(s)
	}
	return reply, nil
}

// left is how long the next whole step is away, counted from when a request came.
func (h *Holder) left(came time.Time) time.Duration {
	step := cmp.Or(h.Step, 50*time.Millisecond)
	return step - max(0, h.Now().Sub(came))%step
}

// keep stores a task with what is to be sent.
func (h *Holder) keep(ctx context.Context, hash string, data []byte, task *Task, reply []byte, message func(party int) shareMessage) error {
	tx, err := h.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "INSERT INTO tasks VALUES (?, ?, ?)", hash, data, reply); err != nil {
		return err
	}
	for i, p := range task.Parties {
		text, err := json.Marshal(message(i))
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO outbox VALUES (?, ?, ?)", hash, p.Name, text); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// pending asks the owner for a statement over the account's limit.
func (h *Holder) pending(ctx context.Context, j *discreet.Joint, payer discreet.Payer, hash string) error {
	request, err := j.Request(payer, hash)
	if err != nil {
		return err
	}
	a, err := h.People.Ask(ctx, request, j.Canonical())
	if err != nil {
		return err
	}
	if a.Status == ledger.Denied {
		return problem(approvalDenied, "the owner has denied this statement: "+people.Shown(a.Why))
	}
	p := problem(approvalPending, "an owner must approve this statement first")
	p.Approval = strconv.FormatInt(a.ID, 10)
	return p
}

// answer computes what the statement makes of the noisy totals: post-processing, for nothing.
func (h *Holder) answer(r *http.Request, from Member) ([]byte, error) {
	hash := r.PathValue("task")
	data, err := body(r)
	if err != nil {
		return nil, err
	}
	var totals struct {
		Totals []byte `json:"totals"`
	}
	if err := strict(data, &totals); err != nil {
		return nil, problem(invalidMessage, "the totals cannot be read: "+err.Error())
	}
	var stored []byte
	err = h.db.QueryRowContext(r.Context(), "SELECT task FROM tasks WHERE digest = ?", hash).Scan(&stored)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, problem(unrecognizedTask, "this holder has not answered such a task")
	}
	if err != nil {
		return nil, err
	}
	var task Task
	if err := strict(stored, &task); err != nil {
		return nil, err
	}
	if task.Asker != from.Name {
		return nil, problem(unauthorized, "somebody else has asked this")
	}
	task.names = map[string]TaskHolder{}
	for _, t := range task.Holders {
		task.names[t.Name] = t
	}
	j, _, err := h.joint(r.Context(), &task, from)
	if err != nil {
		return nil, err
	}
	a, err := j.Conclude(r.Context(), totals.Totals)
	if err != nil {
		var refused *discreet.Refusal
		if !errors.As(err, &refused) && !errors.Is(err, discreet.ErrUnavailable) {
			return nil, problem(invalidMessage, "these are no totals of the task")
		}
		return nil, err
	}
	return json.Marshal(a)
}
