package multiparty

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/additive"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/store"
	"github.com/discreet-dp/discreet/noise"
)

// PartyOptions say who a party is and where it keeps its state.
type PartyOptions struct {
	Name       string
	Federation *Federation
	Identity   *Identity
	State      string // the file
	Now        func() time.Time
	Log        *slog.Logger
}

// A Party adds up shares and adds noise. It never has a value, nor a total.
type Party struct {
	PartyOptions
	db *sql.DB
}

// A party's tables. A task's row is made with its noise, which is drawn before any share is there,
// and has a random mark. When the last share is there, in that share's own transaction, the noise is
// added, the sum is stored, and all shares but their digests go: a sum is made once, whatever is
// sent again, and however often the process is killed.
//
// A share names the noise that it was made for. So a party whose state is a copy of an older one makes
// no second sum: either the copy has the same noise, and the same shares give the same bytes, or it has
// other noise or none, and they are refused.
const partySchema = `
CREATE TABLE IF NOT EXISTS tasks (digest TEXT PRIMARY KEY, asker TEXT NOT NULL, holders INTEGER NOT NULL, expires INTEGER NOT NULL, demand BLOB NOT NULL, mark BLOB NOT NULL, noise BLOB, sum BLOB) STRICT;
CREATE TABLE IF NOT EXISTS shares (task TEXT NOT NULL, holder TEXT NOT NULL, digest BLOB NOT NULL, share BLOB, PRIMARY KEY (task, holder)) STRICT;
CREATE TABLE IF NOT EXISTS written (records INTEGER NOT NULL) STRICT;
INSERT INTO written SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM written);
`

// OpenParty opens a party's state, and makes it if there is none.
func OpenParty(ctx context.Context, o PartyOptions) (*Party, error) {
	if m, ok := o.Federation.party(o.Name); !ok || m.Key != o.Identity.Key {
		return nil, fmt.Errorf("open party: the federation has no party %q with the key of this identity", o.Name)
	}
	db, err := openState(ctx, o.State, partySchema)
	if err != nil {
		return nil, fmt.Errorf("open party: %w", err)
	}
	return &Party{o, db}, nil
}

