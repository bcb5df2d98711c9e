package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// MaxAnswer bounds what a peer answers, in bytes.
const MaxAnswer = 64 << 20

// Ask sends bytes to a peer and reads its answer, JSON, into to; nil throws it away. What the
// peer refuses is a *Problem, with the status of the answer.
func (s *Station) Ask(ctx context.Context, peer, method, path string, send []byte, to any) error {
	r, err := http.NewRequestWithContext(ctx, method, s.URL(peer, path), bytes.NewReader(send))
	if err != nil {
		return fmt.Errorf("ask %s: %w", peer, err)
	}
	got, err := s.Client(peer).Do(r)
	if err != nil {
		return fmt.Errorf("ask %s: %w", peer, err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(io.LimitReader(got.Body, MaxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("read the answer of %s: %w", peer, err)
	case len(text) > MaxAnswer:
		return fmt.Errorf("read the answer of %s: it is too long", peer)
	case got.StatusCode != http.StatusOK:
		var p Problem
		if json.Unmarshal(text, &p) != nil || p.Type == "" {
			p = Problem{Type: "unavailable"}
		}
		p.Status = got.StatusCode
		return fmt.Errorf("ask %s: %w", peer, &p)
	case to == nil:
		return nil
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("read the answer of %s: %w", peer, err)
	}
	return nil
}

// Passing reports whether asking again, with the same bytes, may end otherwise: the other side
// was not reached, or could not do its part. What it refuses stays refused.
func Passing(err error) bool {
	var p *Problem
	return err != nil && !(errors.As(err, &p) && p.Status < http.StatusInternalServerError)
}

// Read reads the whole body of a request, of at most limit bytes, or refuses it: a part is none.
func Read(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, bool) {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		Refuse(w, http.StatusRequestEntityTooLarge, "invalidMessage", "the body is cut off or too long")
		return nil, false
	}
	return b, true
}

// Answer answers with JSON.
func Answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v) //nolint:errcheck // the caller has gone
}
