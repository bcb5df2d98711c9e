package process

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/multiparty/prio"
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
