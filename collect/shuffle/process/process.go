// Package process has the processes of the shuffle model: an issuer of tokens, two shufflers,
// an analyzer, and the sides of respondents and of who asks.
//
// It guarantees that what a shuffler acknowledges is on stable storage; that it passes bundles
// on in batches of at least the question's size, once each: a batch has a name and the same
// bytes whenever it is sent, and the receiver knows the names that it has; that a token is
// taken once, and that no time or address is stored with a bundle; what was passed on is
// overwritten in the shuffler's files.
//
// It does not guarantee that a bundle cannot be told by the time at which it is sent, by who
// sees both ends of a shuffler: batches hide in numbers, not in time. While bundles wait, the
// shuffler's log of writes may tell the order in which they came.
package process

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/shuffle"
	"github.com/discreet-dp/discreet/internal/store"
	"github.com/discreet-dp/discreet/privacy"
)

// The members of the profile.
const (
	Issuer   = "issuer"
	Hop1     = "hop-1"
	Hop2     = "hop-2"
	Analyzer = "analyzer"
	Client   = "client" // respondents
	Owner    = "owner"  // who asks: it enrols respondents and reads results
)

// Profile is the shuffle model as a cluster.
func Profile() cluster.Profile {
	return cluster.Profile{
		Name: "shuffle", Short: "two shufflers, who hide who said what from an analyzer",
		Settings: []cluster.Setting{
			{Name: "kind", Default: "histogram", Usage: "histogram, or sum of numbers"},
			{Name: "answers", Default: "4", Usage: "how many answers there are, or levels that numbers are rounded to"},
			{Name: "lower", Default: "", Usage: "of a sum: numbers are at least this"},
			{Name: "upper", Default: "", Usage: "of a sum: and at most this"},
			{Name: "epsilon", Default: "3", Usage: "what a bundle reveals by itself, at most"},
			{Name: "fakes", Default: "0", Usage: "uniform answers beside each report"},
			{Name: "delta", Default: "1e-6", Usage: "of the guarantee"},
			{Name: "batch", Default: "1000", Usage: "respondents of a batch, at least"},
			{Name: "colluders", Default: "0", Usage: "respondents who may collude, at most: an assumption"},
			{Name: "crowd-threshold", Default: "0", Usage: "withhold crowds of fewer respondents; 0: there are no crowds"},
			{Name: "crowd-epsilon", Default: "1", Usage: "of the noise on a crowd's size"},
			{Name: "crowd-delta", Default: "1e-6", Usage: "and its delta"},
		},
		Members: members,
		Roles:   map[string]cluster.Role{"issuer": issuer, "hop": hop, "analyzer": analyzer},
	}
}

func members(s cluster.Settings) ([]cluster.Member, error) {
	q, err := Question(s)
	if err != nil {
		return nil, err
	}
	if _, err := shuffle.New(*q); err != nil {
		return nil, err
	}
	return []cluster.Member{
		{Name: Issuer, Kind: "issuer", Peers: readers(), Config: q},
		{Name: Analyzer, Kind: "analyzer", Config: q},
		{Name: Hop2, Kind: "hop", Peers: []string{Issuer, Analyzer}, Config: q},
		{Name: Hop1, Kind: "hop", Peers: []string{Issuer, Hop2}, Config: q},
		{Name: Client, Peers: []string{Issuer, Hop1, Hop2, Analyzer}, Config: q},
		{Name: Owner, Peers: []string{Issuer, Hop1, Hop2, Analyzer}, Config: q},
	}, nil
}

// Question reads the settings of the profile.
func Question(s cluster.Settings) (*shuffle.Question, error) {
	q := &shuffle.Question{Kind: shuffle.Kind(s["kind"]), Tokens: true}
	var errs []error
	number := func(name string) int {
		n, err := s.Whole(name)
		if err != nil {
			errs = append(errs, err)
		}
		return n
	}
	rational := func(name string) *big.Rat {
		if s[name] == "" {
			return nil
		}
		r, ok := new(big.Rat).SetString(s[name])
		if !ok {
			errs = append(errs, fmt.Errorf("%s: want a number", name))
		}
		return r
	}
	epsilon := func(name string) privacy.Epsilon {
		e, err := privacy.ParseEpsilon(s[name])
		errs = append(errs, err)
		return e
	}
	delta := func(name string) privacy.Delta {
		d, err := privacy.ParseDelta(s[name])
		errs = append(errs, err)
		return d
	}
	q.Answers, q.Fakes, q.Batch, q.Colluders = number("answers"), number("fakes"), number("batch"), number("colluders")
	q.Lower, q.Upper, q.Epsilon, q.Delta = rational("lower"), rational("upper"), epsilon("epsilon"), delta("delta")
	if t := number("crowd-threshold"); t != 0 {
		q.Crowds = &shuffle.Crowd{Epsilon: epsilon("crowd-epsilon"), Delta: delta("crowd-delta"), Threshold: t}
	}
	return q, errors.Join(errs...)
}

