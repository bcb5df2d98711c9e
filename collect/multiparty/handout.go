package multiparty

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
)

// handOut sends what is left of a task's shares. A share that was acknowledged is forgotten.
func (h *Holder) handOut(ctx context.Context, hash string) error {
	for _, m := range h.Federation.Parties {
		var message []byte
		err := h.db.QueryRowContext(ctx, "SELECT message FROM outbox WHERE task = ? AND party = ?", hash, m.Name).Scan(&message)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return err
		}
		before, err := h.known(ctx, m.Name)
		if err != nil {
			return err
		}
		data, err := h.call(ctx, m, http.MethodPut, "/tasks/"+hash+"/share", message)
		if err != nil {
			return err
		}
		var r receipt
		if err := strict(data, &r); err != nil || r.Task != hash {
			return problem(partyUnreachable, "party "+m.Name+" answers with something else")
		}
		if err := h.delivered(ctx, hash, m.Name, before, r.Records); err != nil {
			return err
		}
	}
	return nil
}

func (h *Holder) delivered(ctx context.Context, hash, party string, before, records int64) error {
	tx, err := h.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := h.witness(ctx, tx, party, before, records); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM outbox WHERE task = ? AND party = ?", hash, party); err != nil {
		return err
	}
	return tx.Commit()
}

// noise has every party draw its noise for a task, and returns the marks. It shows that each is there,
// and the one that it was.
func (h *Holder) noise(ctx context.Context, hash string, m noiseMessage) (marks [][]byte, err error) {
	message, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	for _, p := range h.Federation.Parties {
		before, err := h.known(ctx, p.Name)
		if err != nil {
			return nil, err
		}
		data, err := h.call(ctx, p, http.MethodPut, "/tasks/"+hash+"/noise", message)
		if err != nil {
			return nil, err
		}
		var d drawn
		if err := strict(data, &d); err != nil || d.Task != hash || len(d.Mark) == 0 {
			return nil, problem(partyUnreachable, "party "+p.Name+" answers with something else")
		}
		if err := h.witness(ctx, h.db, p.Name, before, d.Records); err != nil {
			return nil, err
		}
		marks = append(marks, d.Mark)
	}
	return marks, nil
}

// known is how many records a party had, when it was last heard of.
func (h *Holder) known(ctx context.Context, party string) (records int64, err error) {
	err = h.db.QueryRowContext(ctx, "SELECT records FROM parties WHERE name = ?", party).Scan(&records)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return records, err
}

type executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// witness compares what a party has written with what it had before it was asked. A party whose
// state is a copy of an older one has lost tasks. That it makes no second sum of one, with other noise,
// does not rest on this count, but on the marks of its noise (partySchema).
func (h *Holder) witness(ctx context.Context, db executor, party string, before, records int64) error {
	if records < before {
		h.Log.Error("party was restored from an older copy", "party", party, "records", records, "before", before)
		return problem(partyRestored, "party "+party+" has fewer records than it had: it was restored from an older copy")
	}
	_, err := db.ExecContext(ctx, "INSERT INTO parties VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET records = max(records, excluded.records)", party, records)
	return err
}

// call asks a party. What it refuses passes on; all else means that it cannot be reached.
func (h *Holder) call(ctx context.Context, m Member, method, path string, message []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, h.Patience)
	defer cancel()
	data, err := call(ctx, h.Identity, m, method, path, message)
	var p *Problem
	if errors.As(err, &p) {
		return nil, p
	}
	if err != nil {
		h.Log.Warn("party cannot be reached", "party", m.Name, "cause", err)
		return nil, problem(partyUnreachable, "party "+m.Name+" cannot be reached")
	}
	return data, nil
}
