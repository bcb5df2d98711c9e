// Package process has the processes of a private sum of people's numbers: aggregators, of whom the
// first leads, and the sides of clients who contribute and of the collector.
//
// A client splits its number by Prio3 (package prio) and seals a share for each aggregator. The
// leader takes contributions, and has all aggregators check them together, in jobs. A collection
// closes a batch: each aggregator adds the whole noise of the task to its share (or a portion of it,
// where fewer may collude), and gives it to the collector, who has the noisy total and nothing else.
//
// It guarantees, if all aggregators follow the protocol, that a contribution counts once, at all
// aggregators or at none, however often it is sent and whichever process is killed; that one that
// is none of the circuit counts nowhere; that a batch is collected once, from the task's least
// number of contributions on, and its noise is drawn once; and that the budget of the task covers
// what is collected. The leader, all other aggregators but one, and the collector together learn of
// a client's contribution no more than the noise of that one aggregator lets through.
//
// It does not guarantee that totals are right where an aggregator deviates, who stands behind a
// client's certificate, nor that it contributes the truth; and it does not hide who contributes,
// to which batch, and when.
//
// The protocol is shaped after DAP (the distributed aggregation protocol) with VDAF version 12,
// and is not it. docs/collect/prio.md says where it differs.
package process

import (
	"context"
	"crypto/hpke"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/multiparty/prio"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/entropy"
)

// What becomes of a contribution, beside what package prio says of it. The names are DAP's where
// it has one.
const (
	Stored         = "stored"          // the leader has it, and nobody has looked into it yet
	InvalidMessage = "invalid_message" // it cannot be read
	DecryptError   = "hpke_decrypt_error"
	VerifyError    = "vdaf_verify_error" // it is none of the circuit, or damaged
	TooEarly       = "report_too_early"
	TaskExpired    = "task_expired"
	Twice          = "client_contributed" // the client has contributed to this batch; the task wants one
)

// Refusals of requests, beside those of package prio.
const (
	unrecognizedTask       = "unrecognizedTask"
	unrecognizedJob        = "unrecognizedAggregationJob"
	unrecognizedCollection = "unrecognizedCollection"
	invalidMessage         = "invalidMessage"
	invalidTask            = "invalidTask"
	batchMismatch          = "batchMismatch" // aggregators have other contributions
	unauthorized           = "unauthorizedRequest"
)

// A Config is what a member of the kind aggregator decodes.
type Config struct {
	// Task is the one task of all, and no other is taken. nil: owners bring tasks.
	Task *Task `json:"task,omitempty"`
	// Owners are the members who may bring tasks to the leader.
	Owners []string `json:"owners,omitempty"`
	// Leader is the member from whom tasks of owners come. The leader itself has its own name.
	Leader string `json:"leader,omitempty"`
}

// An aggregator is a process. What it has of a task lies in a file of the task's.
type aggregator struct {
	*cluster.Station
	Config
	private hpke.PrivateKey
	ctx     context.Context // the life of the process; what a caller hangs up on goes on

	mu    sync.Mutex
	tasks map[string]*work // by digest
	wait  sync.WaitGroup
}

// Aggregate is the process of an aggregator: the first of a task's leads it.
func Aggregate(ctx context.Context, s *cluster.Station, c Config) (err error) {
	a := &aggregator{Station: s, Config: c, tasks: map[string]*work{}}
	if c.Task != nil {
		if err := c.Task.Check(); err != nil {
			return err
		}
		a.Leader = c.Task.Aggregators[0]
	}
	if a.private, err = sealKey(s); err != nil {
		return err
	}
	if err := custody.Folder(s.File("tasks")); err != nil {
		return err
	}
	life, end := context.WithCancel(ctx)
	a.ctx = life
	defer func() {
		end()
		a.wait.Wait()
		for _, t := range a.tasks {
			err = errors.Join(err, t.Close())
		}
	}()
	if err := a.reopen(); err != nil {
		return err
	}
	if c.Task != nil && a.Leader == s.Name() {
		data, err := c.Task.Encode()
		if err != nil {
			return err
		}
		if _, err := a.begin(data, nil); err != nil {
			return err
		}
	}
	m := http.NewServeMux()
	m.HandleFunc("GET /hpke_config", func(w http.ResponseWriter, _ *http.Request) {
		cluster.Answer(w, hpkeConfig{a.private.PublicKey().Bytes()})
	})
	m.HandleFunc("PUT /tasks/{task}", a.take)
	a.on(m, "PUT /tasks/{task}/reports", a.upload)
	a.on(m, "PUT /tasks/{task}/aggregation_jobs/{job}", a.initialize)
	a.on(m, "POST /tasks/{task}/aggregation_jobs/{job}", a.conclude)
	a.on(m, "PUT /tasks/{task}/collections/{collection}", a.collect)
	a.on(m, "POST /tasks/{task}/collections/{collection}", a.release)
	a.on(m, "GET /tasks/{task}/collections/{collection}/share", a.share)
	a.on(m, "GET /tasks/{task}/batches/{batch}", a.status)
	a.on(m, "GET /tasks/{task}/batches/{batch}/clients", a.clients)
	return s.Serve(ctx, m)
}

