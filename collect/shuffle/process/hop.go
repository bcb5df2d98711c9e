package process

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hpke"
	"crypto/rsa"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/shuffle"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
)

const (
	maxReports = 1000                   // of one request
	idSize     = 16                     // of a batch's name
	pause      = 500 * time.Millisecond // before what failed is tried again
)

// hopSchema: spent has every token that was taken, with a digest of what it came with, for
// good; inbox has what waits to be mixed, in the order of tokens' digests, which is no order of
// arrival; received and outbox have the names of batches, and outbox the bytes of those that
// were not acknowledged.
const hopSchema = `
CREATE TABLE IF NOT EXISTS spent (token BLOB PRIMARY KEY, bundle BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS inbox (token BLOB PRIMARY KEY, crowd INTEGER NOT NULL, item BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS received (batch BLOB PRIMARY KEY, digest BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS outbox (batch BLOB PRIMARY KEY, body BLOB) WITHOUT ROWID`

// A shuffler is one hop. The first reads bundles of respondents, the last those of the first.
type shuffler struct {
	*cluster.Station
	p        *shuffle.Protocol
	as       shuffle.Reader
	next     string
	private  hpke.PrivateKey
	issuer   *rsa.PublicKey
	db       *sql.DB
	arrivals chan *arrival
	wake     chan struct{} // something is in the outbox
	stale    atomic.Bool   // what was deleted may be in the file's log
}

// An item is one bundle, opened: what goes on of it.
type item struct {
	token, bundle []byte // digests
	crowd         uint64
	body          []byte
	bad           bool
}

// An arrival is the items of one request, which waits for them to be stored.
type arrival struct {
	batch, digest []byte // of a batch of another shuffler; nil
	items         []item
	tally         Tally
	done          chan error
}

// A Tally says what became of bundles.
type Tally struct {
	Accepted int `json:"accepted"`
	Repeated int `json:"repeated"` // they were accepted before: nothing changed
	Refused  int `json:"refused"`  // bad seals, bad tokens, tokens that came with another bundle
}

func hop(ctx context.Context, s *cluster.Station) error {
	p, err := protocol(s)
	if err != nil {
		return err
	}
	h := &shuffler{Station: s, p: p, as: shuffle.First, next: Hop2, arrivals: make(chan *arrival), wake: make(chan struct{}, 1)}
	if s.Name() == Hop2 {
		h.as, h.next = shuffle.Last, Analyzer
	}
	if h.private, err = sealKey(s); err != nil {
		return err
	}
	var issuerText string
	if h.issuer, issuerText, err = knownIssuer(ctx, s, p); err != nil {
		return err
	}
	if h.db, err = database(ctx, s, hopSchema); err != nil {
		return err
	}
	defer h.db.Close()
	h.stale.Store(true) // a process before this one may have been killed
	public := key{Key: hex.EncodeToString(h.private.PublicKey().Bytes()), Issuer: issuerText, Digest: digest(p)}
	m := http.NewServeMux()
	m.HandleFunc("GET /key", func(w http.ResponseWriter, _ *http.Request) { answer(w, public) })
	if h.as == shuffle.First {
		m.Handle("POST /reports", cluster.Only(http.HandlerFunc(h.reports), Client))
	} else {
		m.Handle("POST /batch", cluster.Only(http.HandlerFunc(h.batch), Hop1))
	}
	return beside(ctx, func(ctx context.Context) error { return s.Serve(ctx, m) }, h.write, h.send)
}

// reports takes bundles from respondents, one after the other in the body.
func (h *shuffler) reports(w http.ResponseWriter, r *http.Request) {
	b, ok := body(w, r, int64(maxReports*h.p.FirstSize()))
	if ok {
		h.take(w, r, &arrival{}, b, h.p.FirstSize())
	}
}

// batch takes a batch of the shuffler before: its name, then bundles.
func (h *shuffler) batch(w http.ResponseWriter, r *http.Request) {
	b, ok := body(w, r, batchLimit(h.p, h.p.LastSize()))
	if !ok {
		return
	}
	if len(b) < idSize {
		cluster.Refuse(w, http.StatusBadRequest, "invalidMessage", "a batch without a name")
		return
	}
	d := sha256.Sum256(b)
	h.take(w, r, &arrival{batch: b[:idSize], digest: d[:]}, b[idSize:], h.p.LastSize())
}

// batchLimit is how many bytes a batch has at most: see pieces.
func batchLimit(p *shuffle.Protocol, size int) int64 { return idSize + int64(2*p.Batch)*int64(size) }

// pieces divides what is in a random order into batches of size or more, each less than twice
// that, so that whoever is next takes it. What is less than size is no batch.
func pieces(items []item, size int) (all [][]item) {
	n := len(items) / size
	for i := range n {
		all = append(all, items[i*len(items)/n:(i+1)*len(items)/n])
	}
	return all
}