// protocol is the question that stands in a member's folder.
func protocol(s *cluster.Station) (*shuffle.Protocol, error) {
	var q shuffle.Question
	if err := s.Decode(&q); err != nil {
		return nil, fmt.Errorf("read the question: %w", err)
	}
	return shuffle.New(q)
}

// database opens a role's file.
func database(ctx context.Context, s *cluster.Station, schema string) (*sql.DB, error) {
	db, err := store.Open(s.File("state.db"))
	if err != nil {
		return nil, err
	}
	// One connection: what a role does to its file, it does in one order.
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("open the state of %s: %w", s.Name(), err), db.Close())
	}
	return db, nil
}

// in does what f does, or nothing.
func in(ctx context.Context, db *sql.DB, f func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// beside runs things at once, until all have ended; the end of one ends the others.
func beside(ctx context.Context, things ...func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(things))
	var wait sync.WaitGroup
	for i, do := range things {
		wait.Go(func() {
			defer cancel()
			errs[i] = do(ctx)
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// each calls f with the index of each of n things, on all processors.
func each(n int, f func(i int)) {
	var wait sync.WaitGroup
	workers := min(n, runtime.GOMAXPROCS(0))
	for w := range workers {
		wait.Go(func() {
			for i := w; i < n; i += workers {
				f(i)
			}
		})
	}
	wait.Wait()
}

// body reads a request's body of at most limit bytes, or refuses it.
func body(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, bool) {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		cluster.Refuse(w, http.StatusRequestEntityTooLarge, "invalidMessage", "the body is cut off or too long")
		return nil, false
	}
	return b, true
}

// failed answers that this role could not do its part. The log says why.
func failed(w http.ResponseWriter, s *cluster.Station, err error) {
	s.Log.Error("a request failed", "error", err.Error())
	cluster.Refuse(w, http.StatusServiceUnavailable, "unavailable", "try again with the same bytes")
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v) //nolint:errcheck // the caller has gone
}

// ask sends a request to a peer and reads its answer.
func ask(ctx context.Context, s *cluster.Station, peer, method, path string, send io.Reader, to any) error {
	r, err := http.NewRequestWithContext(ctx, method, s.URL(peer, path), send)
	if err != nil {
		return err
	}
	got, err := s.Client(peer).Do(r)
	if err != nil {
		return fmt.Errorf("ask %s: %w", peer, err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(io.LimitReader(got.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", peer, err)
	}
	if got.StatusCode != http.StatusOK {
		var p cluster.Problem
		if json.Unmarshal(text, &p) != nil || p.Type == "" {
			p = cluster.Problem{Type: "unavailable"}
		}
		p.Status = got.StatusCode
		return fmt.Errorf("ask %s: %w", peer, &p)
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("read the answer of %s: %w", peer, err)
	}
	return nil
}

const maxAnswer = 64 << 20

// key is what a role publishes of itself.
type key struct {
	Key    string `json:"key,omitempty"`    // for seals, in hexadecimal digits
	Issuer string `json:"issuer,omitempty"` // the key by which it verifies tokens
	Digest string `json:"digest"`           // of the question that it knows
}

// keyOf asks a role for its keys, and refuses one that knows another question.
func keyOf(ctx context.Context, s *cluster.Station, p *shuffle.Protocol, peer string) (k key, err error) {
	if err := ask(ctx, s, peer, http.MethodGet, "/key", nil, &k); err != nil {
		return k, err
	}
	if k.Digest != digest(p) {
		return k, fmt.Errorf("%s answers another question", peer)
	}
	return k, nil
}

func digest(p *shuffle.Protocol) string { d := p.Digest(); return hex.EncodeToString(d[:]) }
