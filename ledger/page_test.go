package ledger

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
)

// TestPageCostsWhatItReturns: a page has what the whole history has of its selection, the
// newest first, and only its own records are decoded for it.
func TestPageCostsWhatItReturns(t *testing.T) {
	l, _ := create(t, Options{})
	for i := range 60 {
		r := ask("0.001")
		r.Analyst = []string{"ann", "bob", "ann"}[i%3]
		if i == 7 {
			r.Analyst = `c"%<`
		}
		made := must(l.Reserve(ctx, r))
		if i%4 != 0 {
			if err := l.Commit(ctx, made, []byte("7")); err != nil {
				t.Fatal(err)
			}
		}
		if i == 20 { // what comes later is found, too
			must(l.Page(ctx, Selection{Analyst: "ann", Limit: 1}))
		}
	}
	if err := l.Suspend(ctx, "patient", 4, "disk full", now); err != nil {
		t.Fatal(err)
	}
	whole := must(l.History(ctx))
	slices.Reverse(whole)
	for _, s := range []Selection{
		{}, {Limit: 5}, {Limit: 5, Before: 40}, {Analyst: "ann"}, {Analyst: "ann", Limit: 7}, {Analyst: "bob", Before: 50, Limit: 3}, {Analyst: `c"%<`, Limit: 9},
		{Analyst: "nobody"}, {Kinds: []string{"suspend"}, Limit: 1}, {Domain: "visitor"}, {Domain: "patient", Kinds: []string{"reserve"}, Limit: 4},
		{Unanswered: true}, {Unanswered: true, Analyst: "ann", Limit: 2}, {Analyst: "ann", Kinds: []string{}}, {Before: 1},
	} {
		var want []Entry
		for _, e := range whole {
			if e.Kind == "commit" || s.Before > 0 && e.Seq >= s.Before || s.Analyst != "" && e.Analyst != s.Analyst || s.Domain != "" && e.Domain != s.Domain ||
				s.Kinds != nil && !slices.Contains(s.Kinds, e.Kind) || s.Unanswered && (e.Kind != "reserve" || e.Committed) || s.Limit > 0 && len(want) == s.Limit {
				continue
			}
			want = append(want, e)
		}
		before := l.decoded.Load()
		got := must(l.Page(ctx, s))
		if decoded := l.decoded.Load() - before; int(decoded) != len(got) {
			t.Errorf("%+v: %d records are decoded for %d", s, decoded, len(got))
		}
		if fmt.Sprint(seqsOf(got)) != fmt.Sprint(seqsOf(want)) || len(got) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: %v, want %v", s, seqsOf(got), seqsOf(want))
		}
	}
	before := l.decoded.Load()
	if h := must(l.Head(ctx)); h.Charges != 60 || h.Records != int64(len(whole)) || string(h.Hash) != string(whole[0].Hash) || l.decoded.Load() != before {
		t.Errorf("head %+v of %d records", h, len(whole))
	}
}

func seqsOf(list []Entry) (seqs []int64) {
	for _, e := range list {
		seqs = append(seqs, e.Seq)
	}
	return seqs
}