// take opens bundles, has them stored, and says what became of them. It answers only when they
// are on stable storage.
func (h *shuffler) take(w http.ResponseWriter, r *http.Request, a *arrival, b []byte, size int) {
	if len(b) == 0 || len(b)%size != 0 {
		cluster.Refuse(w, http.StatusBadRequest, "invalidMessage", "a bundle has not the size of all")
		return
	}
	a.items, a.done = make([]item, len(b)/size), make(chan error, 1)
	each(len(a.items), func(i int) { a.items[i] = h.read(b[i*size : (i+1)*size]) })
	select {
	case h.arrivals <- a:
	case <-r.Context().Done():
		return
	}
	switch err := <-a.done; {
	case errors.Is(err, errConflict):
		cluster.Refuse(w, http.StatusConflict, "batchMismatch", "this name has come with other bytes")
	case err != nil:
		failed(w, h.Station, err)
	default:
		answer(w, a.tally)
	}
}

var errConflict = errors.New("a batch came twice with different bytes")

// read opens one bundle and verifies its token.
func (h *shuffler) read(sealed []byte) (it item) {
	var token shuffle.Token
	var err error
	if h.as == shuffle.First {
		token, it.body, err = h.p.OpenFirst(h.private, sealed)
	} else {
		token, it.crowd, it.body, err = h.p.OpenLast(h.private, sealed)
	}
	if err == nil {
		err = h.p.Verify(h.issuer, h.as, token)
	}
	if err != nil {
		return item{bad: true}
	}
	t, d := sha256.Sum256(token[:]), sha256.Sum256(sealed)
	it.token, it.bundle = t[:], d[:]
	return it
}

// write stores arrivals, all that wait in one transaction, and cuts batches. It is the only
// writer but for acknowledgements.
func (h *shuffler) write(ctx context.Context) error {
	again := time.After(0) // what a process before this one stored last
	for {
		var waiting []*arrival
		select {
		case <-ctx.Done():
			return nil
		case <-again:
		case a := <-h.arrivals:
			waiting = append(waiting, a)
		}
	more:
		for len(waiting) < maxReports {
			select {
			case a := <-h.arrivals:
				waiting = append(waiting, a)
			default:
				break more
			}
		}
		// An arrival that is refused as a whole must not take others with it.
		failures := make([]error, len(waiting))
		err := in(ctx, h.db, func(tx *sql.Tx) error {
			for i, a := range waiting {
				if failures[i] = h.store(ctx, tx, a); failures[i] != nil && !errors.Is(failures[i], errConflict) {
					return failures[i]
				}
			}
			return nil
		})
		for i, a := range waiting {
			a.done <- cmp.Or(err, failures[i])
		}
		if err == nil {
			err = h.cut(ctx)
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			h.Log.Error("could not store", "error", err.Error())
			again = time.After(pause) // a cut that failed waits for nobody's report
		}
	}
}

// ended is nil where the context's end is why something failed.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (h *shuffler) store(ctx context.Context, tx *sql.Tx, a *arrival) error {
	a.tally = Tally{}
	if a.batch != nil {
		var before []byte
		err := tx.QueryRowContext(ctx, "SELECT digest FROM received WHERE batch = ?", a.batch).Scan(&before)
		switch {
		case err == nil && bytes.Equal(before, a.digest):
			a.tally.Repeated = len(a.items)
			return nil
		case err == nil:
			return errConflict
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO received VALUES (?, ?)", a.batch, a.digest); err != nil {
			return err
		}
	}
	for _, it := range a.items {
		if it.bad {
			a.tally.Refused++
			continue
		}
		r, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO spent VALUES (?, ?)", it.token, it.bundle)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil {
			return err
		} else if n == 0 {
			var before []byte
			if err := tx.QueryRowContext(ctx, "SELECT bundle FROM spent WHERE token = ?", it.token).Scan(&before); err != nil {
				return err
			}
			if bytes.Equal(before, it.bundle) {
				a.tally.Repeated++
			} else {
				a.tally.Refused++
			}
			continue
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO inbox VALUES (?, ?, ?)", it.token, int64(it.crowd), it.body); err != nil {
			return err
		}
		a.tally.Accepted++
	}
	return nil
}

// enough is how many must wait before they are cut. Where some of each crowd are withheld, at
// least a batch of the rest is wanted.
func (h *shuffler) enough() int {
	if h.as == shuffle.Last {
		return h.p.Waiting()
	}
	return h.p.Batch
}

