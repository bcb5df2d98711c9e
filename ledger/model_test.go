package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/privacy"
)

// model is what a ledger of one domain with epsilon 1 must do, in a few lines.
type model struct {
	spent       *big.Rat
	suspended   bool
	reserved    map[int64]string // uncommitted, with their keys
	uncommitted int64
	used        map[string]string // idempotency keys, with their statements
	answers     map[string]string // the first answer committed for a key
	guards      DomainBudget      // what was confirmed last
}

// Random sequences of everything that can be asked of a ledger, opened again now
// and then by one of two handles, behave as the model does.
func TestLedgerBehavesAsItsModel(t *testing.T) {
	if raceDetector {
		t.Skip("one goroutine at a time: nothing for the race detector to see")
	}
	t.Parallel()
	outer, dir := t, t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := fresh(outer)
		o := Options{Domains: []DomainBudget{guarding(visits...)}, Anchor: filepath.Join(dir, strconv.Itoa(n)), Now: now}
		l := must(Create(ctx, path, o))
		other := must(Open(ctx, path, o))
		defer func() { l.Close(); other.Close() }()
		m := &model{spent: new(big.Rat), reserved: map[int64]string{}, used: map[string]string{}, answers: map[string]string{}, guards: guarding(visits...)}
		pick := func() int64 {
			return rapid.SampledFrom(append([]int64{1}, slices.Sorted(maps.Keys(m.reserved))...)).Draw(t, "reservation")
		}
		t.Repeat(map[string]func(*rapid.T){
			"reserve": func(t *rapid.T) {
				key := rapid.SampledFrom([]string{"", "", "k1", "k2"}).Draw(t, "key")
				stmt := rapid.SampledFrom([]string{"SELECT 1", "SELECT 2"}).Draw(t, "statement")
				eps := big.NewRat(rapid.Int64Range(1, 60).Draw(t, "epsilon"), 100)
				r, err := l.Reserve(ctx, Request{Domain: "patient", Statement: stmt, IdempotencyKey: key, Now: now, Guard: m.guards.Guard(),
					Events: []privacy.Event{privacy.Pure{Epsilon: must(privacy.NewEpsilon(eps))}}})
				stored, replayed := m.answers[key]
				total := new(big.Rat).Add(m.spent, eps)
				switch was, used := m.used[key]; {
				case used && was != stmt:
					expect(t, err, ErrIdempotencyKey)
				case key != "" && replayed:
					if err != nil || string(r.Answer) != stored {
						t.Fatalf("stored answer %q: %+v, %v", stored, r, err)
					}
				case m.suspended:
					expect(t, err, ErrSuspended)
				case total.Cmp(big.NewRat(1, 1)) > 0:
					expect(t, err, ErrExhausted)
				default:
					if err != nil || r.Answer != nil || r.Remaining.Epsilon.Rat().Cmp(new(big.Rat).Sub(big.NewRat(1, 1), total)) != 0 {
						t.Fatalf("reserve %v of %v: %+v, %v", eps, m.spent, r, err)
					}
					m.spent, m.reserved[r.ID] = total, key
					m.uncommitted++
					if key != "" {
						m.used[key] = stmt
					}
				}
			},
			"commit": func(t *rapid.T) {
				id := pick()
				answer := fmt.Sprint("answer of ", id)
				err := l.Commit(ctx, &Reservation{ID: id, Domain: "patient"}, []byte(answer))
				key, open := m.reserved[id]
				if open != (err == nil) {
					t.Fatalf("commit %d, open %v: %v", id, open, err)
				}
				if !open {
					return
				}
				delete(m.reserved, id)
				m.uncommitted--
				if _, ok := m.answers[key]; key != "" && !ok {
					m.answers[key] = answer
				}
			},
			"suspend": func(t *rapid.T) {
				m.suspended = true
				expect(t, l.Suspend(ctx, "patient", 0, "memory", now), nil)
			},
			"acknowledge": func(t *rapid.T) {
				m.suspended = false
				expect(t, l.Acknowledge(ctx, "patient", "seen", now), nil)
			},
			"confirm": func(t *rapid.T) {
				d := rapid.SampledFrom([]DomainBudget{guarding(visits...), guarding(visits[0]), guarding()}).Draw(t, "guards")
				changed, err := l.Confirm(ctx, d, "", now)
				if same := bytes.Equal(d.Guard(), m.guards.Guard()); err != nil || (changed == "") != same {
					t.Fatalf("confirm %v after %v: %q, %v", d.Guards, m.guards.Guards, changed, err)
				}
				m.guards = d
			},
			"access": func(t *rapid.T) {
				expect(t, l.Access(ctx, "patient", "owner", "a look", now), nil)
			},
			"the other process": func(t *rapid.T) { l, other = other, l },
			"open again": func(t *rapid.T) {
				expect(t, l.Close(), nil)
				l = must(Open(ctx, path, Options{Domains: []DomainBudget{m.guards}, Anchor: o.Anchor}))
			},
			"": func(t *rapid.T) {
				expect(t, other.Check(ctx, []DomainBudget{m.guards}), nil)
				b := must(other.Balance(ctx, "patient"))
				if b.Spent.Epsilon.Rat().Cmp(m.spent) != 0 || b.Suspended != m.suspended || b.Uncommitted != m.uncommitted {
					t.Fatalf("balance %+v, want %+v", b, m)
				}
			},
			"verify": func(t *rapid.T) { expect(t, other.Verify(ctx), nil) },
		})
		expect(t, l.Verify(ctx), nil)
	})
}

func expect(t *rapid.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}
