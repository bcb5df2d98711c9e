//go:build cgo

package audit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// A site is the front door, with the real engine and a real ledger, to a table of
// people of whom some are positive.
type site struct {
	*discreet.Database
	spend privacy.Epsilon
}

func newSite(t *testing.T, secret []bool, budget, each string) *site {
	t.Helper()
	dir, ctx := t.TempDir(), context.Background()
	var csv strings.Builder
	csv.WriteString("id,positive\n")
	for i, b := range secret {
		fmt.Fprintf(&csv, "%d,%v\n", i, b)
	}
	if err := os.WriteFile(filepath.Join(dir, "people.csv"), []byte(csv.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), `
[domains.person]
measure = "pure"
epsilon = `+budget+`
[tables.people]
source = "people.csv"
domain = "person"
unit = "row"
[tables.people.columns]
id = { type = "integer" }
positive = { type = "boolean" }
`)
	if err != nil {
		t.Fatal(err)
	}
	e, err := duckdb.Open(ctx, c, duckdb.Options{Threads: 1, Temp: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	l, err := ledger.Create(ctx, filepath.Join(dir, "discreet.ledger"), ledger.Options{Domains: discreet.Budgets(c), Now: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	db, err := discreet.Open(ctx, discreet.Config{Catalog: c, Engine: e, Ledger: l})
	if err != nil {
		t.Fatal(err)
	}
	return &site{db, epsilon(t, each)}
}

// oracle asks in SQL about the people from first on.
func (s *site) oracle(first int) audit.Oracle {
	return func(ctx context.Context, q audit.Subset) (float64, error) {
		var ids []string
		for i, in := range q {
			if in {
				ids = append(ids, strconv.Itoa(first+i))
			}
		}
		a, err := s.Query(ctx, "SELECT count(*) FROM people WHERE positive AND id IN ("+strings.Join(ids, ", ")+")",
			&discreet.QueryOptions{Spend: discreet.Spend{Epsilon: s.spend}})
		if errors.Is(err, ledger.ErrExhausted) {
			err = fmt.Errorf("%w: %w", audit.ErrRefused, err)
		}
		if err != nil {
			return 0, err
		}
		return strconv.ParseFloat(sqltype.Format(a.Rows[0][0]), 64)
	}
}

// The same attacks through the front door: SQL, the certificate, the engine, the
// ledger. Many runs share a database: each run is about people of its own, whose loss
// is what their own run spent.
func TestAttacksOnDiscreet(t *testing.T) {
	const people = 5
	for _, tc := range []struct {
		name   string
		attack audit.Attack
		asked  int
		each   string
		runs   int
	}{
		{"difference", audit.Difference, 2, "0.5", 50},
		{"one query", audit.Average(1), 1, "1", 80},
		{"average", audit.Average(4), 4, "0.25", 20},
		{"threshold", audit.Probe, audit.ProbeQueries(people), "0.25", 12},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			secret, err := audit.Bits(noise.System(), people*tc.runs)
			if err != nil {
				t.Fatal(err)
			}
			s := newSite(t, secret, "1e4", tc.each)
			var c audit.Counts
			for run := range tc.runs {
				guess, err := tc.attack(t.Context(), s.oracle(run*people), people, 1)
				if err != nil {
					t.Fatal(err)
				}
				member := secret[run*people+1]
				switch {
				case member:
					c.Members++
				default:
					c.Others++
				}
				switch {
				case member && guess:
					c.TruePositives++
				case guess:
					c.FalsePositives++
				}
			}
			total := float64(tc.asked) * epsilon(t, tc.each).Float64()
			checkWithin(t, c.Correct(), c.Runs(), total)
			if e, err := c.EpsilonLowerBound(0, 1-falseReject); err != nil || e > total {
				t.Errorf("%+v prove epsilon %v, %v", c, e, err)
			}
			t.Logf("right in %d of %d, epsilon %v allows %.2f", c.Correct(), c.Runs(), total, audit.SuccessBound(total, 0))
		})
	}
}

// An averaging attack gets as many answers as the domain's budget pays for; a
// reconstruction finds no more bits than it allows.
func TestDiscreetEndsAttacks(t *testing.T) {
	secret, err := audit.Bits(noise.System(), 24)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("average", func(t *testing.T) {
		t.Parallel()
		asked := 0
		o := newSite(t, secret, "1", "0.1").oracle(0)
		_, err := audit.Average(1000)(t.Context(), func(ctx context.Context, q audit.Subset) (float64, error) {
			asked++
			return o(ctx, q)
		}, len(secret), 3)
		if err != nil || asked != 11 {
			t.Errorf("%d queries, %v", asked, err)
		}
	})
	t.Run("reconstruction", func(t *testing.T) {
		t.Parallel()
		r, err := audit.Reconstruct(t.Context(), noise.System(), newSite(t, secret, "1", "0.01").oracle(0), len(secret), audit.ReconstructOptions{})
		if err != nil || r.Answered != 96 {
			t.Fatalf("%+v, %v", r, err)
		}
		checkWithin(t, r.Correct(secret), len(secret), 1)
	})
}