type hpkeConfig struct {
	Key []byte `json:"public_key"`
}

// sealKey is the key by which an aggregator opens what is sealed for it. It is on stable storage
// before anybody knows it.
func sealKey(s *cluster.Station) (hpke.PrivateKey, error) {
	path := s.File("seal.key")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		k, err := kem().GenerateKey()
		if err != nil {
			return nil, fmt.Errorf("make the key of %s: %w", s.Name(), err)
		}
		b, err := k.Bytes()
		if err != nil {
			return nil, fmt.Errorf("make the key of %s: %w", s.Name(), err)
		}
		return k, custody.Replace(path, []byte(hex.EncodeToString(b)))
	}
	if err == nil {
		err = custody.Secret(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key of %s: %w", s.Name(), err)
	}
	b, err := hex.DecodeString(string(text))
	if err != nil {
		return nil, fmt.Errorf("read the key of %s: %w", s.Name(), err)
	}
	return kem().NewPrivateKey(b)
}

// work is a task at an aggregator.
type work struct {
	*Task
	*prio.Buckets
	hash  string
	data  []byte // of which hash is the digest
	key   prio.Key
	index int // of this aggregator
	pool  sync.Pool
	wake  chan struct{} // of the leader: there is something to do

	turn chan struct{} // held by who runs a job or a collection

	mu       sync.Mutex
	prepared map[string][]preparation // by job: what a helper has between the two steps of a job
}

// taskSchema is what a file has beside its Buckets. Of a job a helper keeps what it was sent and
// what it said until the batch is collected; the leader has contributions until their job ends.
const taskSchema = `
CREATE TABLE IF NOT EXISTS info (task BLOB NOT NULL, key BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS uploads (nonce BLOB PRIMARY KEY, digest BLOB NOT NULL, batch TEXT NOT NULL, client TEXT NOT NULL, report BLOB, job TEXT, code TEXT) STRICT;
CREATE INDEX IF NOT EXISTS uploads_batch ON uploads (batch, code);
CREATE INDEX IF NOT EXISTS uploads_job ON uploads (job);
CREATE TABLE IF NOT EXISTS stages (job TEXT PRIMARY KEY, batch TEXT NOT NULL, digest BLOB NOT NULL, body BLOB, answer BLOB NOT NULL, concluded BLOB, ending BLOB) STRICT;
CREATE TABLE IF NOT EXISTS marks (collection TEXT NOT NULL, aggregator TEXT NOT NULL, batch TEXT NOT NULL, mark BLOB NOT NULL, PRIMARY KEY (collection, aggregator)) STRICT;
CREATE TABLE IF NOT EXISTS known (aggregator TEXT PRIMARY KEY, records INTEGER NOT NULL) STRICT;
`

func (a *aggregator) file(hash string) string { return filepath.Join(a.File("tasks"), hash+".db") }

// reopen opens all tasks that the aggregator has.
func (a *aggregator) reopen() error {
	files, err := os.ReadDir(a.File("tasks"))
	if err != nil {
		return err
	}
	for _, f := range files {
		hash, ok := strings.CutSuffix(f.Name(), ".task")
		if !ok || !hashName.MatchString(hash) {
			continue
		}
		data, err := os.ReadFile(a.File(filepath.Join("tasks", f.Name())))
		if err != nil {
			return err
		}
		if _, err := a.begin(data, nil); err != nil {
			return fmt.Errorf("open task %s: %w", hash, err)
		}
	}
	return nil
}