func openState(ctx context.Context, path, schema string) (*sql.DB, error) {
	db, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Close closes the state.
func (p *Party) Close() error { return p.db.Close() }

// Handler answers members.
func (p *Party) Handler() http.Handler {
	mux := http.NewServeMux()
	on := func(pattern, role string, answer func(r *http.Request, from Member) ([]byte, error)) {
		mux.HandleFunc(pattern, handle(p.Federation, p.Identity, role, p.Log, answer))
	}
	on("GET /healthz", "", func(*http.Request, Member) ([]byte, error) { return []byte("{}"), nil })
	on("PUT /tasks/{task}/noise", "holder", p.noise)
	on("PUT /tasks/{task}/share", "holder", p.share)
	on("GET /tasks/{task}/sum", "asker", p.sum)
	return mux
}

// handle answers members of a role; of any if it is empty.
func handle(f *Federation, self *Identity, role string, log *slog.Logger, answer func(*http.Request, Member) ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		from, is := f.who(self.caller(r))
		if is == "" || role != "" && is != role {
			writeProblem(w, problem(unauthorized, "this is for a member of another role"))
			return
		}
		out, err := answer(r, from)
		if err != nil {
			p := problemOf(err)
			if p.Name() == internalError {
				log.Error("request failed", "path", r.URL.Path, "from", from.Name, "cause", err)
			}
			writeProblem(w, p)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(out) //nolint:errcheck // the other side asks again
	}
}

// maxNoise bounds the numbers of a noise's parameter, in digits.
const maxNoise = 400

// A demand is the noise and the ring that all holders of a task must agree on.
type demand struct {
	Bits  int                   `json:"bits"`
	Noise []discreet.PartyNoise `json:"noise"`
}

func (d demand) check() (values int, err error) {
	if d.Bits < 64 || d.Bits%64 != 0 || d.Bits > 2048 {
		return 0, problem(invalidMessage, "the ring is none of whole words")
	}
	for _, n := range d.Noise {
		if n.Values < 1 || n.Values > maxBody || len(n.Parameter) > maxNoise {
			return 0, problem(invalidMessage, "a noise is of no values, or its parameter is too long")
		}
		if _, err := adder(n); err != nil {
			return 0, problem(invalidMessage, "a noise has no such parameter")
		}
		if values += n.Values; values > maxBody {
			return 0, problem(invalidMessage, "there are too many values")
		}
	}
	if values == 0 {
		return 0, problem(invalidMessage, "there is no value")
	}
	return values, nil
}

// adder returns the exact noise that a demand names.
func adder(n discreet.PartyNoise) (interface {
	AddTo(bits noise.Bits, values []*big.Int) error
}, error) {
	parameter, ok := new(big.Rat).SetString(n.Parameter)
	if !ok || strings.ContainsAny(n.Parameter, "eE.") {
		return nil, errors.New("no fraction")
	}
	switch n.Distribution {
	case "discrete_laplace":
		if n.Shares != 0 {
			return noise.NewLaplaceShare(parameter, n.Shares)
		}
		return noise.NewDiscreteLaplace(parameter)
	case "discrete_gaussian":
		return noise.NewDiscreteGaussian(parameter)
	case "skellam":
		return noise.NewSkellam(parameter)
	}
	return nil, fmt.Errorf("no noise %q", n.Distribution)
}

// drawNoise draws the noise of a demand, as elements of the ring.
//
// Theorem. Let the parties that follow the protocol add, together, at least the noise that hides the
// total, and take the others' noise as known. To whoever has all else (the other parties' shares and
// noise, the asker's sums) an honest party's own shares are uniform, but that all of them add up to the
// total less known ones. So what the honest parties give away is the total plus their noise, and uniform
// elements that are independent of the data: the whole is a post-processing of one release with the noise
// of the honest parties. Modulo the ring is post-processing, too. Where one of them gives nothing away,
// what the others have given is uniform: noise that is missing reveals nothing, and there is no total.
func drawNoise(bits noise.Bits, ring additive.Ring, demanded []discreet.PartyNoise) (all []byte, err error) {
	for _, n := range demanded {
		values := make([]*big.Int, n.Values)
		for i := range values {
			values[i] = new(big.Int)
		}
		law, err := adder(n)
		if err != nil {
			return nil, err
		}
		if err := law.AddTo(bits, values); err != nil {
			return nil, err
		}
		encoded, err := ring.Encode(values)
		if err != nil {
			return nil, err
		}
		all = append(all, encoded...)
	}
	return all, nil
}

// maxWaiting bounds the noise, in bytes, that is drawn for an asker's tasks without any share yet.
const maxWaiting = 256 << 20

// noise draws the noise of a task, once, and says its mark. Nothing is charged yet.
func (p *Party) noise(r *http.Request, from Member) ([]byte, error) {
	hash := r.PathValue("task")
	data, err := body(r)
	if err != nil {
		return nil, err
	}
	var m noiseMessage
	if err := strict(data, &m); err != nil {
		return nil, problem(invalidMessage, "the noise cannot be read: "+err.Error())
	}
	task, err := decodeTask(m.Task, hash, p.Federation, p.Now())
	if err != nil {
		return nil, err
	}
	if _, ok := task.names[from.Name]; !ok {
		return nil, problem(unauthorized, "the holder is not one of the task's")
	}
	d := demand{m.Bits, m.Noise}
	values, err := d.check()
	if err != nil {
		return nil, err
	}
	ctx := context.WithoutCancel(r.Context())
	mark, err := p.draw(ctx, hash, task, d, values)
	if err != nil {
		return nil, err
	}
	out := drawn{receipt{Task: hash}, mark}
	if err := p.db.QueryRowContext(ctx, "SELECT records FROM written").Scan(&out.Records); err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

func (p *Party) draw(ctx context.Context, hash string, task *Task, d demand, values int) (mark []byte, err error) {
	demanded, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	var first []byte
	switch err := tx.QueryRowContext(ctx, "SELECT demand, mark FROM tasks WHERE digest = ?", hash).Scan(&first, &mark); {
	case err == nil && !bytes.Equal(first, demanded):
		return nil, problem(noiseDiffers, "the holders ask for different noise, or share over different rings")
	case err == nil:
		return mark, nil
	case !errors.Is(err, sql.ErrNoRows):
		return nil, err
	}
	// What no holder was charged for goes when its time is over.
	if _, err := tx.ExecContext(ctx, "DELETE FROM tasks WHERE expires < ? AND digest NOT IN (SELECT task FROM shares)", p.Now().Add(-24*time.Hour).Unix()); err != nil {
		return nil, err
	}
	ring := additive.Ring{Bits: d.Bits}
	var waiting int
	if err := tx.QueryRowContext(ctx, "SELECT coalesce(sum(length(noise)), 0) FROM tasks WHERE asker = ? AND digest NOT IN (SELECT task FROM shares)", task.Asker).Scan(&waiting); err != nil {
		return nil, err
	}
	if waiting+ring.Size(values) > maxWaiting {
		return nil, problem(tooManyTasks, "too much noise waits for this asker's tasks, of which no holder has sent a share; they go after a day")
	}
	added, err := drawNoise(noise.System(), ring, d.Noise)
	if err != nil {
		return nil, err
	}
	mark = make([]byte, 16)
	if _, err := entropy.New().Read(mark); err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, NULL)", hash, task.Asker, len(task.Holders), task.Expires.Unix(), demanded, mark, added); err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE written SET records = records + 1"); err != nil {
		return nil, err
	}
	return mark, tx.Commit()
}

