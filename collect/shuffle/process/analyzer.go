package process

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"net/http"
	"sync"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/shuffle"
)

// A Result is what the analyzer learned.
type Result struct {
	Batches     int                  `json:"batches"`
	Respondents int64                `json:"respondents"`
	Smallest    int64                `json:"smallest"` // respondents of the smallest batch
	Told        []int64              `json:"told"`     // messages for each answer
	Bad         int64                `json:"bad"`      // messages that are none
	Estimate    *shuffle.Estimate    `json:"estimate,omitempty"`
	Certificate *shuffle.Certificate `json:"certificate"`
}

const analyzerSchema = `
CREATE TABLE IF NOT EXISTS received (batch BLOB PRIMARY KEY, digest BLOB NOT NULL, messages INTEGER NOT NULL, bad INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS told (answer INTEGER PRIMARY KEY, messages INTEGER NOT NULL)`

// analyzer opens messages and counts them.
func analyzer(ctx context.Context, s *cluster.Station) error {
	p, err := protocol(s)
	if err != nil {
		return err
	}
	certificate, err := p.Certify(ctx)
	if err != nil {
		return err
	}
	private, err := sealKey(s)
	if err != nil {
		return err
	}
	db, err := database(ctx, s, analyzerSchema)
	if err != nil {
		return err
	}
	defer db.Close()
	public := key{Key: hex.EncodeToString(private.PublicKey().Bytes()), Digest: digest(p)}
	m := http.NewServeMux()
	m.HandleFunc("GET /key", func(w http.ResponseWriter, _ *http.Request) { answer(w, public) })
	m.Handle("POST /batch", cluster.Only(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, ok := body(w, r, batchLimit(p, p.Messages()*shuffle.SealedMessage))
		if !ok {
			return
		}
		size := p.Messages() * shuffle.SealedMessage
		if len(b) < idSize || (len(b)-idSize)%size != 0 {
			cluster.Refuse(w, http.StatusBadRequest, "invalidMessage", "a message has not the size of all")
			return
		}
		if (len(b)-idSize)/size < p.Batch {
			cluster.Refuse(w, http.StatusBadRequest, "invalidBatchSize", "fewer respondents than a batch has")
			return
		}
		var mu sync.Mutex
		told, bad := map[int]int64{}, int64(0)
		sealed := b[idSize:]
		each(len(sealed)/shuffle.SealedMessage, func(i int) {
			a, err := p.OpenMessage(private, sealed[i*shuffle.SealedMessage:(i+1)*shuffle.SealedMessage])
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				bad++
			} else {
				told[a]++
			}
		})
		tally, err := count(r.Context(), db, b, told, bad)
		switch {
		case errors.Is(err, errConflict):
			cluster.Refuse(w, http.StatusConflict, "batchMismatch", "this name has come with other bytes")
		case err != nil:
			failed(w, s, err)
		default:
			answer(w, tally)
		}
	}), Hop2))
	m.Handle("GET /result", cluster.Only(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		result, err := result(r.Context(), db, p)
		if err != nil {
			failed(w, s, err)
			return
		}
		result.Certificate = certificate
		answer(w, result)
	}), Owner))
	return s.Serve(ctx, m)
}

// count adds a batch to what was told, once.
func count(ctx context.Context, db *sql.DB, batch []byte, told map[int]int64, bad int64) (t Tally, err error) {
	messages := (len(batch) - idSize) / shuffle.SealedMessage
	d := sha256.Sum256(batch)
	err = in(ctx, db, func(tx *sql.Tx) error {
		var before []byte
		err := tx.QueryRowContext(ctx, "SELECT digest FROM received WHERE batch = ?", batch[:idSize]).Scan(&before)
		switch {
		case err == nil && bytes.Equal(before, d[:]):
			t.Repeated = messages
			return nil
		case err == nil:
			return errConflict
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO received VALUES (?, ?, ?, ?)", batch[:idSize], d[:], messages, bad); err != nil {
			return err
		}
		for a, n := range told {
			if _, err := tx.ExecContext(ctx, "INSERT INTO told VALUES (?, ?) ON CONFLICT (answer) DO UPDATE SET messages = messages + excluded.messages", a, n); err != nil {
				return err
			}
		}
		t.Accepted, t.Refused = messages-int(bad), int(bad)
		return nil
	})
	return t, err
}

// beta is the probability with which an interval of a result may fail.
const beta = 0.05

func result(ctx context.Context, db *sql.DB, p *shuffle.Protocol) (*Result, error) {
	r := &Result{Told: make([]int64, p.Answers)}
	err := in(ctx, db, func(tx *sql.Tx) error {
		var messages, smallest int64
		if err := tx.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(messages), 0), coalesce(min(messages), 0), coalesce(sum(bad), 0) FROM received").Scan(&r.Batches, &messages, &smallest, &r.Bad); err != nil {
			return err
		}
		r.Respondents, r.Smallest = messages/int64(p.Messages()), smallest/int64(p.Messages())
		rows, err := tx.QueryContext(ctx, "SELECT answer, messages FROM told")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var a int
			var n int64
			if err := rows.Scan(&a, &n); err != nil {
				return err
			}
			r.Told[a] = n
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	// Messages that are none are those of respondents who break the protocol: they widen intervals.
	if r.Respondents > 0 {
		r.Estimate, err = p.Estimate(r.Told, r.Respondents, beta)
	}
	return r, err
}