// begin opens a task, or finds it open. key is the aggregators' secret: nil has the leader draw it,
// and others read it from the file.
func (a *aggregator) begin(data []byte, key *prio.Key) (*work, error) {
	hash := Digest(data)
	a.mu.Lock()
	defer a.mu.Unlock()
	if t, ok := a.tasks[hash]; ok {
		if key != nil && *key != t.key {
			return nil, fmt.Errorf("%w: it has another key", ErrTask)
		}
		return t, nil
	}
	task, err := ParseTask(data)
	if err != nil {
		return nil, err
	}
	t := &work{Task: task, hash: hash, data: data, index: slices.Index(task.Aggregators, a.Name()), wake: make(chan struct{}, 1), turn: make(chan struct{}, 1), prepared: map[string][]preparation{}}
	if t.index < 0 || task.Aggregators[0] != a.Leader {
		return nil, fmt.Errorf("%w: it has other aggregators", ErrTask)
	}
	// What the file is of stands beside it before it is made.
	if err := custody.Replace(a.File(filepath.Join("tasks", hash+".task")), data); err != nil {
		return nil, err
	}
	o, err := task.options()
	if err != nil {
		return nil, err
	}
	if t.Buckets, err = prio.OpenBuckets(a.ctx, a.file(hash), o); err != nil {
		return nil, err
	}
	if err := t.furnish(a.ctx, key); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	t.pool.New = func() any {
		p, err := newPrio(task, hash)
		if err != nil {
			return err // as when the task was checked, which it was
		}
		return p
	}
	a.tasks[hash] = t
	if t.index == 0 {
		a.wait.Go(func() { a.lead(t) })
	}
	return t, nil
}

// furnish makes the tables, and has the key in them.
func (t *work) furnish(ctx context.Context, key *prio.Key) error {
	return t.In(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, taskSchema); err != nil {
			return err
		}
		var stored []byte
		switch err := tx.QueryRowContext(ctx, "SELECT key FROM info").Scan(&stored); {
		case err == nil && len(stored) == len(t.key):
			copy(t.key[:], stored)
			if key != nil && t.key != *key {
				return fmt.Errorf("%w: it has another key", ErrTask)
			}
			return nil
		case err == nil:
			return errors.New("the key of the task is damaged")
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		switch {
		case key != nil:
			t.key = *key
		case t.index == 0:
			if _, err := entropy.New().Read(t.key[:]); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%w: the leader has not said its key", ErrTask)
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO info VALUES (?, ?)", t.data, t.key[:])
		return err
	})
}

// with lends an instance of Prio3, which one goroutine may use.
func (t *work) with(do func(p *prio.Prio3)) error {
	switch p := t.pool.Get().(type) {
	case *prio.Prio3:
		defer t.pool.Put(p)
		do(p)
		return nil
	case error:
		return p
	}
	return errors.New("no instance of the circuit")
}

// take lets the leader take a task of an owner's, and a helper one of the leader's.
func (a *aggregator) take(w http.ResponseWriter, r *http.Request) {
	data, ok := cluster.Read(w, r, 2*maxTask)
	if !ok {
		return
	}
	from := cluster.Caller(r)
	var key *prio.Key
	switch {
	case a.Leader == a.Name() && a.Task == nil && slices.Contains(a.Owners, from):
	case a.Leader != a.Name() && from == a.Leader:
		var m taskMessage
		if strict(data, &m) != nil || len(m.Key) != len(key) {
			cluster.Refuse(w, http.StatusBadRequest, invalidMessage, "the task cannot be read")
			return
		}
		data, key = m.Task, (*prio.Key)(m.Key)
	default:
		cluster.Refuse(w, http.StatusForbidden, unauthorized, "this member brings no tasks")
		return
	}
	if Digest(data) != r.PathValue("task") {
		cluster.Refuse(w, http.StatusConflict, invalidTask, "the digest is not that of the task")
		return
	}
	if a.Task != nil {
		if own, err := a.Task.Encode(); err != nil || Digest(own) != r.PathValue("task") {
			cluster.Refuse(w, http.StatusForbidden, invalidTask, "this aggregator has one task, and this is another")
			return
		}
	}
	if _, err := a.begin(data, key); err != nil {
		if errors.Is(err, ErrTask) {
			cluster.Refuse(w, http.StatusBadRequest, invalidTask, err.Error()) // it is of public things alone
			return
		}
		a.failed(w, err)
		return
	}
	cluster.Answer(w, struct{}{})
}

// A taskMessage is what the leader says of a task to a helper.
type taskMessage struct {
	Task []byte `json:"task"`
	Key  []byte `json:"verify_key"`
}