// share takes a holder's share. The same bytes again are taken again, and others refused.
func (p *Party) share(r *http.Request, from Member) ([]byte, error) {
	hash := r.PathValue("task")
	data, err := body(r)
	if err != nil {
		return nil, err
	}
	var m shareMessage
	if err := strict(data, &m); err != nil {
		return nil, problem(invalidMessage, "the share cannot be read: "+err.Error())
	}
	known, err := p.received(r.Context(), hash, from.Name, data)
	if err != nil || known != nil {
		return known, err // also after the task's time: the holder may not have heard
	}
	task, err := decodeTask(m.Task, hash, p.Federation, p.Now())
	if err != nil {
		return nil, err
	}
	if _, ok := task.names[from.Name]; !ok {
		return nil, problem(unauthorized, "the holder is not one of the task's")
	}
	d := demand{m.Bits, m.Noise}
	values, err := d.check()
	if err != nil {
		return nil, err
	}
	ring := additive.Ring{Bits: d.Bits}
	if err := ring.Check(m.Share, values); err != nil {
		return nil, problem(invalidMessage, "the share is no vector of so many values")
	}
	// A connection that is cut while the sum is made must not undo it: the holder asks again.
	return p.keep(context.WithoutCancel(r.Context()), hash, task, d, from.Name, data, m)
}

// received answers a share that is here already, or refuses another one in its place.
func (p *Party) received(ctx context.Context, hash, holder string, data []byte) ([]byte, error) {
	var is []byte
	switch err := p.db.QueryRowContext(ctx, "SELECT digest FROM shares WHERE task = ? AND holder = ?", hash, holder).Scan(&is); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if sum := sha256.Sum256(data); !bytes.Equal(is, sum[:]) {
		return nil, problem(sharesDiffer, "the holder has sent another share for this task")
	}
	return p.acknowledge(ctx, hash)
}

