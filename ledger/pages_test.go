package ledger

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// long makes a ledger of some more records than two statements read, on a few transactions.
func long(t *testing.T, l *Ledger) {
	t.Helper()
	var all sync.WaitGroup
	for i := range 2*together + 40 {
		all.Go(func() {
			r := ask("0.00001")
			r.Analyst = []string{"ann", "bob"}[i%2]
			made, err := l.Reserve(ctx, r)
			if err == nil && i%8 == 0 {
				err = l.Commit(ctx, made, []byte(fmt.Sprint(i)))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// No statement is open while a record is looked at, in a ledger of any length: the one
// connection there is serves whoever looks. All readers see all records, in their order.
func TestLongLedger(t *testing.T) {
	for name, l := range map[string]func(t *testing.T) *Ledger{
		"file":     func(t *testing.T) *Ledger { l, _ := create(t, Options{}); return l },
		"database": func(t *testing.T) *Ledger { l, _, _ := on(t, testServer(t)); return l },
	} {
		t.Run(name, func(t *testing.T) {
			l := l(t)
			long(t, l)
			bounded, stop := context.WithTimeout(ctx, time.Minute)
			defer stop()
			l.db.SetMaxOpenConns(2) // the writer has one
			var seen []int64
			err := l.each(bounded, l.db, "", func(r *record, _ *entry) error {
				var n int
				seen = append(seen, r.seq)
				return l.db.QueryRowContext(bounded, "SELECT 1").Scan(&n)
			})
			head := must(l.Head(bounded))
			if err != nil || int64(len(seen)) != head.Records || !slices.IsSorted(seen) || seen[0] != 1 || seen[len(seen)-1] != head.Records {
				t.Fatalf("%d records of %d are seen, %v", len(seen), head.Records, err)
			}
			whole := must(l.History(bounded))
			if len(whole) != len(seen) || whole[len(whole)-1].Seq != head.Records {
				t.Errorf("the history has %d records of %d", len(whole), len(seen))
			}
			slices.Reverse(whole)
			for _, s := range []Selection{{}, {Analyst: "ann"}, {Limit: together}, {Limit: together + 1}, {Limit: 2*together + 7}, {Kinds: []string{"reserve"}}} {
				var want []int64
				for _, e := range whole {
					if e.Kind != "commit" && (s.Analyst == "" || e.Analyst == s.Analyst) && (s.Kinds == nil || e.Kind == "reserve") && (s.Limit == 0 || len(want) < s.Limit) {
						want = append(want, e.Seq)
					}
				}
				if got := seqsOf(must(l.Page(bounded, s))); !slices.Equal(got, want) {
					t.Errorf("%+v: %d records, want %d", s, len(got), len(want))
				}
			}
			if err := l.Verify(bounded); err != nil {
				t.Error(err)
			}
		})
	}
}

// What was changed in a later page of answers is seen, too.
func TestChangedAnswerFarBehind(t *testing.T) {
	l, _ := create(t, Options{})
	long(t, l)
	var last int64
	if err := l.db.QueryRowContext(ctx, "SELECT max(seq) FROM records WHERE kind = 'commit'").Scan(&last); err != nil {
		t.Fatal(err)
	}
	if _, err := l.db.ExecContext(ctx, "UPDATE records SET answer = ? WHERE seq = ?", []byte("forged"), last); err != nil {
		t.Fatal(err)
	}
	if err := l.Verify(ctx); err == nil {
		t.Error("the last answer of many was changed, and nobody noticed")
	}
}