// on answers requests on a task that there is.
func (a *aggregator) on(m *http.ServeMux, pattern string, do func(w http.ResponseWriter, r *http.Request, t *work)) {
	m.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		t := a.tasks[r.PathValue("task")]
		a.mu.Unlock()
		if t == nil {
			cluster.Refuse(w, http.StatusNotFound, unrecognizedTask, "this aggregator has no such task")
			return
		}
		do(w, r, t)
	})
}

// from refuses a request that is not from one of these members.
func (a *aggregator) from(w http.ResponseWriter, r *http.Request, names ...string) bool {
	if slices.Contains(names, cluster.Caller(r)) {
		return true
	}
	cluster.Refuse(w, http.StatusForbidden, unauthorized, "this is for a member of another role")
	return false
}

// failed answers that this aggregator could not do its part. The log says why.
func (a *aggregator) failed(w http.ResponseWriter, err error) {
	var r prio.Refusal
	var p *cluster.Problem
	switch {
	case errors.As(err, &r):
		cluster.Refuse(w, refusals[r].status, string(r), refusals[r].detail)
	case errors.As(err, &p) && p.Status < http.StatusInternalServerError:
		cluster.Refuse(w, p.Status, p.Type, p.Detail)
	default:
		a.Log.Error("a request failed", "error", err.Error())
		cluster.Refuse(w, http.StatusServiceUnavailable, "unavailable", "try again with the same bytes")
	}
}

var refusals = map[prio.Refusal]struct {
	status int
	detail string
}{
	prio.BatchSize:    {http.StatusBadRequest, "the batch has fewer contributions than the task wants"},
	prio.BatchOverlap: {http.StatusConflict, "another collection has closed the batch"},
	prio.JobMismatch:  {http.StatusConflict, "this job was of other contributions"},
	prio.Exhausted:    {http.StatusForbidden, "the task's budget does not allow another collection"},
	prio.Restored:     {http.StatusConflict, "an aggregator was restored from an older copy of its state, and others refuse it for good"},
}

func refuse(kind, detail string) error {
	return &cluster.Problem{Type: kind, Status: http.StatusConflict, Detail: detail}
}

// fallen is the number of records of an aggregator that was found to be restored: it never has
// enough again, whatever it stores.
const fallen = math.MaxInt64

// witness compares what another aggregator has stored with what it had. One whose state is a copy
// of an older one has forgotten contributions, collections and what they cost; once found, it is
// refused for good.
func (t *work) witness(ctx context.Context, of string, records int64) error {
	restored := false
	err := t.In(ctx, func(tx *sql.Tx) error {
		var before int64
		err := tx.QueryRowContext(ctx, "SELECT records FROM known WHERE aggregator = ?", of).Scan(&before)
		switch {
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			return err
		case records < before:
			restored, records = true, fallen
		case records == before && err == nil:
			return nil
		}
		return know(ctx, tx, of, records)
	})
	if err == nil && restored {
		err = fmt.Errorf("%s has fewer records than it had: %w", of, prio.Refusal(prio.Restored))
	}
	return err
}

func know(ctx context.Context, tx *sql.Tx, of string, records int64) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO known VALUES (?, ?) ON CONFLICT (aggregator) DO UPDATE SET records = excluded.records", of, records)
	return err
}

// locked waits for its turn at the task's jobs and collections.
func (t *work) locked(ctx context.Context, do func() error) error {
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-t.turn }()
	return do()
}

// A Report is a contribution as it travels.
type Report struct {
	Batch string `json:"batch"`
	Time  int64  `json:"time"` // in seconds of 1970, rounded down to an hour
	Nonce []byte `json:"nonce"`
	// Public and the shares are VDAF's; each share is sealed for one aggregator.
	Public []byte   `json:"public_share"`
	Sealed [][]byte `json:"encrypted_input_shares"`
}

// timeStep is what times of contributions are rounded to, so that they tell little.
const timeStep = time.Hour

// timely says what becomes of a contribution by its time: "" if that is right.
func (t *work) timely(at int64, now time.Time) string {
	when := time.Unix(at, 0)
	switch {
	case !now.Before(t.Expires.Add(skew)) || !when.Before(t.Expires):
		return TaskExpired
	case when.Add(timeStep).Before(t.Begins) || when.After(now.Add(skew)):
		return TooEarly
	}
	return ""
}