// cut takes all that waits, if that is enough, mixes it and puts it into the outbox, each batch
// under a random name: in one transaction, so that a crash leaves either.
func (h *shuffler) cut(ctx context.Context) error {
	cut := false
	err := in(ctx, h.db, func(tx *sql.Tx) error {
		var waiting int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM inbox").Scan(&waiting); err != nil || waiting < h.enough() {
			return err
		}
		items, err := inbox(ctx, tx)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM inbox"); err != nil {
			return err
		}
		random := entropy.New()
		mixed, err := h.mix(noise.NewStream(random), items)
		if err != nil {
			return err
		}
		cut = true
		if len(mixed) == 0 {
			h.Log.Warn("a batch was withheld: too few respondents are in crowds that are large enough")
		}
		for _, batch := range mixed {
			name := make([]byte, idSize)
			if _, err := random.Read(name); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO outbox VALUES (?, ?)", name, append(name, batch...)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cut a batch: %w", err)
	}
	if cut {
		h.forget(ctx)
		select {
		case h.wake <- struct{}{}:
		default:
		}
	}
	return nil
}

// forget empties the log that SQLite writes ahead, where what was deleted stands in the order in
// which it came. While another process reads the file it fails, and is tried again.
func (h *shuffler) forget(ctx context.Context) {
	var busy, frames, moved int
	err := h.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	if err == nil && busy != 0 {
		err = errors.New("another process reads the file")
	}
	h.stale.Store(err != nil)
	if err != nil && ctx.Err() == nil {
		h.Log.Warn("could not empty the log of what was deleted; it is tried again", "error", err.Error())
	}
}

func inbox(ctx context.Context, tx *sql.Tx) (items []item, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT crowd, item FROM inbox")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var it item
		var crowd int64
		if err := rows.Scan(&crowd, &it.body); err != nil {
			return nil, err
		}
		it.crowd = uint64(crowd)
		items = append(items, it)
	}
	return items, rows.Err()
}

// mix is the shuffle: of whole bundles at the first shuffler; at the last of all their
// messages, of those respondents whose crowds are large enough. It returns batches, and none
// where fewer respondents than one has are left.
func (h *shuffler) mix(s *noise.Stream, items []item) (batches [][]byte, err error) {
	if err := shuffle.Permute(s, items); err != nil {
		return nil, err
	}
	if h.as == shuffle.First {
		for _, piece := range pieces(items, h.p.Batch) {
			var b []byte
			for _, it := range piece {
				b = append(b, it.body...)
			}
			batches = append(batches, b)
		}
		return batches, nil
	}
	// The items are in a random order, so that the first of a crowd are a random choice.
	left := map[uint64]int{}
	for _, it := range items {
		left[it.crowd]++
	}
	crowds := make([]uint64, 0, len(left))
	for crowd := range left {
		crowds = append(crowds, crowd)
	}
	slices.Sort(crowds)
	for _, crowd := range crowds {
		if left[crowd], err = h.p.Survivors(s, left[crowd]); err != nil {
			return nil, err
		}
	}
	items = slices.DeleteFunc(items, func(it item) bool {
		left[it.crowd]--
		return left[it.crowd] < 0
	})
	for _, piece := range pieces(items, h.p.Batch) {
		var messages [][]byte
		for _, it := range piece {
			messages = slices.AppendSeq(messages, slices.Chunk(it.body, shuffle.SealedMessage))
		}
		if err := shuffle.Permute(s, messages); err != nil {
			return nil, err
		}
		batches = append(batches, bytes.Join(messages, nil))
	}
	return batches, nil
}

// send passes on what is in the outbox until the next member acknowledges it, with the same
// name and bytes each time.
func (h *shuffler) send(ctx context.Context) error {
	for {
		sent, err := h.sendOne(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			h.Log.Warn("could not pass on a batch; it is tried again", "to", h.next, "error", err.Error())
		}
		if sent {
			continue
		}
		if h.stale.Load() {
			h.forget(ctx)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-h.wake:
		case <-time.After(pause):
		}
	}
}

func (h *shuffler) sendOne(ctx context.Context) (sent bool, err error) {
	var name, bytesOf []byte
	err = h.db.QueryRowContext(ctx, "SELECT batch, body FROM outbox WHERE body IS NOT NULL LIMIT 1").Scan(&name, &bytesOf)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	var t Tally
	if err := ask(ctx, h.Station, h.next, http.MethodPost, "/batch", bytes.NewReader(bytesOf), &t); err != nil {
		return false, err
	}
	if _, err := h.db.ExecContext(ctx, "UPDATE outbox SET body = NULL WHERE batch = ?", name); err != nil {
		return false, err
	}
	h.forget(ctx)
	h.Log.Info("passed on a batch", "to", h.next, "accepted", t.Accepted, "repeated", t.Repeated, "refused", t.Refused)
	return true, nil
}