func (p *Party) acknowledge(ctx context.Context, hash string) ([]byte, error) {
	out := receipt{Task: hash}
	if err := p.db.QueryRowContext(ctx, "SELECT records FROM written").Scan(&out.Records); err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// keep stores a share, and with the last one the sum, in one transaction.
func (p *Party) keep(ctx context.Context, hash string, task *Task, d demand, holder string, data []byte, m shareMessage) ([]byte, error) {
	demanded, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	var first, mark []byte
	err = tx.QueryRowContext(ctx, "SELECT demand, mark FROM tasks WHERE digest = ?", hash).Scan(&first, &mark)
	switch {
	case errors.Is(err, sql.ErrNoRows) || err == nil && !bytes.Equal(mark, m.Mark):
		return nil, problem(partyRestored, "this party has not the noise that the share was made for: it was restored from an older copy")
	case err != nil:
		return nil, err
	case !bytes.Equal(first, demanded):
		return nil, problem(noiseDiffers, "the holders ask for different noise, or share over different rings")
	}
	sum := sha256.Sum256(data)
	if _, err := tx.ExecContext(ctx, "INSERT INTO shares VALUES (?, ?, ?, ?)", hash, holder, sum[:], m.Share); err != nil {
		// A second request with the same share came first.
		if known, again := p.received(ctx, hash, holder, data); known != nil || again != nil {
			return known, again
		}
		return nil, err
	}
	if err := p.finish(ctx, tx, hash, task, d); err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE written SET records = records + 1"); err != nil {
		return nil, err
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	return p.acknowledge(ctx, hash)
}

// finish makes the sum if all shares are there.
func (p *Party) finish(ctx context.Context, tx *sql.Tx, hash string, task *Task, d demand) error {
	rows, err := tx.QueryContext(ctx, "SELECT holder, share FROM shares WHERE task = ? ORDER BY holder", hash)
	if err != nil {
		return err
	}
	defer rows.Close()
	ring := additive.Ring{Bits: d.Bits}
	var sum []byte
	var from []string
	for rows.Next() {
		var holder string
		var share []byte
		if err := rows.Scan(&holder, &share); err != nil {
			return err
		}
		if sum == nil {
			sum = share
		} else if err := ring.Add(sum, share); err != nil {
			return err
		}
		from = append(from, holder)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	if len(from) < len(task.Holders) {
		return nil
	}
	var added []byte
	if err := tx.QueryRowContext(ctx, "SELECT noise FROM tasks WHERE digest = ?", hash).Scan(&added); err != nil {
		return err
	}
	if err := ring.Add(sum, added); err != nil {
		return err
	}
	out, err := json.Marshal(sumMessage{Task: hash, Party: p.Name, Bits: d.Bits, Noise: d.Noise, Sum: sum})
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE tasks SET sum = ?, noise = NULL WHERE digest = ?", out, hash); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE shares SET share = NULL WHERE task = ?", hash)
	return err
}

// sum gives the asker the sum: the same bytes whenever it is asked.
func (p *Party) sum(r *http.Request, from Member) ([]byte, error) {
	hash := r.PathValue("task")
	var asker string
	var holders int
	var sum []byte
	err := p.db.QueryRowContext(r.Context(), "SELECT asker, holders, sum FROM tasks WHERE digest = ?", hash).Scan(&asker, &holders, &sum)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, problem(unrecognizedTask, "no holder has sent a share of this task")
	case err != nil:
		return nil, err
	case asker != from.Name:
		return nil, problem(unauthorized, "somebody else has asked this")
	case sum == nil:
		var here int
		if err := p.db.QueryRowContext(r.Context(), "SELECT count(*) FROM shares WHERE task = ?", hash).Scan(&here); err != nil {
			return nil, err
		}
		return nil, problem(sumIncomplete, fmt.Sprintf("%d of %d holders have sent their shares", here, holders))
	}
	return slices.Clone(sum), nil
}
