package node

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/budget/durable"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/ledger"
)

// Books are a node's requests and what became of them: files in its folder, and registers
// of its ledger. A register is written once, with the charge that it stands for or with
// none; so what it says is decided by one transaction, whatever is killed and whoever else
// has the ledger open.
type Books struct {
	dir    string
	config Config
	ledger *ledger.Ledger
	now    func() time.Time
}

// OpenBooks opens a node's books, and makes them where there are none yet.
func OpenBooks(ctx context.Context, dir string, c Config, now func() time.Time) (*Books, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	anchor := in(dir, "anchor")
	if c.Anchor != "" {
		anchor = in(dir, c.Anchor)
	}
	o := ledger.Options{Anchor: anchor, Now: now()}
	for _, d := range c.Data {
		o.Domains = append(o.Domains, d.domain())
	}
	path := filepath.Join(dir, "discreet.ledger")
	_, err := os.Lstat(path)
	var l *ledger.Ledger
	if errors.Is(err, fs.ErrNotExist) {
		// Refused where an anchor says that there was one.
		l, err = ledger.Create(ctx, path, o)
	} else if err == nil {
		l, err = ledger.Open(ctx, path, o)
	}
	if err != nil {
		return nil, err
	}
	for _, folder := range []string{"requests", "releases"} {
		if err := custody.Folder(filepath.Join(dir, folder)); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return &Books{dir, c, l, now}, nil
}

// Close closes the ledger.
func (b *Books) Close() error { return b.ledger.Close() }

// data returns the declaration of a name.
func (b *Books) data(name string) (Data, bool) {
	for _, d := range b.config.Data {
		if d.Name == name {
			return d, true
		}
	}
	return Data{}, false
}

// budget is that of data, as charged by an asker.
func (b *Books) budget(ctx context.Context, data, asker string) (*durable.Budget, error) {
	return durable.New(ctx, b.ledger, durable.Options{Domain: data, Analyst: asker, Now: b.now})
}

// An asked request is what stands in its file.
type asked struct {
	Request Request `json:"request"`
	Status  Status  `json:"status"` // as of when it was asked
	Strict  float64 `json:"strict"` // epsilon at the plan's delta, which is at most the budget's
}

func (b *Books) requestFile(asker, id string) string {
	return filepath.Join(b.dir, "requests", asker+"."+id+".json")
}

func (b *Books) releaseFile(asker, id string, round int) string {
	return filepath.Join(b.dir, "releases", fmt.Sprintf("%s.%s.%d.json", asker, id, round))
}

// ErrUnknown: there is no such request.
var ErrUnknown = errors.New("there is no such request")

func (b *Books) asked(asker, id string) (*asked, error) {
	if !name.MatchString(asker) || !name.MatchString(id) {
		return nil, ErrUnknown
	}
	text, err := os.ReadFile(b.requestFile(asker, id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrUnknown
	} else if err != nil {
		return nil, err
	}
	a := &asked{}
	if err := json.Unmarshal(text, a); err != nil {
		return nil, fmt.Errorf("read request %s of %s: %w", id, asker, err)
	}
	return a, nil
}

// store writes a file whole, or not at all.
func store(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return custody.Replace(path, text)
}

// The registers of a request.
const (
	decision = "decision"
	charge   = "charge"
	refusal  = "refusal"
	release  = "release"
)

// register names a register of a request, of a round if it is not negative. Its statement
// binds the request itself, so that what stands for one is never taken for another, also
// where the request's file was lost.
func register(kind string, a *asked, round int) (key, statement string, err error) {
	key = "federated " + kind + " " + a.Status.Asker + " " + a.Status.ID
	if round >= 0 {
		key += fmt.Sprintf(" %d", round)
	}
	text, err := json.Marshal(a.Request)
	return key, key + " of " + digest(text), err
}

// whole is the round of a register that is about all of a request.
const whole = -1

// other says of an error of the ledger that the id stands for another request.
func other(err error) error {
	if errors.Is(err, ledger.ErrIdempotencyKey) {
		return fmt.Errorf("%w: %w", ErrOther, err)
	}
	return err
}

// word is what a register says.
type word struct {
	Approved bool      `json:"approved,omitempty"`
	By       string    `json:"by,omitempty"`
	Why      string    `json:"why,omitempty"`
	Digest   string    `json:"digest,omitempty"` // of what was released
	Time     time.Time `json:"time,omitzero"`
}

// registered returns what a register of a request says, or nil.
func (b *Books) registered(ctx context.Context, kind string, a *asked, round int) (*word, error) {
	budget, err := b.budget(ctx, a.Status.Data, a.Status.Asker)
	if err != nil {
		return nil, err
	}
	key, statement, err := register(kind, a, round)
	if err != nil {
		return nil, err
	}
	text, err := budget.Registered(ctx, key, statement)
	if text == nil || err != nil {
		return nil, other(err)
	}
	w := &word{}
	return w, json.Unmarshal(text, w)
}

// register writes a register, with what it charges, and returns what it says then.
func (b *Books) register(ctx context.Context, kind string, a *asked, round int, r budget.Release, w word) (*word, error) {
	own, err := b.budget(ctx, a.Status.Data, a.Status.Asker)
	if err != nil {
		return nil, err
	}
	w.Time = b.now().UTC()
	text, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	key, statement, err := register(kind, a, round)
	if err != nil {
		return nil, err
	}
	r.Statement = statement
	if text, err = own.Register(ctx, key, r, text); err != nil {
		return nil, other(err)
	}
	said := &word{}
	return said, json.Unmarshal(text, said)
}

// Status returns what is known of a request.
func (b *Books) Status(ctx context.Context, asker, id string) (Status, error) {
	a, err := b.asked(asker, id)
	if err != nil {
		return Status{}, err
	}
	return b.status(ctx, a)
}

func (b *Books) status(ctx context.Context, a *asked) (Status, error) {
	s := a.Status
	balance, err := b.ledger.Balance(ctx, s.Data)
	if err != nil {
		return Status{}, err
	}
	s.Left, s.Measure, s.State = balance.Remaining, balance.Measure, Pending
	said, err := b.registered(ctx, decision, a, whole)
	if err != nil || said == nil {
		return s, err
	}
	if s.By, s.Why, s.State = said.By, said.Why, Denied; !said.Approved {
		return s, nil
	}
	s.State = Approved
	if said, err = b.registered(ctx, refusal, a, whole); err != nil || said != nil {
		if said != nil {
			s.State, s.Why = Refused, said.Why
		}
		return s, err
	}
	for round := range a.rounds() {
		if _, err := os.Lstat(b.releaseFile(s.Asker, s.ID, round)); err != nil {
			continue
		}
		said, err := b.registered(ctx, release, a, round)
		if err != nil {
			return s, err
		}
		if said != nil {
			s.State, s.Rounds = Released, append(s.Rounds, round)
		}
	}
	return s, nil
}

// rounds is how many releases a request may have.
func (a *asked) rounds() int {
	if a.Request.Plan != nil {
		return a.Request.Plan.Rounds
	}
	return 1
}

// Requests returns all requests, the oldest first.
func (b *Books) Requests(ctx context.Context) ([]Status, error) {
	files, err := filepath.Glob(filepath.Join(b.dir, "requests", "*.json"))
	if err != nil {
		return nil, err
	}
	var all []Status
	for _, f := range files {
		asker, id, _ := strings.Cut(strings.TrimSuffix(filepath.Base(f), ".json"), ".")
		s, err := b.Status(ctx, asker, id)
		if err != nil {
			return nil, err
		}
		at := len(all)
		for at > 0 && all[at-1].Asked.After(s.Asked) {
			at--
		}
		all = append(all[:at], append([]Status{s}, all[at:]...)...)
	}
	return all, nil
}

// ErrDecided: the request was decided the other way.
var ErrDecided = errors.New("the request was decided before, for good")

// Decide records the owner's word on a request, for good.
func (b *Books) Decide(ctx context.Context, asker, id string, approve bool, by, why string) (Status, error) {
	a, err := b.asked(asker, id)
	if err != nil {
		return Status{}, err
	}
	if by == "" || !approve && why == "" {
		return Status{}, errors.New("a decision needs who decides, and a denial its reason")
	}
	said, err := b.register(ctx, decision, a, whole, budget.Release{}, word{Approved: approve, By: by, Why: why})
	if err != nil {
		return Status{}, err
	}
	s, err := b.status(ctx, a)
	if err == nil && said.Approved != approve {
		err = ErrDecided
	}
	return s, err
}

func digest(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// Spent is what was charged for data.
func (b *Books) Spent(ctx context.Context, data string) (filter.Amounts, error) {
	balance, err := b.ledger.Balance(ctx, data)
	return balance.Spent, err
}

// Verify checks the ledger's chain.
func (b *Books) Verify(ctx context.Context) error { return b.ledger.Verify(ctx) }
